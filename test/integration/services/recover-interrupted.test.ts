import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { chmod, readdir, readFile, stat } from 'node:fs/promises';
import { openDatabase } from '../../../src/store/database.ts';
import { LockSession } from '../../support/database/locks.ts';
import { runs } from '../../support/faults/postgres-proxy.ts';
import { RecoverSite } from '../../support/api/recover-site.ts';
import { createUser, startServices } from '../../support/api/services.ts';

let site: RecoverSite;

beforeEach(async () => {
  site = await RecoverSite.make();
});

afterEach(() => site.close());

describe('a recovery that is interrupted', () => {
  test('before its commit has changed nothing, and the next run does it all', async () => {
    const token = await site.world.serviceToken();
    const cut = site.proxy.cut(runs(/INSERT INTO audit_entry/), 'before');
    await expect(site.run()).rejects.toMatchObject({ code: 'store_unavailable' });
    await cut.arrived();
    expect(await readdir(site.folder)).toEqual(['token.pending']);
    expect(await site.answerTo(token)).toBe('opens');
    const begun = await readFile(`${site.tokenFile}.pending`, 'utf8');
    await chmod(`${site.tokenFile}.pending`, 0o666);
    expect(await site.run()).toMatchObject({ isNewToken: true, serviceTokens: 1 });
    expect(await site.answerTo(token)).toBe('revoked');
    expect(await readFile(site.tokenFile, 'utf8')).not.toBe(begun);
    expect((await stat(site.tokenFile)).mode & 0o777).toBe(0o600);
  });

  test('with its commit unanswered is ended by the next run, which gives the token its file', async () => {
    site.proxy.cut(runs(/^COMMIT/), 'after');
    await expect(site.run()).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(await readdir(site.folder)).toEqual(['token.pending']);
    const late = await createUser(site.services);
    expect(await site.run()).toMatchObject({ isNewToken: false, users: 1 });
    expect(await readdir(site.folder)).toEqual(['token']);
    expect(await site.admitted()).toMatchObject({ id: site.world.owner.id });
    expect(await site.answerTo(late)).toBe('revoked');
  });
});

describe('a recovery beside servers that run', () => {
  test('waits for a change under way, and revokes the credential that it makes', async () => {
    const replica = await startServices(site.proxy.url, { poolSize: 2, rootKeys: site.rootKeys });
    const held = site.proxy.hold(runs(/^COMMIT/));
    const creation = site.services.access.organization(
      site.world.owner.caller,
      'service_token.create',
      site.world.slugs,
    );
    const input = { name: 'late', scope: 'organization', permission: 'read' } as const;
    const creating = replica.serviceTokens.create(await creation, input);
    await held.arrived();
    const direct = openDatabase({ url: site.services.url, poolSize: 2 });
    const recovering = site.run({}, direct);
    await blocked();
    held.release();
    const made = await creating;
    expect(await recovering).toMatchObject({ serviceTokens: 1 });
    expect(await site.answerTo(made)).toBe('revoked');
    await direct.close();
    await replica.close();
  });

  test('undoes a change that was let in by what it revokes', async () => {
    const held = site.proxy.hold(runs(/^COMMIT/));
    const recovering = site.run();
    await held.arrived();
    const writing = site.services.personalTokens
      .create(await site.services.access.person(site.world.owner.caller, 'personal_token.create'), { name: 'late' })
      .then(
        () => 'done',
        ({ code }: { code: string }) => code,
      );
    await blocked();
    held.release();
    await recovering;
    expect(await writing).toBe('unauthenticated');
  });

  test('with a new instance lets a change of an issuer end first, in whatever moment they meet', async () => {
    const changing = await LockSession.begin(site.services.url);
    await changing.run('SELECT FROM instance FOR NO KEY UPDATE');
    const direct = openDatabase({ url: site.services.url, poolSize: 2 });
    const recovering = site.run({ newInstance: true }, direct);
    await blocked();
    await changing.run('SELECT FROM trusted_issuer FOR UPDATE');
    await changing.commit();
    expect(await recovering).toMatchObject({ newInstanceId: expect.any(String) });
    await direct.close();
  });

  /** Comes back when a session waits for a lock. */
  async function blocked(): Promise<void> {
    for (;;) {
      const { rows } = await site.services.database.pool.query(
        `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      if (rows.length > 0) return;
    }
  }
});
