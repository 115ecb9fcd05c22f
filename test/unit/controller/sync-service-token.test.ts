import { describe, expect, test } from '@jest/globals';
import type { SecretSync, SecretSyncSpec } from '../../../src/controller/generated/secret-sync.ts';
import type { ServiceToken, ServiceTokenSpec } from '../../../src/controller/generated/service-token.ts';
import { explained, isUnsettled } from '../../../src/controller/kinds/secret-sync/tokens/service-token-refusals.ts';
import {
  specVersionOf,
  specVersionsOf,
  statusVersionOf,
} from '../../../src/controller/kinds/service-token/versions.ts';
import {
  type TokenDecision,
  type TokenFacts,
  judgeToken,
  needlessTokens,
  possibleOwnerOf,
} from '../../../src/controller/kinds/secret-sync/tokens/service-token.ts';
import { sourcesOf } from '../../../src/controller/kinds/secret-sync/spec/source.ts';
import { DomainError } from '../../../src/domain/domain-error.ts';
import type { ObjectMeta, OwnerReference } from '../../../src/kube/objects.ts';
import { AuthenticationRefusal } from '../../../src/services/authentication.ts';
import { secretSync } from './builders.ts';

const owner: OwnerReference = {
  apiVersion: 'keyframe.dev/v1alpha1',
  kind: 'SecretSync',
  name: 'app',
  uid: 'uid-app',
  controller: true,
};
const place = { scope: 'Environment', organization: 'acme', project: 'web', environment: 'prod' } as const;
const target = { name: 'written' };

/** The SecretSync ns/app, which writes the Secret `written`; without a reference to a token unless one is given. */
function syncWith({ tokenRef, tokenSecretRef, ...more }: Partial<SecretSyncSpec> = {}): SecretSync {
  const { spec, ...rest } = secretSync({ target, spec: more });
  const { tokenSecretRef: _, ...bare } = spec;
  const references = {
    ...(tokenRef === undefined ? {} : { tokenRef }),
    ...(tokenSecretRef === undefined ? {} : { tokenSecretRef }),
  };
  return { ...rest, spec: { ...bare, ...references } };
}

interface TokenOptions {
  readonly metadata?: Partial<ObjectMeta>;
  readonly spec?: Partial<ServiceTokenSpec>;
  readonly ready?: {
    readonly status: 'True' | 'False';
    readonly reason: string;
    readonly message?: string;
    readonly observedGeneration?: number;
  };
}

/** The ServiceToken ns/app-token that ns/app owns, unless told otherwise. */
function token({ metadata, spec, ready }: TokenOptions = {}): ServiceToken {
  const condition = { type: 'Ready', message: 'so it is.', lastTransitionTime: '', observedGeneration: 1, ...ready };
  return {
    apiVersion: 'keyframe.dev/v1alpha1',
    kind: 'ServiceToken',
    metadata: {
      name: 'app-token',
      namespace: 'ns',
      uid: 'uid-token',
      resourceVersion: '7',
      generation: 1,
      ownerReferences: [owner],
      ...metadata,
    },
    spec: { ...place, permission: 'Read', suspend: false, ...spec },
    ...(ready === undefined ? {} : { status: { conditions: [{ ...condition, ...ready }] } }),
  };
}

const ci = (options: TokenOptions = {}): ServiceToken =>
  token({ ...options, metadata: { name: 'ci', ownerReferences: [], ...options.metadata } });

/** What is due about the token of the only source. */
function judged(facts: Omit<TokenFacts, 'source'>): TokenDecision {
  const [source] = sourcesOf(facts.sync);
  if (source === undefined) throw new Error('a SecretSync has a source');
  return judgeToken({ ...facts, source });
}

/** The step, and where the token is or why there is none. */
function shown({ step, place: where }: TokenDecision): [string | undefined, string] {
  return [step?.do, where instanceof DomainError ? where.code : `${where.namespace}/${where.name}#${where.key}`];
}

const leaving = { deletionTimestamp: '2026-01-01T00:00:00Z' };
const here = 'ns/app-token#token';

