import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { finalizer } from '../../../src/controller/annotations.ts';
import { syncs, prod, secrets } from './controller-harness.ts';
import { serviceTokensPath, TokenHarness } from './token-harness.ts';
import { secretSync } from './builders.ts';

/** A ServiceToken whose token JWTs of ServiceAccounts prove, from its creation to its end. */

const path = `${serviceTokensPath}/ci`;
const audience = 'keyframe/instance/clusters/test/ns/ci';
let harness: TokenHarness;

interface Status {
  readonly audience?: string;
  readonly secretName?: string;
  readonly serial?: number;
  readonly expiresAt?: string;
  readonly conditions?: readonly { readonly type: string; readonly reason: string; readonly message: string }[];
}

beforeEach(async () => {
  harness = new TokenHarness();
  harness.services.create(prod, 'env', { A: 'alpha' });
  await harness.start();
});

afterEach(() => harness.controller.stop());

async function passed(): Promise<void> {
  await harness.clock.advance(1000);
}

const uid = (): string => harness.cluster.get(path)?.metadata.uid ?? '';
const status = (): Status => harness.cluster.get(path)?.['status'] ?? {};

function condition(name: string, type = 'Ready'): { readonly reason: string; readonly message: string } | undefined {
  const { conditions = [] } = (harness.cluster.get(name)?.['status'] ?? {}) as Status;
  return conditions.find((each) => each.type === type);
}

const reason = (): string | undefined => condition(path)?.reason;

/** The serials that JWTs prove. */
function proven(of = uid()): number[] {
  const { credentials = [] } = harness.serviceTokens.find(of) ?? {};
  return credentials
    .filter((each) => each.state === 'active' && each.revokedAt === null && each.audience === audience)
    .map(({ serial }) => serial);
}

function put(fields: object = {}): void {
  harness.putServiceToken('ci');
  harness.cluster.put(serviceTokensPath, 'ci', (object) => {
    object['spec'] = { ...(object['spec'] as object), serviceAccountNames: ['ci', 'web'], ...fields };
  });
}

/** Makes the ServiceToken under a grant. */
async function federated(fields: object = {}): Promise<void> {
  harness.grant();
  put(fields);
  await passed();
  expect([reason(), proven()]).toEqual(['Issued', [1]]);
}

