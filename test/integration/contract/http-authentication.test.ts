import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ownRelease } from '../../../src/lib/release.ts';
import { type HttpClient, expectProblem } from '../../support/api/http.ts';
import { ContractSite, type Machine, type Place, instant, tokenPattern, uuid } from './contract-site.ts';
import { sentence } from './sentence.ts';

let site: ContractSite;
let owner: HttpClient;
let place: Place;
let secrets: string;

beforeAll(async () => {
  site = await ContractSite.start();
  owner = site.owner.client;
  place = await site.newEnvironment();
  secrets = `/secrets/${place.path}`;
  await place.set({ KEY: 'value' });
});

afterAll(() => site.close());

/** Expects that the machine's token opens nothing, whatever is asked for. */
async function expectShut({ client }: Machine): Promise<void> {
  const requests: readonly (readonly [string, string, unknown?])[] = [
    ['GET', secrets],
    ['PUT', `${secrets}/KEY`, { value: 'other' }],
    ['GET', `/versions/${place.path}/KEY`],
    ['POST', `/snapshots/${place.path}`, {}],
    ['GET', '/me'],
  ];
  for (const [method, path, body] of requests) {
    const reported = await expectProblem(client.send(method, path, body), 'unauthenticated');
    expect(reported.status).toBe(401);
  }
}

