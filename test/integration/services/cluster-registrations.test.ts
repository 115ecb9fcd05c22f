import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { audienceOf } from '../../../src/domain/audience.ts';
import type { ChangeEvent } from '../../../src/domain/changes.ts';
import { ClusterCalls, clusterRule } from '../../support/api/cluster-calls.ts';
import { RegistrationCalls } from '../../support/api/registration-calls.ts';
import type { SecretCalls } from '../../support/api/secret-calls.ts';
import { createUser, type TestServices, type World } from '../../support/api/services.ts';
import { codeOf, TestSyncReader } from '../../support/api/sync-reader.ts';
import { TokenResource } from '../../support/api/token-resource.ts';
import { withWorlds } from '../../support/api/with-services.ts';
import { JwtSigner, timesFor } from '../../support/oidc/jwt-signer.ts';
import { waitFor } from '../../support/fixtures/wait-for.ts';

const program = { release: '1.2.3', protocol: { min: 1, max: 1 }, kinds: ['SecretSync'] };
let services: TestServices;
let world: World;
let calls: SecretCalls;
let clusters: ClusterCalls;
let registrations: RegistrationCalls;
let name: string;

withWorlds((given) => ({ services, world, calls } = given));

beforeEach(() => {
  clusters = new ClusterCalls(services, world);
  registrations = new RegistrationCalls(services);
  name = `fra-${randomUUID()}`;
});

async function hello(uid: string, isLeading = true): ReturnType<TestServices['clusters']['hello']> {
  return await services.clusters.hello(name, { uid, isLeading, ...program });
}

async function forbidImpersonation(forbidden: boolean): Promise<void> {
  const access = await world.onOrganization(world.owner.caller, 'organization.set_impersonation');
  await services.organizations.setImpersonation(access, forbidden);
}

async function auditOf(organizationId: string | null): Promise<unknown[]> {
  const { rows } = await services.database.pool.query<{ action: string; target: object; outcome: string }>(
    `SELECT action, target, outcome FROM audit_entry
     WHERE organization_id IS NOT DISTINCT FROM $1 AND target->>'cluster' = $2 ORDER BY id`,
    [organizationId, name],
  );
  return rows.map(({ action, target, outcome }) => ({ action, outcome, ...target }));
}

describe('a registered cluster', () => {
  test('is a remote one, whose controller its ServiceAccount token proves', async () => {
    const { isHome, registration, issuer } = await registrations.set(name, { expectedVersion: 0 });
    expect({ isHome, issuer }).toEqual({ isHome: false, issuer: { iss: registrations.iss, keyCount: 1 } });
    expect(registration).toEqual({
      subject: registrations.subject,
      uid: null,
      version: 1,
      generation: 1,
      jwksUrl: null,
      fetchedAt: null,
      algorithms: ['ES256'],
      instance: expect.stringMatching(/^[a-z2-7]{26}$/),
    });
    const aud = audienceOf(registration?.instance ?? '', { type: 'cluster', cluster: name });
    const { iss, subject: sub } = registrations;
    const jwt = registrations.signer.sign({ iss, sub, aud: [aud], ...timesFor(3_600) });
    await expect(services.clusterAuthentication.authenticate(jwt, name)).resolves.toMatchObject({ isHome: false });
  });

  test('is audited as created, and then as updated with the fields that changed', async () => {
    await registrations.set(name);
    await registrations.set(name);
    await registrations.set(name, { subject: 'system:serviceaccount:other:agent', uid: 'one' });
    const created = ['preset', 'iss', 'keys', 'algorithms', 'maxAgeSeconds', 'subject'];
    const { subject } = registrations;
    expect(await auditOf(null)).toEqual([
      {
        action: 'cluster.create',
        outcome: 'success',
        cluster: name,
        subject,
        uid: null,
        generation: 1,
        version: 1,
        changed: created,
      },
      {
        action: 'cluster.update',
        outcome: 'success',
        cluster: name,
        subject,
        uid: null,
        generation: 1,
        version: 1,
        changed: [],
      },
      {
        action: 'cluster.update',
        outcome: 'success',
        cluster: name,
        subject: 'system:serviceaccount:other:agent',
        uid: 'one',
        generation: 1,
        version: 2,
        changed: ['subject', 'uid'],
      },
    ]);
  });

  test('is changed at the version that was read, or not at all', async () => {
    await registrations.set(name);
    expect(await registrations.set(name, { expectedVersion: 0 }).catch(codeOf)).toBe('version_mismatch');
    expect((await registrations.set(name, { expectedVersion: 1, uid: 'one' })).registration?.version).toBe(2);
    expect(await registrations.set(`${name}-2`, { expectedVersion: 1 }).catch(codeOf)).toBe('version_mismatch');
  });

  test.each([
    ['a name', { name: '../x' }],
    ['a subject', { subject: 'system:serviceaccount:keyframe' }],
    ['a subject of another kind', { subject: 'system:node:one' }],
    ['a uid', { uid: 'a b' }],
    ['both a URL and keys', { jwksUrl: 'https://keys.example', keys: [] }],
    ['a URL at a public address', { jwksUrl: 'https://10.0.0.1/openid/v1/jwks' }],
    ['an algorithm', { algorithms: [] }],
  ])('needs %s of the right form', async (_, { name: given = name, ...input }: { name?: string } & object) => {
    expect(await registrations.set(given, input).catch(codeOf)).toBe('invalid_input');
  });

  test('is registered by instance admins only', async () => {
    expect(await services.access.instance(world.admin.caller, 'cluster.update').catch(codeOf)).toBe('forbidden');
    const token = await world.serviceToken();
    expect(await services.access.instance(token.caller, 'cluster.update').catch(codeOf)).toBe('forbidden');
  });
});

