import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { AuditEntryView } from '../../../src/wire/audit.ts';
import type { CreatedServiceTokenView } from '../../../src/wire/service-tokens.ts';
import { type HttpAnswer, type HttpClient, expectProblem } from '../../support/api/http.ts';
import { sentence } from '../../support/fixtures/interface-sentences.ts';
import { databaseBytes, databaseRows } from '../../support/fixtures/leak-places.ts';
import { ContractSite, type Named, type Place, instant, tokenPattern, uuid } from './contract-site.ts';

const label = '[Service Token]';
let site: ContractSite;
let owner: HttpClient;
/** An environment of the project `shop`, another of it, and one of another project. */
let places: readonly [Place, Place, Place];

beforeAll(async () => {
  site = await ContractSite.start();
  owner = site.owner.client;
  const otherProject = await site.newProject();
  places = [await site.newEnvironment(), await site.newEnvironment(), await site.newEnvironment(otherProject)];
  for (const place of places) await place.set({ KEY: 'value' });
});

afterAll(() => site.close());

/** The statuses of a client's read of each place's secrets, and then of a write there. */
async function reach(client: HttpClient): Promise<readonly (readonly [number, number])[]> {
  const statuses: [number, number][] = [];
  for (const { path } of places) {
    const read = await client.send('GET', `/secrets/${path}`);
    const write = await client.send('PUT', `/secrets/${path}/KEY`, { value: 'value' });
    statuses.push([read.status, write.status]);
  }
  return statuses;
}

interface Expected {
  readonly action: string;
  readonly target: Readonly<Record<string, unknown>>;
  readonly outcome?: 'success' | 'denied' | 'failed';
  readonly label?: string | null;
}

/** Expects that the request has this status and left just this entry, by the owner by default. */
async function expectAudited(
  [answer, status]: readonly [HttpAnswer, number],
  { action, target, outcome = 'success', label: expected = null }: Expected,
  actor: AuditEntryView['actor'] = { type: 'user', id: site.owner.id, name: site.owner.email },
): Promise<void> {
  expect(answer.status).toBe(status);
  expect(await site.audited(answer)).toEqual([
    {
      id: expect.stringMatching(/^\d+$/),
      at: expect.stringMatching(instant),
      actor,
      action,
      target: expect.objectContaining(target),
      outcome,
      requestId: answer.headers.get('x-request-id'),
      sourceAddress: '127.0.0.1',
      label: expected,
      credential: expect.objectContaining({ id: expect.any(String) }),
      cluster: null,
    },
  ]);
}

