import { describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { Caller } from '../../../src/domain/principal.ts';
import type { AuditPage, AuditRequest } from '../../../src/services/audit-entries/audit-entries.ts';
import { listAuditEntries } from '../../../src/store/audit.ts';
import { secretCalls } from '../../support/api/secret-calls.ts';
import { userCalls } from '../../support/api/user-calls.ts';
import { callerOf, createWorld, type TestServices, type World } from '../../support/api/services.ts';
import { withWorlds } from '../../support/api/with-services.ts';

let services: TestServices;
let world: World;

withWorlds((given) => ({ services, world } = given));

async function read(request: AuditRequest = {}, caller: Caller = world.admin.caller): Promise<AuditPage> {
  return services.auditEntries.list(await world.onOrganization(caller, 'audit.list'), request);
}

/** The actions of a page, without the readings of the audit itself. */
async function actions(request: AuditRequest): Promise<string[]> {
  const { entries } = await read(request);
  return entries.map(({ action }) => action).filter((action) => action !== 'audit.list');
}

describe('the audit of the instance', () => {
  async function readInstance(request: AuditRequest = {}, caller = world.owner.caller): Promise<AuditPage> {
    return services.auditEntries.listInstance(await services.access.instance(caller, 'audit.list_instance'), request);
  }

  test('has what belongs to no organization, with the same filters and pages, and is audited itself', async () => {
    const { owner, developer } = world;
    const calls = userCalls(services, owner.caller);
    for (const name of ['one', 'two', 'three']) await calls.createToken(developer.id, { name });
    await secretCalls(services, world, developer.caller).put('KEY', 'value');
    const wanted = { action: 'personal_token.', actor: owner.id, limit: 2 };
    const first = await readInstance(wanted);
    const second = await readInstance({ ...wanted, cursor: first.nextCursor ?? '' });
    const names = [first, second].map(({ entries }) => entries.map(({ target }) => target['name']));
    expect(names).toEqual([['three', 'two'], ['one']]);
    expect(second.nextCursor).toBeNull();
    const { entries } = await readInstance({ limit: 100 });
    expect(entries[0]).toMatchObject({
      action: 'audit.list_instance',
      actor: { id: owner.id },
      target: { entries: 1 },
    });
    expect(entries.map(({ action }) => action)).not.toContain('secret.write');
    await expect(readInstance({ action: 'No' })).rejects.toMatchObject({ code: 'invalid_input' });
    await expect(readInstance({ cursor: 'x' })).rejects.toMatchObject({ code: 'invalid_input' });
  });

  test('is for instance admins alone', async () => {
    const token = await world.serviceToken();
    for (const caller of [world.admin.caller, token.caller]) {
      await expect(readInstance({}, caller)).rejects.toMatchObject({ code: 'forbidden' });
    }
  });

  test('is read by the index, newest first, without a sort', async () => {
    await services.database.pool.query(
      `INSERT INTO audit_entry (organization_id, actor_type, actor_id, actor_name, action, target, outcome, request_id)
       SELECT CASE WHEN n % 50 = 0 THEN NULL ELSE $1::uuid END, 'user', $2, 'someone', 'secret.read', '{}', 'success', $2
       FROM generate_series(1, 20000) AS n`,
      [world.organization.id, randomUUID()],
    );
    await services.database.pool.query('ANALYZE audit_entry');
    const { rows } = await services.database.pool.query<{ 'QUERY PLAN': string }>(
      `EXPLAIN SELECT id FROM audit_entry WHERE organization_id IS NULL ORDER BY organization_id, id DESC LIMIT 100`,
    );
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).toContain('audit_entry_organization_id_id_idx');
    expect(plan).not.toMatch(/Sort|Seq Scan/);
  });
});