describe('the uid of a registered cluster', () => {
  test('is that of its first controller that leads, and no other one until an instance admin says so', async () => {
    await registrations.set(name);
    await hello('standby', false);
    await expect(hello('one')).resolves.toMatchObject({ holder: undefined });
    await expect(hello('one', false)).resolves.toMatchObject({ holder: undefined });
    for (const isLeading of [true, false]) {
      await expect(hello('two', isLeading)).rejects.toMatchObject({
        code: 'cluster_unknown',
        detail: expect.stringContaining(`keyframe cluster update ${name} --uid two`),
      });
    }
    expect(services.refusedClusters.recent()).toContainEqual({ cluster: name, reason: 'uid' });
    // Ten minutes of silence change nothing.
    await services.database.pool.query("UPDATE cluster SET seen_at = now() - interval '1 hour' WHERE name = $1", [
      name,
    ]);
    expect(await hello('two').catch(codeOf)).toBe('cluster_unknown');
    expect((await registrations.set(name, { uid: 'two' })).registration?.uid).toBe('two');
    await expect(hello('two')).resolves.toMatchObject({ holder: undefined });
    expect(await hello('one').catch(codeOf)).toBe('cluster_unknown');
  });

  test('is kept by a change that does not name it, and free after a reset', async () => {
    await registrations.set(name);
    await hello('one');
    expect((await registrations.set(name)).registration?.uid).toBe('one');
    expect((await registrations.set(name, { uid: null })).registration?.uid).toBeNull();
    await expect(hello('two')).resolves.toMatchObject({ holder: undefined });
    expect(await hello('one').catch(codeOf)).toBe('cluster_unknown');
  });

  test('has one of many that say hello at the same moment', async () => {
    await registrations.set(name);
    const uids = Array.from({ length: 10 }, (_, index) => `uid-${index}`);
    const answers = await Promise.all(uids.map((uid) => hello(uid).catch(codeOf)));
    expect(answers.filter((answer) => typeof answer === 'object')).toHaveLength(1);
  });
});

describe('a home cluster', () => {
  test('becomes a remote one only if the instance admin means it', async () => {
    await hello('one');
    expect(await registrations.set(name).catch(codeOf)).toBe('conflict');
    const { isHome, registration } = await registrations.set(name, { fromHome: true, uid: 'one' });
    expect({ isHome, uid: registration?.uid }).toEqual({ isHome: false, uid: 'one' });
    expect(await auditOf(null)).toMatchObject([
      { action: 'cluster.update', outcome: 'failed' },
      { action: 'cluster.create', fromHome: true },
    ]);
  });

  test('loses what no rule allows it then, tokens too', async () => {
    const own = new TestSyncReader(services, world, { cluster: name });
    await calls.put('API_KEY', 'value');
    await own.read();
    const token = new TokenResource(services, world, { cluster: name });
    const made = await token.minted();
    await registrations.set(name, { fromHome: true });
    expect(await own.outcome()).toBe('cluster_not_allowed');
    expect(await token.opens(made)).toBe('suspended');
    await clusters.set([clusterRule(world)], { cluster: name });
    expect(await own.outcome()).toEqual({ API_KEY: 'value' });
  });
});