describe('a SecretSync that names no token', () => {
  const elsewhere: Partial<ServiceTokenSpec>[] = [
    { environment: 'staging' },
    { organization: 'other' },
    { project: 'other' },
    { scope: 'Organization' },
    { secretName: 'theirs' },
  ];
  const edited: Partial<ServiceTokenSpec>[] = [
    { permission: 'ReadWrite' },
    { expiresIn: '24h' },
    { suspend: true },
    { rotation: { interval: '24h', overlap: '10m', maxOverlap: '1h' } },
  ];

  test('has a ServiceToken made', () => {
    expect(shown(judged({ sync: syncWith(), named: undefined, beside: undefined }))).toEqual([
      'create',
      'service_token_not_ready',
    ]);
  });

  test('reads with the one that was made for it', () => {
    const decision = judged({ sync: syncWith(), named: undefined, beside: token() });
    expect(shown(decision)).toEqual([undefined, here]);
    expect(decision.place).toMatchObject({ serviceToken: { metadata: { uid: 'uid-token' } } });
  });

  test.each(edited)('has what was edited put right: %j', (spec) => {
    expect(shown(judged({ sync: syncWith(), named: undefined, beside: token({ spec }) }))).toEqual(['correct', here]);
  });

  test.each(elsewhere)('has one that is for something else go first: %j', (spec) => {
    const beside = token({ spec });
    expect(shown(judged({ sync: syncWith(), named: undefined, beside }))).toEqual([
      'delete',
      'service_token_not_ready',
    ]);
    const gone = { ...beside, metadata: { ...beside.metadata, ...leaving } };
    expect(shown(judged({ sync: syncWith(), named: undefined, beside: gone }))).toEqual([
      undefined,
      'service_token_not_ready',
    ]);
  });

  test.each([
    ['nobody', []],
    ['another kind', [{ ...owner, kind: 'ConfigMap' }]],
    ['the same kind of another group', [{ ...owner, apiVersion: 'example.com/v1' }]],
    ['it without being its controller', [{ ...owner, controller: false }]],
    ['another SecretSync', [{ ...owner, name: 'other', uid: 'uid-other' }]],
  ])('leaves a ServiceToken of that name alone that belongs to %s', (_, ownerReferences) => {
    const decision = judged({
      sync: syncWith(),
      named: undefined,
      beside: token({ metadata: { ownerReferences }, spec: { permission: 'ReadWrite' } }),
    });
    expect(shown(decision)).toEqual([undefined, 'service_token_not_owned']);
  });

  test('waits for the one of a SecretSync of its name that is no more', () => {
    const beside = token({ metadata: { ownerReferences: [{ ...owner, uid: 'uid-before' }] } });
    const { step, place: why } = judged({ sync: syncWith(), named: undefined, beside });
    expect(step).toBeUndefined();
    expect(why).toMatchObject({ code: 'service_token_not_ready' });
    expect((why as DomainError).detail).toContain('was made for an earlier SecretSync of this name');
  });
});

describe('a SecretSync that names a token', () => {
  const tokenRef = { name: 'ci' };
  const tokenSecretRef = { name: 'mine', key: 'value' };

  test('in a ServiceToken reads it from the Secret of that one', () => {
    const sync = syncWith({ tokenRef });
    const elsewhere = ci({ spec: { secretName: 'elsewhere' } });
    expect(shown(judged({ sync, named: ci(), beside: undefined }))).toEqual([undefined, 'ns/ci#token']);
    expect(shown(judged({ sync, named: elsewhere, beside: undefined }))).toEqual([undefined, 'ns/elsewhere#token']);
  });

  test('in a ServiceToken waits until that is there, and does not use one that is being deleted', () => {
    const sync = syncWith({ tokenRef });
    const gone = ci({ metadata: leaving });
    expect(shown(judged({ sync, named: undefined, beside: undefined }))).toEqual([
      undefined,
      'service_token_not_found',
    ]);
    expect(shown(judged({ sync, named: gone, beside: undefined }))).toEqual([undefined, 'service_token_not_ready']);
  });

  test('in a ServiceToken that keeps it in the Secret to be written is refused', () => {
    const named = ci({ spec: { secretName: 'written' } });
    expect(shown(judged({ sync: syncWith({ tokenRef }), named, beside: undefined }))).toEqual([
      undefined,
      'invalid_input',
    ]);
  });

  test.each([[{ tokenRef }], [{ tokenSecretRef }]])('has the one go that was made for it: %j', (reference) => {
    const sync = syncWith(reference);
    expect(needlessTokens(sync, [token()])).toEqual([token()]);
    expect(needlessTokens(sync, [token({ metadata: leaving })])).toEqual([]);
    expect(needlessTokens(sync, [token({ metadata: { ownerReferences: [] } })])).toEqual([]);
    expect(shown(judged({ sync, named: ci(), beside: token() }))).toEqual([
      undefined,
      'tokenRef' in reference ? 'ns/ci#token' : 'ns/mine#value',
    ]);
  });

  test('leaves a ServiceToken alone that somebody gave a copy of the owner reference', () => {
    expect(needlessTokens(syncWith({ tokenRef }), [token({ metadata: { name: 'theirs' } })])).toEqual([]);
  });

  test('keeps the one that was made for it where it is that one that it names', () => {
    const sync = syncWith({ tokenRef: { name: 'app-token' } });
    expect(shown(judged({ sync, named: token(), beside: token() }))).toEqual([undefined, here]);
    expect(needlessTokens(sync, [token()])).toEqual([]);
  });
});

