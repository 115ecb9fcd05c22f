import { describe, expect, test } from '@jest/globals';
import { judge } from '../../../src/controller/kinds/secret-sync/judge/judge.ts';
import { secretSync } from './builders.ts';
import { claim } from './claims.ts';
import {
  facts,
  lossy,
  lost,
  lostDigest,
  merging,
  owned,
  pinned,
  precondition,
  prod,
  unreadable,
  wanted,
} from './judge-facts.ts';
import type { Decision, Facts } from '../../../src/controller/kinds/secret-sync/model.ts';

const decided: readonly [sentence: string, facts: Facts, decision: Decision][] = [
  ['a Secret that holds what the environment holds is kept', facts({}), { action: 'keep' }],
  ['a Secret that is not there is created', facts({ target: { state: 'absent' } }), { action: 'create' }],
  [
    'a Secret with other data is replaced, at the version that was seen',
    facts({ target: { ...owned, fingerprint: Buffer.from('other') } }),
    { action: 'replace', precondition },
  ],
  [
    'a Secret whose metadata lacks something is replaced',
    facts({ target: { ...owned, metadataFits: false } }),
    { action: 'replace', precondition },
  ],
  [
    'a Secret of another type is recreated, although its data is correct',
    facts({ sync: secretSync({ target: { type: 'kubernetes.io/tls' } }) }),
    { action: 'recreate', precondition },
  ],
  [
    'a Secret that a user made immutable is recreated, although its data is correct',
    facts({ target: { ...owned, isImmutable: true } }),
    { action: 'recreate', precondition },
  ],
  [
    'a Secret without a record of its data gets one',
    facts({ target: { ...owned, record: {} } }),
    { action: 'replace', precondition },
  ],
  [
    'a Secret of another environment than the spec names now is replaced, whatever keys it loses',
    facts({ target: lossy({ record: { 'keyframe.dev/source': 'acme/web/old@x' } }) }),
    { action: 'replace', precondition },
  ],
  [
    'a Secret whose pin is set is replaced, whatever keys it loses',
    facts({ sync: secretSync({ spec: { revision: 7 } }), target: lossy() }),
    { action: 'replace', precondition },
  ],
  [
    'a Secret whose pin is moved is replaced, whatever keys it loses',
    facts({ sync: secretSync({ spec: { revision: 7 } }), target: lossy({ record: pinned('revision/8') }) }),
    { action: 'replace', precondition },
  ],
  [
    'a Secret whose pin is taken away is replaced, whatever keys it loses',
    facts({ target: lossy({ record: pinned('snapshot/good') }) }),
    { action: 'replace', precondition },
  ],
  [
    'an offered Secret is taken over, whatever keys it loses and whatever it says of its source',
    facts({ target: lossy({ state: 'adopted', record: { 'keyframe.dev/source': 'acme/web/prod@x' } }) }),
    { action: 'replace', precondition },
  ],
  [
    'an offered Secret of another type is recreated',
    facts({ target: { ...owned, state: 'adopted', type: 'kubernetes.io/tls' } }),
    { action: 'recreate', precondition },
  ],
  [
    'keys may vanish up to the limit',
    facts({ sync: secretSync({ spec: { maxDeletedKeys: 3 } }), target: lossy() }),
    { action: 'replace', precondition },
  ],
  [
    'more keys may vanish where the annotation names just them',
    facts({ sync: lost(lostDigest), target: lossy() }),
    { action: 'replace', precondition },
  ],
  [
    'an environment without secrets empties the Secret: it was read, and it is empty',
    facts({
      wanted: { ...wanted, sources: [{ ...prod, keys: [] }], names: [], bytes: 0, fingerprint: Buffer.from('empty') },
    }),
    { action: 'replace', precondition },
  ],
  [
    'a Secret of others that holds our keys as they are wanted is kept, of whatever type',
    facts({ sync: merging, target: { ...owned, state: 'shared', type: 'kubernetes.io/tls' } }),
    { action: 'keep' },
  ],
  [
    'a Secret of others is applied to where our keys differ, of whatever type',
    facts({
      sync: merging,
      target: { ...owned, state: 'shared', type: 'kubernetes.io/tls', fingerprint: Buffer.from('other') },
    }),
    { action: 'apply', precondition },
  ],
  [
    'a shared Secret without a record of the keys is applied to',
    facts({ sync: merging, target: { ...owned, state: 'shared', record: {} } }),
    { action: 'apply', precondition },
  ],
  [
    'values of one mebibyte fit into a Secret',
    facts({ wanted: { ...wanted, bytes: 1024 * 1024 } }),
    { action: 'keep' },
  ],
];