describe('other keys of a cluster', () => {
  const other = new JwtSigner('ES256');

  test('raise its generation, and each organization that allows it something learns it', async () => {
    await registrations.set(name);
    await clusters.set([clusterRule(world)], { cluster: name });
    const { registration } = await registrations.set(name, { keys: [other.jwk] });
    expect(registration).toMatchObject({ generation: 2, version: 2 });
    expect(await auditOf(world.organization.id)).toMatchObject([
      { action: 'cluster.set_rules', generation: 1 },
      { action: 'cluster.update', generation: 2 },
    ]);
    expect(await clusters.get(name)).toMatchObject({ generation: 2, acceptedGeneration: 1, isOutdated: false });
  });

  test('let the rules count on in an organization that allows impersonation', async () => {
    const own = new TestSyncReader(services, world, { cluster: name });
    await calls.put('API_KEY', 'value');
    await registrations.set(name);
    await clusters.set([clusterRule(world)], { cluster: name });
    await registrations.set(name, { keys: [other.jwk] });
    expect(await own.outcome()).toEqual({ API_KEY: 'value' });
  });

  test('let the rules of the others count no more until an admin sets them again', async () => {
    const own = new TestSyncReader(services, world, { cluster: name });
    await calls.put('API_KEY', 'value');
    await registrations.set(name);
    const kinds = ['SecretSync', 'ServiceToken'] as const;
    const rules = [clusterRule(world, { permission: 'read_write', kinds })];
    await clusters.set(rules, { cluster: name });
    await forbidImpersonation(true);
    const token = new TokenResource(services, world, { cluster: name });
    const made = await token.minted();
    expect(await own.outcome()).toEqual({ API_KEY: 'value' });
    await registrations.set(name, { keys: [other.jwk] });
    expect(await own.outcome()).toBe('cluster_not_allowed');
    await expect(own.read()).rejects.toMatchObject({ detail: expect.stringContaining('--accept') });
    expect(await token.opens(made)).toBe('suspended');
    expect(await clusters.get(name)).toMatchObject({ rules, version: 2, isOutdated: true });
    expect(await clusters.set(rules, { cluster: name })).toMatchObject({ version: 3, isOutdated: false });
    expect(await own.outcome()).toEqual({ API_KEY: 'value' });
  });

  test('are judged when the organization forbids or allows impersonation later', async () => {
    const own = new TestSyncReader(services, world, { cluster: name });
    await calls.put('API_KEY', 'value');
    await registrations.set(name);
    await clusters.set([clusterRule(world)], { cluster: name });
    await registrations.set(name, { keys: [other.jwk] });
    const events: ChangeEvent[] = [];
    services.feed.start();
    const leave = services.feed.subscribe({ onEvent: (event) => void events.push(event), onReady: () => undefined });
    await waitFor('the feed to hear', () => services.feed.ready);
    await forbidImpersonation(true);
    expect(await own.outcome()).toBe('cluster_not_allowed');
    await forbidImpersonation(false);
    expect(await own.outcome()).toEqual({ API_KEY: 'value' });
    const ofRules = (): ChangeEvent[] => events.filter(({ kind }) => kind === 'cluster_rules');
    await waitFor('two events', () => ofRules().length === 2);
    leave();
    const common = { kind: 'cluster_rules', organizationId: world.organization.id, cluster: name };
    expect(ofRules()).toEqual([
      { ...common, version: 2, isNothing: true },
      { ...common, version: 3, isNothing: false },
    ]);
  });

  test('prove the cluster from then on, and the former ones do not', async () => {
    const { registration } = await registrations.set(name);
    const aud = audienceOf(registration?.instance ?? '', { type: 'cluster', cluster: name });
    const { iss, subject: sub } = registrations;
    await registrations.set(name, { keys: [other.jwk] });
    const signed = (signer: JwtSigner): string => signer.sign({ iss, sub, aud, ...timesFor(60) });
    const authenticate = async (jwt: string) => await services.clusterAuthentication.authenticate(jwt, name);
    await expect(authenticate(signed(other))).resolves.toMatchObject({ name });
    await expect(authenticate(signed(registrations.signer))).rejects.toMatchObject({ fault: 'jwt_unknown_key' });
  });
});

test('a cluster that was forgotten is registered again as a new one', async () => {
  await registrations.set(name);
  await hello('one');
  await clusters.forget(name);
  expect(await services.clusterAuthentication.authenticate('a.b.c', name).catch(codeOf)).toBe('unauthenticated');
  const { state, registration } = await registrations.set(name, { expectedVersion: 0 });
  expect({ state, uid: registration?.uid, version: registration?.version }).toEqual({
    state: 'enabled',
    uid: null,
    version: 1,
  });
});

test('a change leaves a disabled cluster disabled', async () => {
  await registrations.set(name);
  await clusters.disable(name);
  expect((await registrations.set(name, { uid: 'one' })).state).toBe('disabled');
  const { caller } = await createUser(services, { instanceAdmin: true });
  await services.servedClusters.enable(await services.access.instance(caller, 'cluster.enable'), name);
  await expect(hello('one')).resolves.toMatchObject({ state: 'enabled' });
});