describe('what a ServiceToken tells', () => {
  const refused = new DomainError('unauthenticated', 'the token was refused');
  const absent = new DomainError('token_secret_not_found', 'there is no Secret');
  const denied = { status: 'False', reason: 'AccessDenied' } as const;
  const issued = { status: 'True', reason: 'Issued' } as const;

  test('takes the place of the trouble that it explains', () => {
    for (const error of [refused, absent]) {
      expect(explained(error, token({ ready: denied }))).toMatchObject({
        code: 'service_token_denied',
        detail: 'ServiceToken app-token is not ready (AccessDenied): so it is.',
      });
    }
  });

  test.each([
    ['AccessDenied', 'AccessDenied'],
    ['NotFound', 'NotFound'],
    ['Revoked', 'TokenRevoked'],
    ['TargetNotOwned', 'ServiceTokenNotReady'],
    ['constructor', 'ServiceTokenNotReady'],
  ])('with the reason %s is the reason %s of the SecretSync', (reason, own) => {
    const ready = { status: 'False', reason } as const;
    expect(explained(refused, token({ ready })).description).toMatchObject({ reason: own, effect: 'wait' });
  });

  test('is repeated only as far as there is room for it, whoever wrote its status', () => {
    const long = { ...denied, reason: 'R'.repeat(1024), message: 'm'.repeat(32_768) };
    expect(explained(refused, token({ ready: long })).detail.length).toBeLessThan(5000);
  });

  test('explains nothing where it is about a spec that is no more, or where there is no such trouble', () => {
    const stale = explained(absent, token({ metadata: { generation: 2 }, ready: denied }));
    expect(stale.detail).not.toContain('AccessDenied');
    const other = new DomainError('not_found', 'the environment does not exist');
    expect(explained(other, token({ ready: denied }))).toBe(other);
  });

  test('is waited for where it says that all is well, and where a token is not active yet', () => {
    expect(explained(refused, token({ ready: issued }))).toBe(refused);
    expect(isUnsettled(refused, token({ ready: issued }))).toBe(true);
    expect(isUnsettled(refused, undefined)).toBe(false);
    const pending = new DomainError('unauthenticated', 'refused', { cause: new AuthenticationRefusal('pending', 'p') });
    expect(isUnsettled(pending, undefined)).toBe(true);
    const revoked = new DomainError('unauthenticated', 'refused', { cause: new AuthenticationRefusal('revoked', 'r') });
    expect(isUnsettled(revoked, undefined)).toBe(false);
  });
});

describe('a change of a ServiceToken', () => {
  const before = token({ ready: { status: 'True', reason: 'Issued' } });

  test.each([
    ['its end', undefined],
    ['another one of its name', token({ metadata: { uid: 'other' } })],
    ['another spec', token({ metadata: { generation: 2 } })],
    ['its deletion', token({ metadata: leaving })],
    ['another owner', token({ metadata: { ownerReferences: [] } })],
  ])('is another version of what it asks for if it is %s', (_, now) => {
    expect(specVersionOf(now)).not.toBe(specVersionOf(before));
    expect(specVersionsOf(now === undefined ? [] : [now])).not.toBe(specVersionsOf([before]));
  });

  test('is another version of the status alone if it is the status alone', () => {
    const now = token({ ready: { status: 'False', reason: 'AccessDenied' } });
    expect(specVersionOf(now)).toBe(specVersionOf(before));
    expect(statusVersionOf(now)).not.toBe(statusVersionOf(before));
    expect(statusVersionOf(undefined)).not.toBe(statusVersionOf(before));
  });

  test('concerns the SecretSync whose name it has', () => {
    expect([possibleOwnerOf('ns/app-token'), possibleOwnerOf('ns/ci')]).toEqual(['ns/app', undefined]);
  });
});
