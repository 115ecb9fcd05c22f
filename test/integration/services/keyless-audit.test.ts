import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { AuditEntry } from '../../../src/store/generated/client.ts';
import type { SecretCalls } from '../../support/api/secret-calls.ts';
import type { TestServices, World } from '../../support/api/services.ts';
import { TestSyncReader } from '../../support/api/sync-reader.ts';
import { ruleFor } from '../../support/api/token-resource.ts';
import { withWorlds } from '../../support/api/with-services.ts';
import { LockSession } from '../../support/database/locks.ts';
import type { TestDatabase } from '../../support/database/postgres.ts';
import { prismaOf } from '../../support/database/prisma.ts';
import { waitFor } from '../../support/fixtures/wait-for.ts';

let database: TestDatabase;
let services: TestServices;
let world: World;
let calls: SecretCalls;
let own: TestSyncReader;

withWorlds((given) => ({ database, services, world, calls } = given));

beforeEach(async () => {
  await calls.patch({ API_KEY: 'value', OTHER: 'more' });
  own = new TestSyncReader(services, world, { source: 'base' });
});

/** What the audit has of the reader. */
async function auditOf(reader = own, action = 'secret.list'): Promise<readonly AuditEntry[]> {
  const entries = await prismaOf(services.database).auditEntry.findMany({ where: { action }, orderBy: { id: 'asc' } });
  return entries.filter(({ target }) => (target as { secretSyncUid?: string }).secretSyncUid === reader.reader.uid);
}

/** Of the denials and failures, in their order. */
async function refusalsOf(reader = own): Promise<readonly unknown[]> {
  const entries = await auditOf(reader);
  return entries.flatMap(({ outcome, target }) =>
    outcome === 'success' ? [] : [(target as { error?: string }).error],
  );
}

describe('a read as a keyless token', () => {
  test('leaves one row, by the token, which names the SecretSync and the source', async () => {
    await own.read();
    const { tokenId } = await own.enter();
    const { revision, revisionId } = await calls.read();
    expect(await auditOf()).toEqual([
      expect.objectContaining({
        organizationId: world.organization.id,
        actorType: 'service_token',
        actorId: tokenId,
        actorName: 'SecretSyncs of team-a (cluster test)',
        outcome: 'success',
        label: '[Service Token]',
        requestId: own.reader.requestId,
        sourceAddress: null,
        credentialId: null,
        cluster: 'test',
        target: {
          ...world.slugs,
          cluster: 'test',
          secretSync: 'team-a/app',
          secretSyncUid: own.reader.uid,
          source: 'base',
          revision,
          revisionId,
          secrets: 2,
        },
      }),
    ]);
  });

  test('begins with the creation of the token, by the SecretSync that needs it first', async () => {
    const { tokenId } = await own.enter();
    const created = await prismaOf(services.database).auditEntry.findMany({
      where: { action: 'service_token.create', organizationId: world.organization.id },
    });
    expect(created).toEqual([
      expect.objectContaining({
        actorType: 'resource',
        actorId: own.reader.uid,
        actorName: 'SecretSync team-a/app',
        label: '[Service Token]',
        outcome: 'success',
        cluster: 'test',
        target: {
          ...world.slugs,
          serviceTokenId: tokenId,
          name: 'SecretSyncs of team-a (cluster test)',
          scope: 'environment',
          permission: 'read',
          cluster: 'test',
          namespace: 'team-a',
        },
      }),
    ]);
  });

  test('discloses nothing while the audit takes no row', async () => {
    const { pool } = services.database;
    await own.enter();
    await pool.query(`CREATE FUNCTION refuse_row() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'full'; END $$;
      CREATE TRIGGER refuse_rows BEFORE INSERT ON audit_entry FOR EACH ROW EXECUTE FUNCTION refuse_row()`);
    try {
      await expect(own.read()).rejects.toThrow();
    } finally {
      await pool.query('DROP TRIGGER refuse_rows ON audit_entry; DROP FUNCTION refuse_row()');
    }
    expect(await own.read()).toEqual({ API_KEY: 'value', OTHER: 'more' });
  });
});