describe('the decision', () => {
  test.each(decided)('%s', (_, given, decision) => expect(judge(given)).toEqual(decision));
});

const unmanaged = { state: 'unmanaged' } as const;
const holder = claim();
const refused: readonly [sentence: string, facts: Facts, code: string, words: string][] = [
  [
    'a Secret of an unknown owner is left alone',
    facts({ target: { ...unmanaged, owner: undefined }, wanted: undefined }),
    'target_not_owned',
    'spec.target.name',
  ],
  [
    'a Secret of a SecretSync that is gone is left alone, and that one is named',
    facts({ target: { ...unmanaged, owner: { kind: 'SecretSync', name: 'other' } }, wanted: undefined }),
    'target_not_owned',
    'the SecretSync other, which no longer writes it. ',
  ],
  [
    'a Secret that another SecretSync holds is left alone',
    facts({ target: { state: 'claimed', holder, isPresent: true }, wanted: undefined }),
    'target_claimed',
    'belongs to the SecretSync other: ',
  ],
  [
    'a missing Secret that another SecretSync creates is not created, even if the environment was read',
    facts({ target: { state: 'claimed', holder, isPresent: false } }),
    'target_claimed',
    'belongs to the SecretSync other: ',
  ],
  [
    "a ServiceToken's own Secret is left alone, and cannot be handed over",
    facts({ target: { ...unmanaged, owner: { kind: 'ServiceToken', name: undefined } }, wanted: undefined }),
    'target_not_owned',
    'belongs to a ServiceToken',
  ],
  [
    'an unmanaged Secret is left alone even where the environment was read',
    facts({ target: { ...unmanaged, owner: undefined } }),
    'target_not_owned',
    'Secret app',
  ],
  [
    'an environment that could not be read leaves the Secret as it is',
    facts({ wanted: unreadable }),
    'not_found',
    'environment acme/web/prod does not exist',
  ],
  [
    'an environment that could not be read makes no Secret either',
    facts({ wanted: unreadable, target: { state: 'absent' } }),
    'not_found',
    'environment acme/web/prod does not exist',
  ],
  [
    'an environment that was not read leaves the Secret as it is',
    facts({ wanted: undefined }),
    'internal',
    'was not read',
  ],
  [
    'values that no Secret can hold are not sent',
    facts({ wanted: { ...wanted, bytes: 1024 * 1024 + 1 } }),
    'target_too_large',
    "The environment's values have 1048577 bytes",
  ],
  [
    'values that do not fit the type are not sent',
    facts({ wanted: { ...wanted, unmetNeed: 'Type kubernetes.io/tls needs the keys tls.crt and tls.key.' } }),
    'target_type_unmet',
    'Type kubernetes.io/tls needs the keys tls.crt and tls.key. ',
  ],
  [
    'another environment behind the same slugs writes nothing',
    facts({ target: { ...owned, record: { 'keyframe.dev/source': 'acme/web/prod@first' } } }),
    'source_replaced',
    'of the environment first, but acme/web/prod is now another environment (e)',
  ],
  [
    'another environment behind the same slugs shows how to consent',
    facts({ target: { ...owned, record: { 'keyframe.dev/source': 'acme/web/prod@first' } } }),
    'source_replaced',
    'kubectl annotate secret -n ns app keyframe.dev/source-',
  ],
  [
    'a source that was written by hand is not repeated',
    facts({ target: { ...owned, record: { 'keyframe.dev/source': 'acme/web/prod@a b' } } }),
    'source_replaced',
    'of the environment, but',
  ],
  [
    'more keys than the limit do not vanish',
    facts({ target: lossy() }),
    'deletion_blocked',
    `3 of the 5 keys of Secret app at once (X, Y, Z), more than spec.maxDeletedKeys (50%) allows. Nothing is written. Restore the keys; or, to allow exactly this loss, run \`kubectl annotate --overwrite secretsyncs.keyframe.dev -n ns app keyframe.dev/allow-deletion=${lostDigest}\`.`,
  ],
  [
    'more keys than the limit do not vanish from a Secret without a record of its source',
    facts({ target: lossy({ record: {} }) }),
    'deletion_blocked',
    lostDigest,
  ],
  ...['revision/8x', 'revision/0', 'snapshot/', 'snapshot/Bad', 'what', ''].map((pin): (typeof refused)[number] => [
    `more keys than the limit do not vanish from a Secret whose record has the spoilt pin "${pin}"`,
    facts({ target: lossy({ record: pinned(pin) }) }),
    'deletion_blocked',
    lostDigest,
  ]),
  [
    'more keys than the limit do not vanish where the pin is the same and what it stands for is less',
    facts({
      sync: secretSync({ spec: { snapshotRef: { name: 'good' } } }),
      target: lossy({ record: pinned('snapshot/good') }),
    }),
    'deletion_blocked',
    'pinned to lacks 3 of its 5 keys (X, Y, Z), more than spec.maxDeletedKeys (50%) allows',
  ],
  [
    'another environment behind the same slugs writes nothing, though the pin was moved',
    facts({
      sync: secretSync({ spec: { revision: 7 } }),
      target: { ...owned, record: { 'keyframe.dev/source': 'acme/web/prod@first#revision/8' } },
    }),
    'source_replaced',
    'of the environment first, but acme/web/prod is now another environment (e)',
  ],
  [
    'the consent to the loss of some keys is none to the loss of others',
    facts({ sync: lost(lostDigest), target: lossy({ keys: ['A', 'B', 'W', 'X', 'Y', 'Z'] }) }),
    'deletion_blocked',
    '4 of the 6 keys',
  ],
  [
    'a Secret of another type does not lose its keys either',
    facts({ target: lossy({ type: 'kubernetes.io/tls' }) }),
    'deletion_blocked',
    '3 of the 5 keys',
  ],
  [
    'a Secret of others that may not be merged into is left alone even where the environment was read',
    facts({ sync: merging, target: { state: 'mergeForbidden', obstacle: { kind: 'no-consent', allowed: [] } } }),
    'target_not_owned',
    'does not allow this SecretSync to merge into it',
  ],
  [
    'more of our keys than the limit do not vanish from a Secret of others',
    facts({ sync: merging, target: lossy({ state: 'shared' }) }),
    'deletion_blocked',
    '3 of the 5 keys',
  ],
  [
    'another environment behind the same slugs writes nothing into a Secret of others',
    facts({
      sync: merging,
      target: { ...owned, state: 'shared', record: { 'keyframe.dev/source': 'acme/web/prod@first' } },
    }),
    'source_replaced',
    'kubectl annotate secret -n ns app merge.keyframe.dev/app-',
  ],
  [
    'a Secret that is being deleted is waited for',
    facts({ target: { ...owned, isDeleting: true, fingerprint: Buffer.from('other') } }),
    'conflict',
    'Secret app is being deleted',
  ],
];

describe('the refusal', () => {
  test.each(refused)('%s', (_, given, code, words) => {
    const decision = judge(given);
    if (decision.action !== 'skip') throw new Error(`expected to skip, not to ${decision.action}`);
    expect(decision.error.code).toBe(code);
    expect(decision.error.detail).toContain(words);
  });
});
