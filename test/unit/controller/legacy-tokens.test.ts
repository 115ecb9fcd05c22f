import { beforeEach, describe, expect, test } from '@jest/globals';
import { isTokenNamed, legacyOwnerOf } from '../../../src/controller/kinds/secret-sync/tokens/legacy-tokens.ts';
import type { ServiceToken } from '../../../src/controller/generated/service-token.ts';
import { secretSync } from './builders.ts';
import { prod, syncs } from './controller-harness.ts';
import { TokenHarness, serviceTokensPath } from './token-harness.ts';

/** The ServiceTokens that release 0.1.0 made for SecretSyncs that name no token. */

let harness: TokenHarness;

beforeEach(() => {
  harness = new TokenHarness();
});

/** A ServiceToken ns/<name> as release 0.1.0 made it for ns/app, or for the SecretSync of another uid. */
function putLegacy(name = 'app-token', uid = harness.cluster.get(`${syncs}/app`)?.metadata.uid ?? ''): void {
  harness.putServiceToken(name);
  harness.cluster.put(serviceTokensPath, name, ({ metadata }) => {
    const owner = { apiVersion: 'keyframe.dev/v1alpha1', kind: 'SecretSync', name: 'app', uid, controller: true };
    metadata.ownerReferences = [owner];
  });
}

const isThere = (name = 'app-token'): boolean => {
  const token = harness.cluster.get(`${serviceTokensPath}/${name}`);
  return token !== undefined && token.metadata.deletionTimestamp === undefined;
};
const dayMs = 24 * 3_600_000;
/** Uses the token now, or so many milliseconds ago. */
function useToken(agoMs = 0): void {
  const usedAt = harness.clock.now() - agoMs;
  harness.serviceTokens.unusedMs = () => harness.clock.now() - usedAt;
}
const events = (): string[] => harness.cluster.takeCalls().filter((call) => call.includes('/events'));

async function started(): Promise<void> {
  harness.services.create(prod, 'env', { A: 'alpha' });
  harness.putKeyless();
  putLegacy();
  await harness.start();
}

describe('once its SecretSync has read without it, it', () => {
  test('is deleted', async () => {
    harness.grant();
    await started();
    expect(isThere()).toBe(true);
    await harness.clock.advance(61_000);
    expect([isThere(), harness.ready()?.reason]).toEqual([false, 'Synced']);
  });

  test('stays while its token is in use, which is reported once', async () => {
    harness.grant();
    await started();
    await harness.clock.advance(59_000);
    useToken();
    events();
    await harness.clock.advance(10_000);
    expect([isThere(), events().length]).toEqual([true, 1]);
    await harness.clock.advance(1_800_000);
    expect([isThere(), events()]).toEqual([true, []]);
    useToken(dayMs);
    await harness.clock.advance(600_000);
    expect(isThere()).toBe(false);
  });

  test('stays for a day after a former leader used its token, which is reported only if it is used again', async () => {
    harness.grant();
    useToken();
    await harness.clock.advance(1000);
    await started();
    await harness.clock.advance(59_000);
    events();
    await harness.clock.advance(1_800_000);
    expect([isThere(), events()]).toEqual([true, []]);
    useToken();
    await harness.clock.advance(600_000);
    expect([isThere(), events().length]).toEqual([true, 1]);
  });

  test('is not reported for a use before the Lease was lost', async () => {
    harness.grant();
    await started();
    await harness.clock.advance(30_000);
    useToken();
    harness.lease.isTaken = true;
    await harness.clock.advance(10_000);
    harness.lease.isTaken = false;
    await harness.clock.advance(50_000);
    events();
    await harness.clock.advance(1_200_000);
    expect([isThere(), events()]).toEqual([true, []]);
  });

  test('stays while another SecretSync of the namespace names it', async () => {
    harness.grant();
    harness.putWithToken('other');
    await started();
    await harness.clock.advance(61_000);
    expect(isThere()).toBe(true);
    harness.cluster.remove(`${syncs}/other`);
    await harness.clock.advance(700_000);
    expect(isThere()).toBe(false);
  });
});

describe('a ServiceToken', () => {
  test('stays as long as its SecretSync may not read', async () => {
    await started();
    await harness.clock.advance(700_000);
    expect([isThere(), harness.ready()?.reason]).toEqual([true, 'AccessDenied']);
  });

  test('stays as long as its SecretSync is suspended', async () => {
    harness.grant();
    await started();
    await harness.clock.advance(1000);
    harness.cluster.put(syncs, 'app', (object) => {
      object['spec'] = { ...(object['spec'] as object), suspend: true };
    });
    await harness.clock.advance(700_000);
    expect([isThere(), harness.ready()?.reason]).toEqual([true, 'Suspended']);
  });

  test.each([
    ['was made for another SecretSync', 'app-token', 'uid-other'],
    ['has a name that release 0.1.0 gave none', 'mine', undefined],
  ])('stays if it %s', async (_, name, uid) => {
    harness.grant();
    harness.services.create(prod, 'env', { A: 'alpha' });
    harness.putKeyless();
    putLegacy(name, uid);
    await harness.start();
    await harness.clock.advance(61_000);
    expect([isThere(name), harness.ready()?.reason]).toEqual([true, 'Synced']);
  });

  test('that a person made under the name stays', async () => {
    harness.grant();
    harness.services.create(prod, 'env', { A: 'alpha' });
    harness.putKeyless();
    harness.putServiceToken('app-token');
    await harness.start();
    await harness.clock.advance(61_000);
    expect(isThere()).toBe(true);
  });
});

describe('the name of a ServiceToken', () => {
  test.each([
    ['app-token', 'ns/app'],
    ['app-token-own', 'ns/app'],
    ['app-token-token', 'ns/app-token'],
    ['app-token-own-token-tokens', 'ns/app-token-own'],
    ['a.b-token-x-y', 'ns/a.b'],
    ['ci', undefined],
    ['tokens', undefined],
    ['app-tokens-own', undefined],
  ])('%s has the one possible owner %s', (name, owner) => {
    expect(legacyOwnerOf(`ns/${name}`)).toBe(owner);
  });

  test('or of its Secret in a source keeps it', () => {
    const token = { metadata: { name: 'app-token', namespace: 'ns' }, spec: {} } as unknown as ServiceToken;
    const named = secretSync({ spec: { tokenSecretRef: { name: 'app-token', key: 'token' } } });
    expect([isTokenNamed(token, [named]), isTokenNamed(token, [secretSync()])]).toEqual([true, false]);
  });
});