describe('a ServiceToken with serviceAccountNames', () => {
  test('has a token that these accounts prove, and no Secret', async () => {
    await federated();
    expect(harness.serviceTokens.provenBy.get(audience)).toEqual(['ci', 'web']);
    expect(harness.target('ci')).toBeUndefined();
    expect(harness.writes).toEqual([]);
    expect(status()).toMatchObject({ audience, tokenId: 'token-1' });
    expect([status().secretName, status().serial]).toEqual([undefined, undefined]);
    expect(condition(path)?.message).toBe(
      'JWTs of the ServiceAccounts ci, web with the audience in status.audience prove the token.',
    );
    expect(harness.cluster.get(path)?.metadata.finalizers).toEqual([finalizer]);
  });

  test('without a grant makes nothing', async () => {
    put();
    await passed();
    expect([reason(), harness.serviceTokens.find(uid())]).toEqual(['AccessDenied', undefined]);
  });

  test('waits for the issuer of the cluster, and notices it without a resync', async () => {
    harness.serviceTokens.isIssuerKnown = false;
    harness.grant();
    put();
    await passed();
    expect([reason(), harness.serviceTokens.find(uid())]).toEqual(['IssuerUnknown', undefined]);
    harness.serviceTokens.isIssuerKnown = true;
    harness.services.notify({ kind: 'cluster', cluster: 'test', state: 'enabled', isHome: true });
    await passed();
    expect([reason(), proven()]).toEqual(['Issued', [1]]);
  });

  test('whose grant is withdrawn is suspended, and goes on when it returns', async () => {
    await federated();
    harness.withdraw();
    await passed();
    expect([reason(), harness.serviceTokens.worksFor(uid())]).toEqual(['AccessDenied', false]);
    harness.grant();
    await passed();
    expect([reason(), harness.serviceTokens.worksFor(uid()), proven()]).toEqual(['Issued', true, [1]]);
  });

  test('that is deleted is revoked before it goes', async () => {
    await federated();
    const gone = uid();
    harness.cluster.collect(path);
    await passed();
    expect([harness.cluster.get(path), harness.serviceTokens.worksFor(gone)]).toEqual([undefined, false]);
  });

  test('that is created again has the audience instead of the former one', async () => {
    await federated();
    const gone = uid();
    harness.cluster.remove(path);
    await passed();
    put();
    await passed();
    expect(uid()).not.toBe(gone);
    expect([reason(), proven(), proven(gone)]).toEqual(['Issued', [1], []]);
  });

  test('whose token a person revoked says so', async () => {
    await federated();
    harness.serviceTokens.revoke(uid());
    await passed();
    expect([reason(), status().audience]).toEqual(['Revoked', undefined]);
  });

  test('has the next serial after a recovery of the database', async () => {
    await federated();
    harness.serviceTokens.recover(uid());
    await passed();
    expect([reason(), proven()]).toEqual(['Issued', [2]]);
  });

  test('gives up a value and its Secret, which a controller of an older release made', async () => {
    harness.grant();
    harness.putServiceToken('ci');
    await passed();
    expect(harness.target('ci')).toBeDefined();
    put();
    await passed();
    expect([reason(), proven()]).toEqual(['Issued', [2]]);
    expect(harness.serviceTokens.find(uid())?.credentials[0]?.revokedAt).not.toBeNull();
    expect(harness.target('ci')).toBeUndefined();
    expect(status()).toMatchObject({ audience });
  });

  test('leaves a Secret of its name that belongs to another client as it is', async () => {
    harness.edit((secret) => void (secret['data'] = { token: 'dGhlaXJz' }), 'ci');
    await federated();
    expect(harness.values('ci')).toEqual({ token: 'theirs' });
  });

  test('claims no Secret, so that a ServiceToken with a value may have one of its name', async () => {
    await federated();
    harness.putServiceToken('other');
    harness.cluster.put(serviceTokensPath, 'other', (object) => {
      object['spec'] = { ...(object['spec'] as object), secretName: 'ci' };
    });
    await passed();
    expect(condition(`${serviceTokensPath}/other`)?.reason).toBe('Issued');
    expect(harness.cluster.get(`${secrets}/ci`)).toBeDefined();
    await passed();
    expect([reason(), harness.values('ci')?.['token']]).toEqual(['Issued', expect.stringMatching(/^kf_svc_/)]);
  });

  test('that expires says so, with what to do', async () => {
    await federated({ expiresIn: '4m' });
    await harness.clock.advance(3.1 * 60_000);
    expect(condition(path, 'Expiring')).toMatchObject({ reason: 'EndsSoon' });
    expect(condition(path, 'Expiring')?.message).toContain('Increase spec.expiresIn, or remove it.');
    await harness.clock.advance(60_000);
    expect(condition(path)).toMatchObject({ reason: 'Expired' });
    expect(condition(path)?.message).toContain('delete the ServiceToken and create it again');
  });
});

test('a SecretSync that names a ServiceToken without a value says what to do instead', async () => {
  await federated();
  const { metadata, spec } = secretSync({});
  const { tokenSecretRef: _, ...bare } = spec;
  harness.cluster.put(syncs, metadata.name, (object) => {
    object['spec'] = { ...bare, tokenRef: { name: 'ci' } };
  });
  await passed();
  expect(condition(`${syncs}/${metadata.name}`)).toMatchObject({
    reason: 'InvalidSpec',
    message: expect.stringContaining('Remove spec.tokenRef to read with the keyless service token') as unknown,
  });
});
