import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { KeylessFaultSite } from '../support/cluster/keyless-fault-site.ts';
import { keylessTokensOf } from '../support/cluster/keyless-tokens.ts';
import { runs } from '../support/faults/postgres-proxy.ts';
import { query } from '../support/cluster/resource-rows.ts';
import { parentOf } from '../support/cluster/sync-site.ts';
import { alpha, type TokenSync } from '../support/cluster/token-sync.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

/**
 * What a SecretSync that names no token needs is taken away at every step of its reconcile. At the end its Secret is the
 * newest permitted state, and nothing is left over.
 */

const resources = new AsyncDisposableStack();
const next = { A: 'next' };
const soon = { timeoutMs: 25_000 };
let site: KeylessFaultSite;

beforeAll(async () => {
  site = await KeylessFaultSite.start(resources, 24);
});

afterAll(() => resources.disposeAsync());

afterEach(() => site.thaw());

const steps = [
  ['looks up environment and token', /t\.id AS "tokenId"/],
  ['makes the token', /INSERT INTO service_token \(id, organization_id/],
  ['reads keys and values', /v\.value_bytes AS "valueBytes"/],
  ['audits the read', /^\s*INSERT INTO\s+"?audit_entry/i],
] as const;

describe('PostgreSQL is killed while a new SecretSync', () => {
  test.each(steps)('%s', async (_, statement) => {
    const sync = await site.make();
    const hold = site.database.hold(runs(statement));
    await sync.create();
    await hold.arrived();
    await site.postgres.kill();
    hold.cut();
    await site.postgres.restart();
    await site.apiIsBack(sync);
    await sync.site.environment.change(next);
    await site.expectClean(sync, next);
  });
});

describe('the leader is killed', () => {
  test('again and again, with a change each time', async () => {
    const sync = await site.makeSynced();
    for (let round = 1; round <= 4; round += 1) {
      const changed = sync.site.environment.change({ A: `round ${round}` });
      await site.killController();
      await site.startController();
      await changed;
      await sync.waitForValues({ A: `round ${round}` });
    }
    await site.expectClean(sync, { A: 'round 4' });
  });
});

describe('the API server', () => {
  test('is killed after the Secret is created, and comes back', async () => {
    const sync = await site.make();
    const collection = parentOf(sync.site.secretPath());
    const hold = site.api.hold(({ method, path }) => method === 'POST' && path === collection, { when: 'after' });
    await sync.create();
    await hold.arrived();
    await site.cluster.apiServer?.kill();
    hold.release();
    await sync.site.environment.change(next);
    await site.cluster.apiServer?.start();
    await waitFor('the API server to serve', async () => (await sync.find('none')) === undefined);
    await site.expectClean(sync, next);
  });

  test('hangs for a while without ending a connection', async () => {
    const sync = await site.makeSynced();
    site.api.freeze();
    await sync.site.environment.change(next);
    await expect(
      waitFor('it', async () => (await sync.values())?.['A'] === 'next', { timeoutMs: 700 }),
    ).rejects.toThrow();
    site.api.thaw();
    await site.expectClean(sync, next);
  });
});

describe('the listening connection is ended by PostgreSQL', () => {
  async function endListeners(): Promise<void> {
    const sql = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'keyframe-listener'`;
    expect((await query(site.postgres.url, sql)).length).toBeGreaterThan(0);
  }

  test('and a change, a revocation and a reinstatement before there is another one are noticed', async () => {
    const [changed, revoked, reinstated] = [await site.makeSynced(), await site.makeSynced(), await site.makeSynced()];
    const revoke = async ({ site: of }: TokenSync): Promise<string> => {
      const [token] = await keylessTokensOf(site.stack.admin, of);
      await of.environment.revokeToken(token?.id ?? '');
      return `/service-tokens/${of.environment.ref.organization}/${token?.id}/reinstate`;
    };
    const path = await revoke(reinstated);
    await reinstated.waitForReason('TokenRevoked');
    const hold = site.database.hold(runs(/^LISTEN/i));
    await endListeners();
    await hold.arrived();
    await changed.site.environment.change(next);
    await revoke(revoked);
    await site.stack.admin.call('POST', path);
    hold.release();
    await site.expectClean(changed, next);
    // By the comparison at its beginning: a SecretSync that is refused is tried again after half a minute only.
    await reinstated.syncs.waitForReason('app', 'Synced', soon);
    await revoked.syncs.waitForReason('app', 'TokenRevoked', soon);
    await revoked.site.environment.change(next);
    await revoked.expectStays(async () => expect(await revoked.values()).toEqual(alpha));
  });
});
