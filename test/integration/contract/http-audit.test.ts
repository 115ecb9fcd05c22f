import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { AuditEntryView } from '../../../src/wire/audit.ts';
import type { CreatedServiceTokenView } from '../../../src/wire/service-tokens.ts';
import { type HttpAnswer, type HttpClient, expectProblem } from '../../support/api/http.ts';
import { ContractSite, type Machine, type Place, instant } from './contract-site.ts';
import { sentence } from './sentence.ts';

const label = '[Service Token]';

let site: ContractSite;
let owner: HttpClient;
let place: Place;

beforeAll(async () => {
  site = await ContractSite.start();
  owner = site.owner.client;
});

beforeEach(async () => {
  place = await site.newEnvironment();
  await place.set({ KEY: 'value one' });
  await place.set({ KEY: 'value two' });
});

afterAll(() => site.close());

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
    },
  ]);
}

function actorOf({ record }: Machine): AuditEntryView['actor'] {
  return { type: 'service_token', id: record.id, name: record.name };
}

describe('the audit over HTTP', () => {
  test(sentence('1.5', 'http'), async () => {
    const { id: snapshotId } = await place.snapshot();
    const restore = await owner.send('POST', `/snapshots/${place.path}/restore`, { snapshotId });
    const versions = await owner.send('GET', `/versions/${place.path}/KEY`);
    const token = await owner.send('POST', '/service-tokens/acme', {
      name: 'ci',
      scope: 'organization',
      permission: 'read',
    });
    const reported = [await site.audited(restore), await site.audited(versions), await site.audited(token)];
    expect(reported.map((entries) => entries.map(({ action, outcome }) => [action, outcome]))).toEqual([
      [['snapshot.restore', 'success']],
      [['version.list', 'success']],
      [['service_token.create', 'success']],
    ]);
    expect(JSON.stringify(reported)).not.toMatch(/value (?:one|two)|kf_svc_/);
  });

  test(sentence('5.6', 'http'), async () => {
    const machine = await site.newMachine({ permission: 'read' });
    const { client } = machine;
    const path = `/secrets/${place.path}`;
    const listed = { action: 'secret.list', target: place.target, label };
    await expectAudited([await client.send('GET', path), 200], listed, actorOf(machine));
    const denied = { action: 'secret.write', target: place.target, outcome: 'denied', label } as const;
    await expectAudited([await client.send('PUT', `${path}/KEY`, { value: 'three' }), 403], denied, actorOf(machine));
    // Apart from what people do, and to be read so.
    const answer = await owner.send('GET', `/audit/acme?actorType=service_token&actor=${machine.record.id}`);
    expect(answer.body).toMatchObject({
      entries: [
        { action: 'secret.write', label },
        { action: 'secret.list', label },
      ],
    });
    expect((answer.body as { entries: unknown[] }).entries).toHaveLength(2);
    await expectAudited([await owner.send('GET', path), 200], { ...listed, label: null });
  });

  test(sentence('6.2.1', 'http'), async () => {
    const { id: snapshotId } = await place.snapshot();
    const path = `/snapshots/${place.path}/restore`;
    const plan = await owner.send('POST', path, { snapshotId, dryRun: true });
    await expectAudited([plan, 200], {
      action: 'snapshot.restore',
      target: { ...place.target, snapshotId, dryRun: true },
    });
    const done = await owner.send('POST', path, { snapshotId });
    const { revision, revisionId } = await place.list();
    await expectAudited([done, 200], {
      action: 'snapshot.restore',
      target: { ...place.target, snapshotId, revision, revisionId },
    });
    const unknown = '01234567-89ab-4def-8123-456789abcdef';
    await expectAudited([await owner.send('POST', path, { snapshotId: unknown }), 404], {
      action: 'snapshot.restore',
      target: { ...place.target, snapshotId: unknown, error: 'not_found' },
      outcome: 'failed',
    });
    const viewer = await site.newMember('viewer');
    const refused = await viewer.client.send('POST', path, { snapshotId });
    const denied = { action: 'snapshot.restore', target: place.target, outcome: 'denied' } as const;
    await expectAudited([refused, 403], denied, { type: 'user', id: viewer.id, name: viewer.email });
  });

  test(sentence('6.2.2', 'http'), async () => {
    const path = `/versions/${place.path}/KEY`;
    const target = { ...place.target, key: 'KEY' };
    await expectAudited([await owner.send('GET', path), 200], { action: 'version.list', target });
    const read = { action: 'version.read', target: { ...target, version: 1 } };
    await expectAudited([await owner.send('GET', `${path}/1`), 200], read);
    const rollback = await owner.send('POST', `${path}/rollback`, { targetVersion: 1 });
    const { revision, revisionId } = await place.list();
    await expectAudited([rollback, 201], {
      action: 'version.rollback',
      target: { ...target, targetVersion: 1, revision, revisionId },
    });
    const failed = { action: 'version.rollback', target: { ...target, targetVersion: 9 }, outcome: 'failed' } as const;
    await expectAudited([await owner.send('POST', `${path}/rollback`, { targetVersion: 9 }), 404], failed);
    // The other changes of a secret make versions too.
    const write = { action: 'secret.write', target };
    await expectAudited([await owner.send('PUT', `/secrets/${place.path}/KEY`, { value: 'three' }), 200], {
      action: 'secret.write',
      target: place.target,
    });
    await expectAudited([await owner.send('DELETE', `/secrets/${place.path}/KEY`), 204], {
      ...write,
      action: 'secret.delete',
      target: place.target,
    });
  });

  test(sentence('6.2.3', 'http'), async () => {
    const path = '/service-tokens/acme';
    const made = await owner.send('POST', path, { name: 'ci', scope: 'organization', permission: 'read_write' });
    const { id, token } = made.body as CreatedServiceTokenView;
    const target = { organization: 'acme', serviceTokenId: id };
    await expectAudited([made, 201], { action: 'service_token.create', target, label });
    const client = site.client(token);
    const actor = { type: 'service_token', id, name: 'ci' } as const;
    const secrets = `/secrets/${place.path}`;
    const requests: readonly (readonly [string, string, unknown, number, string])[] = [
      ['GET', secrets, undefined, 200, 'secret.list'],
      ['GET', `${secrets}/KEY`, undefined, 200, 'secret.read'],
      ['PUT', `${secrets}/KEY`, { value: 'three' }, 200, 'secret.write'],
      ['GET', `/versions/${place.path}/KEY`, undefined, 200, 'version.list'],
      ['POST', `/versions/${place.path}/KEY/rollback`, { targetVersion: 1 }, 201, 'version.rollback'],
      ['POST', `/snapshots/${place.path}`, {}, 201, 'snapshot.create'],
      ['GET', `/snapshots/${place.path}`, undefined, 200, 'snapshot.list'],
    ];
    for (const [method, requestPath, body, status, action] of requests) {
      const answer = await client.send(method, requestPath, body);
      await expectAudited([answer, status], { action, target: place.target, label }, actor);
    }
    const revoked = await owner.send('DELETE', `${path}/${id}`);
    await expectAudited([revoked, 204], { action: 'service_token.revoke', target, label });
    const after = await client.send('GET', secrets);
    await expectProblem(Promise.resolve(after), 'unauthenticated');
    await expectAudited([after, 401], { action: 'authenticate', target: {}, outcome: 'denied', label }, actor);
  });
});