describe('a service token', () => {
  test(`is what it was created as, and its text is nowhere else ${sentence('2.4.name', '2.4.scope', '2.4.projectId', '2.4.permission', '2.4.expiration', '2.4.token', '4.4.1', '4.4.2')}`, async () => {
    const [{ id: environmentId }] = places;
    const { id: projectId } = site.project;
    const expiresAt = new Date(Date.now() + 7 * 86_400_000).toISOString();
    const none = { projectId: null, environmentId: null, expiresAt: null };
    const bodies = [
      { name: 'Deploys of the shop', scope: 'organization', permission: 'read' },
      { name: 'ci', scope: 'project', permission: 'read_write', projectId, expiresAt },
      { name: 'ci', scope: 'environment', permission: 'read', environmentId },
    ];
    for (const body of bodies) {
      const answer = await owner.send('POST', '/service-tokens/acme', body);
      const { token, ...record } = answer.body as CreatedServiceTokenView;
      expect([answer.status, record]).toEqual([
        201,
        {
          ...none,
          ...body,
          // An environment's token names its project too.
          ...(body.scope === 'environment' ? { projectId } : {}),
          id: expect.stringMatching(uuid),
          organizationId: site.organization.id,
          createdBy: site.owner.id,
          createdByType: 'user',
          createdByName: site.owner.email,
          cluster: null,
          holder: null,
          createdAt: expect.stringMatching(instant),
          revokedAt: null,
          suspendedAt: null,
          lastUsedAt: null,
        },
      ]);
      expect(token).toMatch(tokenPattern);
      expect(await owner.expectStatus(200, 'GET', `/service-tokens/acme/${record.id}`)).toEqual(record);
      // Not even the database has it, nor the random part alone.
      const secret = Buffer.from(token.slice('kf_svc_'.length + 22, -6));
      for (const stored of [databaseRows(site.database.url), databaseBytes(site.database.url)]) {
        for await (const { bytes } of stored.contents()) expect(Buffer.from(bytes).includes(secret)).toBe(false);
      }
    }
    await owner.expectStatus(201, 'POST', '/organizations', { slug: 'foreign' });
    const foreign = await owner.expectStatus<Named>(201, 'POST', '/projects/foreign', { slug: 'shop' });
    const elsewhere = owner.send('POST', '/service-tokens/acme', { ...bodies[1], projectId: foreign.id });
    expect((await expectProblem(elsewhere, 'invalid_input')).errors?.map(({ field }) => field)).toEqual(['projectId']);
  });

  test(`reaches its scope with its permission, and nothing else ${sentence('1.3', '2.4.read', '2.4.read_write', '2.4.organization', '2.4.project', '2.4.environment', '5.4', '5.8')}`, async () => {
    const [place] = places;
    const scopes = [
      [{ scope: 'organization' }, 3],
      [{ scope: 'project', projectId: site.project.id }, 2],
      [{ scope: 'environment', environmentId: place.id }, 1],
    ] as const;
    const { id: snapshotId } = await place.snapshot();
    for (const [scope, reached] of scopes) {
      for (const permission of ['read', 'read_write'] as const) {
        const { client } = await site.newMachine({ ...scope, permission });
        const isWriter = permission === 'read_write';
        const expected = places.map((_, index) => (index < reached ? [200, isWriter ? 200 : 403] : [404, 404]));
        expect([scope, permission, await reach(client)]).toEqual([scope, permission, expected]);
        const reads = [
          `/versions/${place.path}/KEY`,
          `/snapshots/${place.path}`,
          `/snapshots/${place.path}/${snapshotId}`,
        ];
        for (const path of reads) expect([path, (await client.send('GET', path)).status]).toEqual([path, 200]);
        const writes: readonly (readonly [string, unknown, number])[] = [
          [`/versions/${place.path}/KEY/rollback`, { targetVersion: 1 }, 201],
          [`/snapshots/${place.path}`, {}, 201],
          [`/snapshots/${place.path}/restore`, { snapshotId, dryRun: true }, 200],
          [`/snapshots/${place.path}/restore`, { snapshotId }, 200],
        ];
        for (const [path, body, status] of writes) {
          const answer = await client.send('POST', path, body);
          expect([path, answer.status]).toEqual([path, isWriter ? status : 403]);
        }
      }
    }
    const { client } = await site.newMachine();
    const later = await site.newEnvironment(await site.newProject());
    await client.expectStatus(201, 'PUT', `/secrets/${later.path}/KEY`, { value: 'value' });
    await owner.expectStatus(201, 'POST', '/organizations', { slug: 'stranger' });
    await owner.expectStatus(201, 'POST', '/projects/stranger', { slug: 'shop' });
    await owner.expectStatus(201, 'POST', '/environments/stranger/shop', { slug: 'prod' });
    await expectProblem(client.send('GET', '/secrets/stranger/shop/prod'), 'not_found');
  });

  test(`goes into the same header as a personal token, and gets the same answer ${sentence('4.5', '5.2')}`, async () => {
    const place = await site.newEnvironment();
    await place.set({ KEY: 'one', OTHER: '' });
    await place.set({ KEY: 'two', A: 'ü\u{1f511}\n' });
    const { token } = await site.newMachine({ scope: 'environment', environmentId: place.id, permission: 'read' });
    const environment = await owner.expectStatus<{ revision: number; revisionId: string }>(
      200,
      'GET',
      `/environments/${place.path}`,
    );
    const updatedAt = expect.stringMatching(instant);
    for (const presented of [site.owner.token, token]) {
      const headers = { authorization: `Bearer ${presented}` };
      const answer = await site.client().send('GET', `/secrets/${place.path}`, undefined, headers);
      expect([answer.status, answer.body]).toEqual([
        200,
        {
          secrets: [
            { key: 'A', value: 'ü\u{1f511}\n', version: 1, updatedAt },
            { key: 'KEY', value: 'two', version: 2, updatedAt },
            { key: 'OTHER', value: '', version: 1, updatedAt },
          ],
          revision: environment.revision,
          revisionId: environment.revisionId,
        },
      ]);
    }
    expect([site.owner.token, token].map((text) => text.slice(0, 7))).toEqual(['kf_pat_', 'kf_svc_']);
    expect((await site.client().send('GET', `/me?access_token=${token}`)).status).toBe(401);
  });

  test(`works on when its creator leaves and is disabled, until it is revoked ${sentence('3.7', '5.3', '5.5', '7.1')}`, async () => {
    const admin = await site.newMember('admin');
    const machine = await site.newMachine({ permission: 'read' }, admin.client);
    expect(machine.record.createdBy).toBe(admin.id);
    const path = `/secrets/${places[0].path}`;
    await owner.expectStatus(204, 'DELETE', `/members/acme/${admin.id}`);
    await owner.expectStatus(204, 'DELETE', `/users/${admin.id}/personal-tokens`);
    await owner.expectStatus(200, 'PATCH', `/users/${admin.id}`, { disabled: true });
    await expectProblem(admin.client.send('GET', '/me'), 'unauthenticated');
    await machine.client.expectStatus(200, 'GET', path);
    await site.revoke(machine);
    for (const asked of [path, `/versions/${places[0].path}/KEY`, '/me']) {
      const answer = await machine.client.send('GET', asked);
      expect([asked, answer.status, answer.headers.get('content-type')]).toEqual([
        asked,
        401,
        'application/problem+json',
      ]);
      expect(answer.text).not.toContain('value');
    }
  });
});