describe('the audit of an organization', () => {
  test('is read newest first, each entry with who, what, on what, the outcome and whence', async () => {
    const caller = callerOf(world.developer.caller.principal);
    const { revisionId } = await secretCalls(services, world, caller).put('KEY', 'value');
    const { entries } = await read({ limit: 1 });
    const { id, email: name } = world.developer;
    expect(entries).toEqual([
      {
        id: expect.stringMatching(/^[0-9]+$/),
        at: expect.any(Date),
        actor: { type: 'user', id, name },
        action: 'secret.write',
        target: expect.objectContaining({ ...world.slugs, key: 'KEY', version: 1, revisionId }),
        outcome: 'success',
        requestId: caller.requestId,
        sourceAddress: '192.0.2.7',
        label: null,
        credential: { id: caller.principal.credentialId, createdBy: null },
        cluster: null,
      },
    ]);
    const all = (await read()).entries.map((entry) => BigInt(entry.id));
    expect(all).toEqual([...all].sort((a, b) => Number(b - a)));
  });

  test('reveals nothing of another organization, nor of what belongs to none', async () => {
    const other = await createWorld(services);
    await secretCalls(services, other, other.developer.caller).put('KEY', 'value');
    const { entries } = await read();
    expect(entries.map(({ target }) => target['organization'] ?? world.slugs.organization)).toEqual(
      entries.map(() => world.slugs.organization),
    );
    expect(await actions({ actor: other.developer.id })).toEqual([]);
  });

  test('is audited itself', async () => {
    await read({ limit: 3 });
    const [newest] = (await read({ limit: 1 })).entries;
    expect(newest).toMatchObject({ action: 'audit.list', actor: { id: world.admin.id }, target: { entries: 3 } });
  });

  test('pages by limit and cursor, undisturbed by newer entries', async () => {
    const calls = secretCalls(services, world, world.developer.caller);
    for (const value of ['1', '2', '3', '4', '5']) await calls.put('KEY', value);
    const wanted = { action: 'secret.write', limit: 2 };
    const first = await read(wanted);
    await calls.put('KEY', '6');
    const second = await read({ ...wanted, cursor: first.nextCursor ?? '' });
    const third = await read({ ...wanted, cursor: second.nextCursor ?? '' });
    const versions = [first, second, third].map(({ entries }) => entries.map(({ target }) => target['version']));
    expect(versions).toEqual([[5, 4], [3, 2], [1]]);
    expect(third.nextCursor).toBeNull();
  });

  test('is never whole: a page has 100 entries by default', async () => {
    await services.database.pool.query(
      `INSERT INTO audit_entry (organization_id, actor_type, actor_id, actor_name, action, target, outcome, request_id)
       SELECT $1, 'user', $2, 'someone', 'secret.read', '{}', 'success', $2 FROM generate_series(1, 150)`,
      [world.organization.id, randomUUID()],
    );
    const { entries, nextCursor } = await read();
    expect(entries).toHaveLength(100);
    expect(nextCursor).toEqual(expect.any(String));
    expect((await read({ limit: 150 })).entries).toHaveLength(150);
  });

  test('is limited by action, exactly or by its beginning, by actor, actor type and time', async () => {
    const token = await world.serviceToken({ permission: 'read_write' });
    await secretCalls(services, world, world.developer.caller).put('KEY', '1');
    const { rows } = await services.database.pool.query<{ now: Date }>('SELECT clock_timestamp() AS now');
    const since = rows[0]?.now ?? new Date(0);
    await secretCalls(services, world, token.caller).readOne('KEY');
    expect(await actions({ action: 'secret.write' })).toEqual(['secret.write']);
    expect(await actions({ action: 'secret.' })).toEqual(['secret.read', 'secret.write']);
    // Without the dot it is a whole action, which there is none of.
    expect(await actions({ action: 'secret' })).toEqual([]);
    // The developer joined the organization before.
    expect(await actions({ actor: world.developer.id })).toEqual(['secret.write', 'invitation.accept']);
    expect(await actions({ actor: token.id })).toEqual(['secret.read']);
    expect(await actions({ actorType: 'service_token' })).toEqual(['secret.read']);
    expect(await actions({ since })).toEqual(['secret.read']);
    expect(await actions({ actorType: 'service_token', action: 'secret.write' })).toEqual([]);
  });

  test.each([
    ['action', { action: 'secret.%' }],
    ['action', { action: '' }],
    ['action', { action: 'a'.repeat(65) }],
    ['actor', { actor: 'me' }],
    ['since', { since: new Date(Number.NaN) }],
    ['since', { since: new Date(8.64e15) }],
    ['limit', { limit: 1001 }],
    ['cursor', { cursor: 'abc' }],
    ['cursor', { cursor: Buffer.from('["audit","99999999999999999999"]').toString('base64url') }],
  ])('refuses a bad %s (%#)', async (field, request) => {
    await expect(read(request)).rejects.toMatchObject({ code: 'invalid_input', fields: [{ field }] });
  });

  test('opens to owners and admins alone', async () => {
    const token = await world.serviceToken({ scope: 'organization' });
    await expect(read({}, world.owner.caller)).resolves.toBeDefined();
    for (const { caller } of [world.developer, world.viewer, token]) {
      await expect(read({}, caller)).rejects.toMatchObject({ code: 'forbidden' });
    }
    await expect(read({}, world.stranger.caller)).rejects.toMatchObject({ code: 'not_found' });
  });

  test('is read by its index, however many entries there are', async () => {
    const { pool } = services.database;
    await pool.query(
      `INSERT INTO audit_entry (organization_id, actor_type, actor_id, actor_name, action, target, outcome, request_id)
       SELECT CASE WHEN n % 2 = 0 THEN $1::uuid ELSE $2::uuid END, 'user', $2, 'someone', 'secret.read', '{}', 'success', $2
       FROM generate_series(1, 100000) n`,
      [world.organization.id, randomUUID()],
    );
    await pool.query('ANALYZE audit_entry');
    const client = await pool.connect();
    try {
      // As a prepared statement that knows none of its values.
      await client.query('SET plan_cache_mode = force_generic_plan');
      for (const [name, before] of [
        ['newest', undefined],
        ['later', '50000'],
      ] as const) {
        await client.query(`PREPARE ${name} AS ${await pageStatement(before ?? null)}`);
        const values = [101, `'${world.organization.id}'`, ...(before === undefined ? [] : [before])];
        const explained = await client.query<{ 'QUERY PLAN': string }>(`EXPLAIN EXECUTE ${name}(${values.join(', ')})`);
        const plan = explained.rows.map((row) => row['QUERY PLAN']).join('\n');
        expect(plan).toContain('Index Scan using audit_entry_organization_id_id_idx');
        expect(plan).not.toMatch(/Seq Scan|Sort/);
      }
    } finally {
      client.release(true);
    }
  });
});

/** The text of the statement that reads a page without filters. */
async function pageStatement(before: string | null): Promise<string> {
  let sent = '';
  const query = ({ text }: { text: string }) => {
    sent = text;
    return Promise.resolve({ rows: [] });
  };
  const filter = { action: null, actor: null, actorType: null, since: null, before, limit: 1 };
  await listAuditEntries({ query } as unknown as TestServices['database']['pool'], randomUUID(), filter);
  return sent;
}
