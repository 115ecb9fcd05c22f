import { describe, expect, test } from '@jest/globals';
import { type Decision, type Facts, type OwnedTargetFacts, judge } from '../../../src/controller/secret-sync/judge.ts';
import { DomainError } from '../../../src/domain/domain-error.ts';

const source = {
  environmentId: 'e',
  revision: 7,
  revisionId: 'r7',
  count: 2,
  bytes: 10,
  fingerprint: Buffer.from('wanted'),
};
const owned: OwnedTargetFacts = {
  state: 'owned',
  uid: 'u',
  resourceVersion: '5',
  type: 'Opaque',
  isImmutable: false,
  isDeleting: false,
  metadataFits: true,
  fingerprint: Buffer.from('wanted'),
};
const precondition = { uid: 'u', resourceVersion: '5' };
const unreadable = new DomainError('not_found', 'environment acme/web/prod does not exist');

function facts(more: Partial<Facts>): Facts {
  return { name: 'app', type: 'Opaque', target: owned, source, ...more };
}

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
    'a Secret of another type is made anew, though its data is right',
    facts({ type: 'kubernetes.io/tls' }),
    { action: 'recreate', precondition },
  ],
  [
    'a Secret that someone made immutable is made anew, though its data is right',
    facts({ target: { ...owned, isImmutable: true } }),
    { action: 'recreate', precondition },
  ],
  [
    'an environment without secrets empties the Secret: it was read, and it is empty',
    facts({ source: { ...source, count: 0, bytes: 0, fingerprint: Buffer.from('empty') } }),
    { action: 'replace', precondition },
  ],
  [
    'values of one mebibyte fit into a Secret',
    facts({ source: { ...source, bytes: 1024 * 1024 } }),
    { action: 'keep' },
  ],
];

describe('the decision', () => {
  test.each(decided)('%s', (_, given, decision) => expect(judge(given)).toEqual(decision));
});

const refused: readonly [sentence: string, facts: Facts, code: string, detail: string][] = [
  [
    'a Secret of nobody known is left alone',
    facts({ target: { state: 'foreign', owner: undefined }, source: undefined }),
    'target_not_owned',
    'Secret app exists and was not made by this SecretSync; it is left untouched. Delete it, or make a SecretSync with another spec.target.name.',
  ],
  [
    'a Secret of another SecretSync is left alone, and the other one is named',
    facts({ target: { state: 'foreign', owner: 'other' }, source: undefined }),
    'target_not_owned',
    'Secret app exists and belongs to the SecretSync other; it is left untouched. Delete it, or make a SecretSync with another spec.target.name.',
  ],
  [
    'a foreign Secret is left alone even where the environment was read',
    facts({ target: { state: 'foreign', owner: undefined } }),
    'target_not_owned',
    'left untouched',
  ],
  [
    'an environment that could not be read leaves the Secret as it is',
    facts({ source: unreadable }),
    'not_found',
    'environment acme/web/prod does not exist',
  ],
  [
    'an environment that could not be read makes no Secret either',
    facts({ source: unreadable, target: { state: 'absent' } }),
    'not_found',
    'environment acme/web/prod does not exist',
  ],
  [
    'an environment that was not read leaves the Secret as it is',
    facts({ source: undefined }),
    'internal',
    'was not read',
  ],
  [
    'values that no Secret can hold are not sent',
    facts({ source: { ...source, bytes: 1024 * 1024 + 1 } }),
    'target_refused',
    "The environment's values come to 1048577 bytes; a Kubernetes Secret holds 1048576 at most.",
  ],
  [
    'a Secret that is being deleted is waited for',
    facts({ target: { ...owned, isDeleting: true, fingerprint: Buffer.from('other') } }),
    'conflict',
    'Secret app is being deleted and waits for its finalizers',
  ],
];

describe('the refusal', () => {
  test.each(refused)('%s', (_, given, code, detail) => {
    const decision = judge(given);
    if (decision.action !== 'refrain') throw new Error(`expected to refrain, not to ${decision.action}`);
    expect(decision.error.code).toBe(code);
    expect(decision.error.detail).toContain(detail);
  });
});
