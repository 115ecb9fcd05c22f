import { describe, expect, test } from '@jest/globals';
import type { SecretSync, SecretSyncSpec } from '../../../src/controller/generated/secret-sync.ts';
import type { ServiceToken, ServiceTokenSpec } from '../../../src/controller/generated/service-token.ts';
import { explained, isUnsettled } from '../../../src/controller/kinds/secret-sync/tokens/token-errors.ts';
import { specVersionOf, statusVersionOf } from '../../../src/controller/kinds/service-token/versions.ts';
import { judgeToken } from '../../../src/controller/kinds/secret-sync/tokens/token-place.ts';
import { sourcesOf } from '../../../src/controller/kinds/secret-sync/spec/source.ts';
import { DomainError } from '../../../src/domain/errors/domain-error.ts';
import type { ObjectMeta, OwnerReference } from '../../../src/kube/client/objects.ts';
import { secretSync } from './builders.ts';

const owner: OwnerReference = {
  apiVersion: 'keyframe.dev/v1alpha1',
  kind: 'SecretSync',
  name: 'app',
  uid: 'uid-app',
  controller: true,
};
const environmentRef = { organization: 'acme', project: 'web', name: 'prod' };
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

/** The ServiceToken ns/app-token that ns/app owns, by default. */
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
    spec: { scope: 'Environment', environmentRef, permission: 'Read', suspend: false, ...spec },
    ...(ready === undefined ? {} : { status: { conditions: [{ ...condition, ...ready }] } }),
  };
}

const ci = (options: TokenOptions = {}): ServiceToken =>
  token({ ...options, metadata: { name: 'ci', ownerReferences: [], ...options.metadata } });

/** What the only source of a SecretSync reads with, or the code of why it cannot. */
function judged(sync: SecretSync, named: ServiceToken | undefined): string {
  const [source] = sourcesOf(sync);
  if (source === undefined) throw new Error('a SecretSync has a source');
  const found = judgeToken(sync, source, named);
  if (found === 'keyless') return found;
  return found instanceof DomainError ? found.code : `${found.namespace}/${found.name}#${found.key}`;
}

const leaving = { deletionTimestamp: '2026-01-01T00:00:00Z' };

test('a source that names no token is keyless', () => {
  expect(judged(syncWith(), undefined)).toBe('keyless');
});

describe('a SecretSync that names a token', () => {
  const tokenRef = { name: 'ci' };
  const tokenSecretRef = { name: 'mine', key: 'value' };

  test('in a ServiceToken reads it from the Secret of that one', () => {
    const sync = syncWith({ tokenRef });
    expect(judged(sync, ci())).toBe('ns/ci#token');
    expect(judged(sync, ci({ spec: { secretName: 'elsewhere' } }))).toBe('ns/elsewhere#token');
  });

  test('in a Secret reads it there', () => {
    expect(judged(syncWith({ tokenSecretRef }), undefined)).toBe('ns/mine#value');
  });

  test('in a Secret without naming a key reads the key token', () => {
    expect(judged(syncWith({ tokenSecretRef: { name: 'mine' } }), undefined)).toBe('ns/mine#token');
    const sources = [{ name: 'one', environmentRef, tokenSecretRef: { name: 'mine' } }];
    const { spec, ...rest } = syncWith({ sources });
    const { environmentRef: _, ...ofSources } = spec;
    expect(judged({ ...rest, spec: ofSources }, undefined)).toBe('ns/mine#token');
  });

  test('in a ServiceToken waits until that is there, and does not use one that is being deleted', () => {
    const sync = syncWith({ tokenRef });
    expect(judged(sync, undefined)).toBe('service_token_not_found');
    expect(judged(sync, ci({ metadata: leaving }))).toBe('service_token_not_ready');
  });

  test('in a ServiceToken that keeps it in the Secret to be written is refused', () => {
    expect(judged(syncWith({ tokenRef }), ci({ spec: { secretName: 'written' } }))).toBe('invalid_input');
  });
});

describe('what a ServiceToken reports', () => {
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

  test('is repeated only as far as there is room for it, whichever client wrote its status', () => {
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
    expect(isUnsettled(refused, undefined, 'pending')).toBe(true);
    expect(isUnsettled(refused, undefined, 'revoked')).toBe(false);
  });
});

describe('a change of a ServiceToken', () => {
  const before = token({ ready: { status: 'True', reason: 'Issued' } });

  test.each([
    ['its end', undefined],
    ['another one of its name', token({ metadata: { uid: 'other' } })],
    ['another spec', token({ metadata: { generation: 2 } })],
    ['its deletion', token({ metadata: leaving })],
  ])('is another version of what it asks for if it is %s', (_, now) => {
    expect(specVersionOf(now)).not.toBe(specVersionOf(before));
  });

  test('is another version of the status alone if it is the status alone', () => {
    const now = token({ ready: { status: 'False', reason: 'AccessDenied' } });
    expect(specVersionOf(now)).toBe(specVersionOf(before));
    expect(statusVersionOf(now)).not.toBe(statusVersionOf(before));
    expect(statusVersionOf(undefined)).not.toBe(statusVersionOf(before));
  });
});