describe('reads with one keyless token that come while the audit writes', () => {
  let readers: readonly TestSyncReader[];

  beforeEach(async () => {
    readers = Array.from({ length: 20 }, () => new TestSyncReader(services, world));
    await own.enter();
  });

  /** Has all read while no entry can be written, and expects that none returns before its entry can be. */
  async function readTogether(): Promise<readonly unknown[]> {
    const lock = await LockSession.begin(database.url);
    await lock.run('LOCK TABLE audit_entry IN EXCLUSIVE MODE');
    const returned: TestSyncReader[] = [];
    const read = async (reader: TestSyncReader): Promise<unknown> => {
      const outcome = await reader.outcome();
      returned.push(reader);
      return outcome;
    };
    const first = read(own);
    await lock.waitForBlocked(1);
    const others = readers.map(read);
    await waitFor('all others to wait for the audit', () => services.controllerAudit.queueLength === readers.length);
    expect(returned).toEqual([]);
    await lock.commit();
    return await Promise.all([first, ...others]);
  }

  interface Named {
    readonly uid: string;
  }

  const inOrder = ({ uid: one }: Named, { uid: other }: Named): number => (one < other ? -1 : 1);

  function secretSyncsOf(entry: AuditEntry | undefined): readonly Named[] {
    return (entry?.target as { secretSyncs?: Named[] } | undefined)?.secretSyncs ?? [];
  }

  /** The only entry of several reads. */
  async function sharedEntry(): Promise<AuditEntry | undefined> {
    const { organization, slugs } = world;
    const entries = await prismaOf(services.database).auditEntry.findMany({
      where: { action: 'secret.list', organizationId: organization.id, actorType: 'service_token' },
    });
    const [entry, ...more] = entries.filter(({ target }) => 'secretSyncs' in (target as object));
    expect(more).toEqual([]);
    expect(entry?.target).toMatchObject({ ...slugs, cluster: 'test' });
    const byUid = readers.map(({ reader: { uid, requestId } }) => ({ name: 'team-a/app', uid, requestId }));
    const secretSyncs = secretSyncsOf(entry);
    expect(secretSyncs.toSorted(inOrder)).toEqual(byUid.toSorted(inOrder));
    return entry;
  }

  test('share one entry, which names each SecretSync', async () => {
    const outcomes = await readTogether();
    expect(new Set(outcomes.map((outcome) => JSON.stringify(outcome))).size).toBe(1);
    const { revision, revisionId } = await calls.read();
    const entry = await sharedEntry();
    expect(entry).toMatchObject({ outcome: 'success', label: '[Service Token]', credentialId: null });
    expect(entry?.target).toMatchObject({ revision, revisionId, secrets: 2 });
    for (const field of ['secretSync', 'secretSyncUid', 'source']) expect(entry?.target).not.toHaveProperty(field);
    expect(readers.map(({ reader }) => reader.requestId)).toContain(entry?.requestId);
    expect(await auditOf()).toHaveLength(1);
  });

  test('share one entry of their denials if the token is revoked', async () => {
    const { tokenId } = await own.enter();
    const access = await world.onOrganization(world.admin.caller, 'service_token.revoke');
    await services.serviceTokens.revoke(access, tokenId);
    expect(new Set(await readTogether())).toEqual(new Set(['token_revoked']));
    const entry = await sharedEntry();
    expect(entry).toMatchObject({ actorId: tokenId, outcome: 'denied', target: { error: 'token_revoked' } });
    expect(await refusalsOf()).toEqual(['token_revoked']);
  });
});

describe('a denial', () => {
  test('leaves one row however often it is tried, and another one for each change of grant or spec', async () => {
    const [granted] = own.grants;
    own.grants = [];
    for (let tries = 0; tries < 3; tries += 1) expect(await own.outcome()).toBe('forbidden');
    expect(await refusalsOf()).toEqual(['forbidden']);
    own.grants = [ruleFor(world, { environments: ['elsewhere'], kinds: ['SecretSync'] })];
    for (let tries = 0; tries < 3; tries += 1) expect(await own.outcome()).toBe('forbidden');
    expect(await refusalsOf()).toEqual(['forbidden', 'forbidden']);
    const elsewhere = { ...world.slugs, environment: 'elsewhere' };
    for (let tries = 0; tries < 3; tries += 1) {
      await expect(services.keyless.admit(own.reader, elsewhere)).rejects.toMatchObject({ code: 'not_found' });
    }
    expect(await refusalsOf()).toEqual(['forbidden', 'forbidden', 'not_found']);
    if (granted !== undefined) own.grants = [granted];
    await own.read();
    own.grants = [];
    expect(await own.outcome()).toBe('forbidden');
    expect(await refusalsOf()).toEqual(['forbidden', 'forbidden', 'not_found', 'forbidden']);
  });

  test('of a revoked token is in the audit of the organization, by the token; once for each source', async () => {
    const other = new TestSyncReader(services, world, { source: 'other' });
    const { tokenId } = await own.enter();
    const access = await world.onOrganization(world.admin.caller, 'service_token.revoke');
    await services.serviceTokens.revoke(access, tokenId);
    for (const reader of [own, other, own, other]) expect(await reader.outcome()).toBe('token_revoked');
    expect(await auditOf()).toEqual([
      expect.objectContaining({
        organizationId: world.organization.id,
        actorType: 'service_token',
        actorId: tokenId,
        outcome: 'denied',
        label: '[Service Token]',
        target: expect.objectContaining({ ...world.slugs, error: 'token_revoked', source: 'base' }),
      }),
    ]);
    expect(await auditOf(other)).toHaveLength(1);
  });

  test('without a grant is in the audit of the instance, by the SecretSync, whose namespace may know nothing', async () => {
    own.grants = [];
    await own.outcome();
    expect(await auditOf()).toEqual([
      expect.objectContaining({
        organizationId: null,
        actorType: 'resource',
        actorId: own.reader.uid,
        actorName: 'SecretSync team-a/app',
        outcome: 'denied',
        label: null,
      }),
    ]);
  });

  test('for a malformed slug does not repeat it', async () => {
    const misplaced = `S3CRET-${randomUUID()}`;
    const refusal = services.keyless.admit(own.reader, { ...world.slugs, environment: misplaced });
    await expect(refusal).rejects.toMatchObject({ code: 'invalid_input' });
    const [entry, ...more] = await auditOf();
    expect(more).toEqual([]);
    expect(entry).toMatchObject({ outcome: 'failed', target: { error: 'invalid_input' } });
    expect(JSON.stringify(entry?.target)).not.toContain(misplaced);
  });
});