describe('authentication over HTTP', () => {
  test(sentence('1.3', 'http'), async () => {
    const machine = await site.newMachine({ permission: 'read', scope: 'environment', environmentId: place.id });
    expect(await machine.client.expectStatus(200, 'GET', '/me')).toEqual({
      type: 'service_token',
      id: machine.record.id,
      name: 'ci',
      expiresAt: null,
      serverVersion: ownRelease(),
      scope: 'environment',
      permission: 'read',
      organization: { id: site.organization.id, slug: 'acme' },
      project: { id: site.project.id, slug: 'shop' },
      environment: { id: place.id, slug: place.slug },
    });
    expect(machine.record.organizationId).toBe(site.organization.id);
    const elsewhere = await site.newEnvironment();
    expect(await machine.client.expectStatus(200, 'GET', secrets)).toMatchObject({ secrets: [{ value: 'value' }] });
    await expectProblem(machine.client.send('PUT', `${secrets}/KEY`, { value: 'other' }), 'forbidden');
    await expectProblem(machine.client.send('GET', `/secrets/${elsewhere.path}`), 'not_found');
  });

  test(sentence('3.7', 'http'), async () => {
    const machine = await site.newMachine();
    for (let request = 0; request < 3; request += 1) await machine.client.expectStatus(200, 'GET', secrets);
    await site.revoke(machine);
    await expectShut(machine);
    expect(await owner.expectStatus(200, 'GET', `/service-tokens/acme/${machine.record.id}`)).toMatchObject({
      revokedAt: expect.stringMatching(instant),
    });
    await owner.expectStatus(204, 'DELETE', `/service-tokens/acme/${machine.record.id}`);
    await expectShut(machine);
    expect(await place.values()).toEqual({ KEY: 'value' });
  });

  test(sentence('5.1', 'http'), async () => {
    const { token } = site.owner;
    const ask = (authorization?: string, query = ''): Promise<{ readonly status: number }> =>
      site.client().send('GET', `/me${query}`, undefined, authorization === undefined ? {} : { authorization });
    expect((await ask(`Bearer ${token}`)).status).toBe(200);
    const refused = [
      undefined,
      token,
      `Basic ${btoa(`owner:${token}`)}`,
      `Token ${token}`,
      'Bearer',
      `Bearer ${token}x`,
    ];
    for (const authorization of refused) expect((await ask(authorization)).status).toBe(401);
    expect((await ask(undefined, `?access_token=${token}`)).status).toBe(401);
    const answer = await site.client().send('GET', '/me');
    expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer\b/);
  });

  test(sentence('5.2', 'http'), async () => {
    const machine = await site.newMachine();
    expect(site.owner.token).toMatch(/^kf_pat_[0-9A-Za-z]{71}$/);
    expect(machine.token).toMatch(tokenPattern);
    const reported: unknown[] = [];
    for (const token of [site.owner.token, machine.token]) {
      const headers = { authorization: `Bearer ${token}` };
      const answer = await site.client().send('GET', secrets, undefined, headers);
      expect(answer.status).toBe(200);
      reported.push(answer.body);
    }
    expect(reported[1]).toEqual(reported[0]);
    expect(reported[0]).toMatchObject({ secrets: [{ key: 'KEY', value: 'value' }] });
  });

  test(sentence('5.3', 'http'), async () => {
    const admin = await site.newMember('admin');
    const at = await site.newEnvironment();
    const machine = await site.newMachine({ scope: 'environment', environmentId: at.id }, admin.client);
    expect(machine.record.createdBy).toBe(admin.id);
    const works = async (value: string): Promise<void> => {
      const { status } = await machine.client.send('PUT', `/secrets/${at.path}/KEY`, { value });
      expect([200, 201]).toContain(status);
      const read = await machine.client.expectStatus(200, 'GET', `/secrets/${at.path}`);
      expect(read).toMatchObject({ secrets: [{ key: 'KEY', value }] });
    };
    await works('as a member');
    await owner.expectStatus(204, 'DELETE', `/members/acme/${admin.id}`);
    await expectProblem(admin.client.send('GET', `/secrets/${at.path}`), 'not_found');
    await works('as one who left');
    await owner.expectStatus(204, 'DELETE', `/users/${admin.id}/personal-tokens`);
    await owner.expectStatus(200, 'PATCH', `/users/${admin.id}`, { disabled: true });
    await expectProblem(admin.client.send('GET', '/me'), 'unauthenticated');
    await works('as one who is disabled');
  });

  test(sentence('5.4', 'http'), async () => {
    const elsewhere = await site.newEnvironment(await site.newProject());
    const environment = { scope: 'environment', environmentId: place.id } as const;
    const project = { scope: 'project', projectId: site.project.id } as const;
    for (const scope of [environment, project]) {
      for (const permission of ['read', 'read_write'] as const) {
        const { client } = await site.newMachine({ ...scope, permission });
        const write = await client.send('PUT', `${secrets}/KEY`, { value: 'value' });
        const outside = await client.send('PUT', `/secrets/${elsewhere.path}/KEY`, { value: 'value' });
        const read = await client.send('GET', secrets);
        const expected = permission === 'read' ? 403 : 200;
        expect([read.status, write.status, outside.status]).toEqual([200, expected, 404]);
      }
    }
    expect(await elsewhere.values()).toEqual({});
  });

  test(sentence('5.5', 'http'), async () => {
    const machine = await site.newMachine();
    const shown = await owner.send('GET', `/service-tokens/acme/${machine.record.id}`);
    expect([shown.status, Object.keys(shown.body as object).includes('token')]).toEqual([200, false]);
    expect(shown.text).not.toContain('kf_svc_');
    await machine.client.expectStatus(200, 'GET', secrets);
    await site.revoke(machine);
    await expectProblem(machine.client.send('GET', secrets), 'unauthenticated');
  });

  test(sentence('5.7', 'http'), async () => {
    const developer = await site.newMember('developer');
    const answer = await developer.client.send('POST', '/personal-tokens', { name: 'laptop', expiresInDays: 7 });
    expect([answer.status, answer.body]).toEqual([
      201,
      {
        id: expect.stringMatching(uuid),
        name: 'laptop',
        createdAt: expect.stringMatching(instant),
        // The developer's own token was created by the owner of this site.
        createdBy: expect.objectContaining({ type: 'user', derived: true }),
        expiresAt: expect.stringMatching(instant),
        revokedAt: null,
        lastUsedAt: null,
        token: expect.stringMatching(/^kf_pat_[0-9A-Za-z]{71}$/),
      },
    ]);
    const { token } = answer.body as { token: string };
    expect(await site.client(token).expectStatus(200, 'GET', '/me')).toMatchObject({ type: 'user', id: developer.id });
    const { client } = await site.newMachine();
    await expectProblem(client.send('POST', '/personal-tokens', { name: 'laptop' }), 'forbidden');
  });

  test(sentence('5.8', 'http'), async () => {
    const at = await site.newEnvironment();
    await at.set({ KEY: 'one' });
    await at.set({ KEY: 'two' });
    const { id } = await at.snapshot();
    const reads = [
      `/secrets/${at.path}`,
      `/secrets/${at.path}/KEY`,
      `/versions/${at.path}/KEY`,
      `/versions/${at.path}/KEY/1`,
      `/snapshots/${at.path}`,
      `/snapshots/${at.path}/${id}`,
      `/snapshots/${at.path}/${id}/diff`,
      `/changes/${at.path}`,
    ];
    const writes: readonly (readonly [string, string, unknown, number])[] = [
      ['PUT', `/secrets/${at.path}/KEY`, { value: 'three' }, 200],
      ['PATCH', `/secrets/${at.path}`, { set: { KEY: 'four' } }, 200],
      ['POST', `/versions/${at.path}/KEY/rollback`, { targetVersion: 1 }, 201],
      ['POST', `/snapshots/${at.path}`, {}, 201],
      ['POST', `/snapshots/${at.path}/restore`, { snapshotId: id, dryRun: true }, 200],
      ['POST', `/snapshots/${at.path}/restore`, { snapshotId: id }, 200],
      ['DELETE', `/secrets/${at.path}/KEY`, undefined, 204],
    ];
    for (const permission of ['read', 'read_write'] as const) {
      const { client } = await site.newMachine({ permission });
      for (const path of reads) expect([path, (await client.send('GET', path)).status]).toEqual([path, 200]);
      for (const [method, path, body, status] of writes) {
        const expected = permission === 'read' ? 403 : status;
        expect([path, (await client.send(method, path, body)).status]).toEqual([path, expected]);
      }
    }
  });

  test(sentence('7.1', 'http'), async () => {
    const machine = await site.newMachine();
    expect((await machine.client.send('GET', secrets)).status).toBe(200);
    await site.revoke(machine);
    const answer = await machine.client.send('GET', secrets);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([401, 'application/problem+json']);
    expect(answer.body).toMatchObject({
      type: 'urn:keyframe:error:unauthenticated',
      code: 'unauthenticated',
      status: 401,
    });
    expect(answer.text).not.toContain('value');
    expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer\b/);
    await expectShut(machine);
  });
});