describe('the audit', () => {
  test(`has restores, versions and rollbacks of a person, done, refused and failed ${sentence('1.5', '4.3.5', '4.7.4', '6.2.1', '6.2.2')}`, async () => {
    const place = await site.newEnvironment();
    await place.set({ KEY: 'value one' });
    const { id: snapshotId } = await place.snapshot();
    const restore = `/snapshots/${place.path}/restore`;
    const action = 'snapshot.restore';
    const plan = await owner.send('POST', restore, { snapshotId, dryRun: true });
    await expectAudited([plan, 200], { action, target: { ...place.target, snapshotId, dryRun: true } });
    const done = await owner.send('POST', restore, { snapshotId });
    const { revision, revisionId } = await place.list();
    await expectAudited([done, 200], { action, target: { ...place.target, snapshotId, revision, revisionId } });
    const unknown = '01234567-89ab-4def-8123-456789abcdef';
    await expectAudited([await owner.send('POST', restore, { snapshotId: unknown }), 404], {
      action,
      target: { ...place.target, snapshotId: unknown, error: 'not_found' },
      outcome: 'failed',
    });
    const viewer = await site.newMember('viewer');
    const refused = await viewer.client.send('POST', restore, { snapshotId });
    const denied = { action, target: place.target, outcome: 'denied' } as const;
    await expectAudited([refused, 403], denied, { type: 'user', id: viewer.id, name: viewer.email });
    const path = `/versions/${place.path}/KEY`;
    const target = { ...place.target, key: 'KEY' };
    await expectAudited([await owner.send('GET', path), 200], { action: 'version.list', target });
    const read = { action: 'version.read', target: { ...target, version: 1 } };
    await expectAudited([await owner.send('GET', `${path}/1`), 200], read);
    const rollback = await owner.send('POST', `${path}/rollback`, { targetVersion: 1 });
    const now = await place.list();
    await expectAudited([rollback, 201], {
      action: 'version.rollback',
      target: { ...target, targetVersion: 1, revision: now.revision, revisionId: now.revisionId },
    });
    const failed = { action: 'version.rollback', target: { ...target, targetVersion: 9 }, outcome: 'failed' } as const;
    await expectAudited([await owner.send('POST', `${path}/rollback`, { targetVersion: 9 }), 404], failed);
    expect(JSON.stringify(await site.audited(rollback))).not.toContain('value one');
  });

  test(`has what is done to and by a service token, with its label ${sentence('5.6', '6.2.3')}`, async () => {
    const place = await site.newEnvironment();
    await place.set({ KEY: 'value one' });
    const tokens = '/service-tokens/acme';
    const made = await owner.send('POST', tokens, { name: 'ci', scope: 'organization', permission: 'read' });
    const { id, token } = made.body as CreatedServiceTokenView;
    const ofToken = { organization: 'acme', serviceTokenId: id };
    await expectAudited([made, 201], { action: 'service_token.create', target: ofToken, label });
    const actor = { type: 'service_token', id, name: 'ci' } as const;
    const client = site.client(token);
    const secrets = `/secrets/${place.path}`;
    const listed = { action: 'secret.list', target: place.target, label };
    await expectAudited([await client.send('GET', secrets), 200], listed, actor);
    await expectAudited([await owner.send('GET', secrets), 200], { ...listed, label: null });
    const denied = { action: 'secret.write', target: place.target, outcome: 'denied', label } as const;
    await expectAudited([await client.send('PUT', `${secrets}/KEY`, { value: 'three' }), 403], denied, actor);
    // Apart from what people do, and to be read so.
    const apart = await owner.expectStatus<{ entries: AuditEntryView[] }>(
      200,
      'GET',
      `/audit/acme?actorType=service_token&actor=${id}`,
    );
    expect(apart.entries.map((entry) => [entry.action, entry.label])).toEqual([
      ['secret.write', label],
      ['secret.list', label],
    ]);
    const revoked = await owner.send('DELETE', `${tokens}/${id}`);
    await expectAudited([revoked, 204], { action: 'service_token.revoke', target: ofToken, label });
    const after = await client.send('GET', secrets);
    await expectAudited([after, 401], { action: 'authenticate', target: {}, outcome: 'denied', label }, actor);
  });
});
