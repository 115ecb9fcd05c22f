import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Plaintext } from '../../../src/domain/plaintext.ts';
import { IssuerCalls } from '../../support/api/issuer-calls.ts';
import { InvitationCalls } from '../../support/api/invitation-calls.ts';
import { RecoverSite } from '../../support/api/recover-site.ts';
import { withServerClockOff } from '../../support/api/server-clock.ts';
import { createUser, createWorld } from '../../support/api/services.ts';
import { TestSyncReader } from '../../support/api/sync-reader.ts';
import { prismaOf } from '../../support/database/prisma.ts';
import { tableDigests } from '../../support/database/table-digest.ts';
import { TokenResource } from '../../support/api/token-resource.ts';

let site: RecoverSite;

beforeEach(async () => {
  site = await RecoverSite.make();
});

afterEach(() => site.close());

describe('a recovery', () => {
  test('revokes every credential of every kind, and lets an instance admin in by a new file', async () => {
    const token = await site.world.serviceToken();
    const own = new TokenResource(site.services, site.world);
    const resourceToken = await own.minted();
    const pending = await own.mint({ serial: 2 });
    const people = [site.world.owner, site.world.admin, site.world.developer, site.world.viewer, site.world.stranger];
    expect(await site.run()).toEqual({
      serviceTokens: 2,
      credentials: 3,
      users: 5,
      personalTokens: 5,
      sessions: 0,
      signInLinks: 0,
      passkeys: 0,
      invitations: 0,
      trustedIssuers: 0,
      clusters: 0,
      newInstanceId: null,
      signInClosed: true,
      keylessTokens: 0,
      admin: site.world.owner.email,
      isNewToken: true,
    });
    for (const one of [token, resourceToken, pending, ...people]) expect(await site.answerTo(one)).toBe('revoked');
    expect(await site.admitted()).toMatchObject({ name: site.world.owner.email, instanceAdmin: true, expiresAt: null });
    expect((await stat(site.tokenFile)).mode & 0o777).toBe(0o600);
    expect(await readdir(site.folder)).toEqual(['token']);
    expect(site.logged).toContain(site.tokenFile);
    expect(site.logged).not.toContain((await readFile(site.tokenFile, 'utf8')).trim().slice(8));
  });

  test('disables the trusted issuers that were not set since the moment, and not those of clusters', async () => {
    const [old, fresh] = [new IssuerCalls(site.services), new IssuerCalls(site.services)];
    await old.set();
    await prismaOf(site.services.database).trustedIssuer.create({
      data: { id: randomUUID(), cluster: 'c', preset: 'none', iss: 'x', keys: {}, algorithms: [], maxAgeSeconds: 1 },
    });
    const before = await site.databaseTime();
    await fresh.set();
    expect(await site.run({ before })).toMatchObject({ trustedIssuers: 1, newInstanceId: null });
    expect(await old.get()).toMatchObject({ disabledAt: expect.any(Date), version: 2 });
    expect(await fresh.get()).toMatchObject({ disabledAt: null });
    expect(await prismaOf(site.services.database).trustedIssuer.count({ where: { disabledAt: null } })).toBe(2);
    await old.set();
    expect(await site.run({ before })).toMatchObject({ trustedIssuers: 0 });
    expect(await old.get()).toMatchObject({ disabledAt: null });
  });

  test('gives a copy another instance once for its moment, and a restored original none', async () => {
    const idOf = async (): Promise<string> =>
      (await prismaOf(site.services.database).instance.findFirstOrThrow({ select: { id: true } })).id;
    const first = await idOf();
    const before = await site.databaseTime();
    await site.run({ before });
    expect(await idOf()).toBe(first);
    const { newInstanceId } = await site.run({ before, newInstance: true });
    expect(newInstanceId).toMatch(/^[a-z2-7]{26}$/);
    expect(newInstanceId).not.toBe(first);
    expect(await idOf()).toBe(newInstanceId);
    expect(await site.run({ before, newInstance: true })).toMatchObject({ newInstanceId });
  });

  test('ends every session, also of a token that stays', async () => {
    const { viewer } = site.world;
    const access = await site.services.access.person(viewer.caller, 'session.create');
    const { token } = await site.services.sessions.create(access);
    const sql = (text: string) => site.database.pool.query(text);
    await sql(`INSERT INTO group_member SELECT id, 'platform', 'infinity' FROM app_user`);
    await sql(`INSERT INTO sign_in_flow VALUES (sha256('x'), '/', false, false, NULL, 'infinity')`);
    await sql(`INSERT INTO login_request (id, code_hash, code_challenge, is_device, expires_at)
      VALUES (gen_random_uuid(), sha256('y'), sha256('z'), true, 'infinity')`);
    const usable = () => site.services.authentication.authenticateSession(token.reveal(), { isActivity: false });
    expect(await usable()).toMatchObject({ id: viewer.id });
    // All of the tokens are newer than this moment, and the session was in the backup.
    const restoredAt = await site.databaseTime();
    await site.database.pool.query(`UPDATE session SET created_at = $1`, [new Date(restoredAt.getTime() - 1)]);
    await site.database.pool.query(`UPDATE personal_token SET created_at = $1`, [restoredAt]);
    expect(await site.run({ before: restoredAt })).toMatchObject({ personalTokens: 0, sessions: 1 });
    await expect(usable()).rejects.toMatchObject({ fault: 'revoked' });
    const left = `SELECT (SELECT count(*)::int FROM group_member) AS groups,
      (SELECT count(*)::int FROM sign_in_flow) AS flows, (SELECT count(*)::int FROM login_request) AS commands`;
    expect((await sql(left)).rows).toEqual([{ groups: 0, flows: 0, commands: 0 }]);
  });

  test('closes sign-in, and a repetition for the same restore leaves it as an instance admin has set it', async () => {
    const { access, authentication, signIn } = site.services;
    const restoredAt = await site.databaseTime();
    expect(await site.run({ before: restoredAt })).toMatchObject({ signInClosed: true });
    expect(await signIn.offer()).toMatchObject({ open: false });
    const principal = await authentication.authenticate((await readFile(site.tokenFile, 'utf8')).trim());
    const caller = { ...site.world.owner.caller, principal };
    await signIn.setOpen(await access.instance(caller, 'sign_in.update'), true);
    expect(await site.run({ before: restoredAt })).toMatchObject({ signInClosed: false });
    expect(await signIn.offer()).toMatchObject({ open: true });
    expect(await site.run({ tokenFile: join(site.folder, 'another') })).toMatchObject({ signInClosed: true });
  });

  test('makes the passkeys of the backup unusable, and counts them once', async () => {
    const sql = (text: string, ...values: unknown[]) => site.database.pool.query(text, values);
    const insert = `INSERT INTO passkey (id, user_id, credential_id, public_key, counter, rp_id, name, backed_up, created_at, delegators)
      SELECT gen_random_uuid(), $1, $2::text::bytea, 'x', 0, 'keyframe.example.com', $2, false, $3, '{}'`;
    const restoredAt = await site.databaseTime();
    const { id } = site.world.viewer;
    await sql(insert, id, 'old', new Date(restoredAt.getTime() - 1));
    await sql(insert, id, 'new', restoredAt);
    expect(await site.run({ before: restoredAt })).toMatchObject({ passkeys: 1 });
    const unusable = 'SELECT name FROM passkey WHERE unusable_since IS NOT NULL';
    expect((await sql(unusable)).rows).toEqual([{ name: 'old' }]);
    expect(await site.run({ before: restoredAt })).toMatchObject({ passkeys: 0 });
    expect(site.logged).toContain('"passkeys":1');
  });

  test('withdraws every invitation', async () => {
    const { world, services } = site;
    const calls = new InvitationCalls(services, world);
    await calls.invite('membership', world.stranger, 'viewer');
    expect(await site.run()).toMatchObject({ invitations: 1 });
    const userId = world.stranger.id;
    expect(await prismaOf(services.database).invitation.findMany({ where: { userId } })).toMatchObject([
      { outcome: 'withdrawn' },
    ]);
  });

  test('ends every sign-in link, those of users and those of invitations', async () => {
    const { world, services } = site;
    const { access, users, invitations, signInLinks } = services;
    const link = await users.createLink(
      await access.instance(world.owner.caller, 'sign_in_link.create'),
      world.viewer.id,
    );
    const wanted = { email: 'ann@example.test', role: 'viewer' } as const;
    const invited = await invitations.create(
      await world.onOrganization(world.admin.caller, 'invitation.create'),
      wanted,
    );
    expect(await site.run()).toMatchObject({ signInLinks: 2, invitations: 1 });
    const request = { requestId: randomUUID(), sourceAddress: null };
    for (const { token } of [link, invited]) {
      await expect(signInLinks.redeem(request, token.reveal())).rejects.toMatchObject({ fault: 'ended' });
    }
  });

  test('lets a custom resource make its next value, and a token of a person or a revoked one none', async () => {
    const own = new TokenResource(site.services, site.world);
    await own.minted();
    const over = new TokenResource(site.services, site.world);
    const { tokenId } = await over.minted();
    const revocation = await site.world.onOrganization(site.world.owner.caller, 'service_token.revoke');
    await site.services.serviceTokens.revoke(revocation, tokenId);
    const { id } = await site.world.serviceToken();
    await site.run();
    expect(await site.answerTo(await own.minted({ serial: 2 }))).toBe('opens');
    expect((await own.find())?.credentials).toMatchObject([{ serial: 1, revokedAt: expect.any(Date) }, { serial: 2 }]);
    await expect(over.mint({ serial: 2 })).rejects.toMatchObject({ code: 'conflict' });
    const { rows } = await site.database.pool.query('SELECT revoked_at FROM service_token WHERE id = $1', [id]);
    expect(rows).toEqual([{ revoked_at: expect.any(Date) }]);
  });

  test('keeps keyless tokens as they are, counts those that are not revoked, and says what to check', async () => {
    const readers = ['team-a', 'team-b', 'team-c'].map((namespace) => {
      return new TestSyncReader(site.services, site.world, { namespace });
    });
    const entered = await Promise.all(readers.map((reader) => reader.enter()));
    const revocation = await site.world.onOrganization(site.world.owner.caller, 'service_token.revoke');
    await site.services.serviceTokens.revoke(revocation, entered[2]?.tokenId ?? '');
    expect(await site.run()).toMatchObject({ serviceTokens: 0, credentials: 0, keylessTokens: 2 });
    expect(site.logged).toContain('check which were revoked since the backup');
    expect(await Promise.all(readers.map((reader) => reader.outcome()))).toEqual([{}, {}, 'token_revoked']);
    expect(await site.auditOf(null)).toContainEqual(
      expect.objectContaining({ action: 'instance.recover', target: expect.objectContaining({ keylessTokens: 2 }) }),
    );
  });

  test('is audited as a separate actor in every chain, token by token, and holds no token', async () => {
    const { id } = await site.world.serviceToken();
    const other = await createWorld(site.services);
    await site.run();
    const actor = { actor_type: 'system', actor_name: 'keyframe-server recovered' };
    const counts = {
      serviceTokens: 1,
      credentials: 1,
      users: 10,
      personalTokens: 10,
      sessions: 0,
      signInLinks: 0,
      passkeys: 0,
      invitations: 0,
      trustedIssuers: 0,
      clusters: 0,
      newInstanceId: null,
      signInClosed: true,
      keylessTokens: 0,
      before: null,
    };
    expect(await site.auditOf(site.world.organization.id)).toMatchObject([
      { ...actor, action: 'instance.recover', target: counts, label: null },
      {
        ...actor,
        action: 'service_token.revoke',
        target: { serviceTokenId: id, name: 'ci', credentials: 1, reason: 'recovered' },
        label: '[Service Token]',
      },
    ]);
    expect(await site.auditOf(other.organization.id)).toMatchObject([{ ...actor, action: 'instance.recover' }]);
    const [first, ...people] = await site.auditOf(null);
    const userId = site.world.owner.id;
    expect(first).toMatchObject({ ...actor, action: 'instance.recover', target: { ...counts, userId } });
    expect(people).toHaveLength(10);
    expect(people[0]).toMatchObject({ action: 'personal_token.revoke', target: { userId, revoked: 1 } });
    const all = await site.database.pool.query('SELECT row_to_json(audit_entry)::text AS text FROM audit_entry');
    expect(JSON.stringify(all.rows)).not.toMatch(/kf_(?:pat|svc)_/);
  });

  test('notifies listeners of the tokens and people concerned', async () => {
    const { id } = await site.world.serviceToken();
    const client = await site.services.database.pool.connect();
    const heard: string[] = [];
    client.on('notification', ({ payload = '' }) => heard.push(payload));
    await client.query('LISTEN keyframe');
    await site.run();
    await client.query('SELECT 1');
    client.release(true);
    expect(heard.map((text) => JSON.parse(text) as unknown)).toEqual(
      expect.arrayContaining([
        { o: site.world.organization.id, t: id },
        { u: site.world.owner.id },
        { u: site.world.viewer.id },
      ]),
    );
  });

  test('gives the token to the instance admin who is named, and to no one else', async () => {
    const second = await createUser(site.services, { instanceAdmin: true });
    await site.run({ admin: second.email });
    expect(await site.admitted()).toMatchObject({ id: second.id });
    for (const admin of [site.world.viewer.email, 'unknown@example.test']) {
      const tried = site.run({ admin, tokenFile: join(site.folder, 'other') });
      await expect(tried).rejects.toMatchObject({ code: 'conflict', detail: expect.stringContaining(admin) });
    }
    expect(await readdir(site.folder)).toEqual(['token']);
    expect(await site.admitted()).toMatchObject({ id: second.id });
  });

  test('passes over a disabled instance admin, and changes nothing where no other is there', async () => {
    const { id } = site.world.owner;
    await prismaOf(site.services.database).user.update({ where: { id }, data: { disabledAt: new Date() } });
    const before = await tableDigests(site.services.database);
    await expect(site.run()).rejects.toMatchObject({ code: 'conflict' });
    expect(await tableDigests(site.services.database)).toEqual(before);
    const second = await createUser(site.services, { instanceAdmin: true });
    expect(await site.run()).toMatchObject({ admin: second.email });
  });

  test.each([
    ['that exists', 'dear', 'conflict'],
    ['in a folder that does not exist', join('missing', 'token'), 'invalid_input'],
  ])('refuses a file %s and changes nothing', async (_name, name, code) => {
    await writeFile(join(site.folder, 'dear'), 'something dear');
    const token = await site.world.serviceToken();
    const before = await tableDigests(site.services.database);
    await expect(site.run({ tokenFile: join(site.folder, name) })).rejects.toMatchObject({ code });
    expect(await tableDigests(site.services.database)).toEqual(before);
    expect(await site.answerTo(token)).toBe('opens');
    expect(await readdir(site.folder)).toEqual(['dear']);
  });

  test('with a moment that is yet to come is refused', async () => {
    const before = new Date(Date.now() + 60_000);
    await expect(site.run({ before })).rejects.toMatchObject({ code: 'invalid_input' });
    expect(await site.answerTo(site.world.owner)).toBe('opens');
  });
});

const minuteMs = 60_000;

describe.each([
  ['an hour ahead', 60 * minuteMs],
  ['an hour behind', -60 * minuteMs],
])('with the clock of the server %s, the clock of the database judges', (_name, byMs) => {
  test('which moment of --before is yet to come', async () => {
    const now = (await site.databaseTime()).getTime();
    const run = (fromNowMs: number): Promise<unknown> =>
      withServerClockOff(byMs, () => site.run({ before: new Date(now + fromNowMs) }));
    await expect(run(30 * minuteMs)).rejects.toMatchObject({ code: 'invalid_input' });
    expect(await site.answerTo(site.world.owner)).toBe('opens');
    expect(await run(-30 * minuteMs)).toMatchObject({ isNewToken: true });
  });

  test('what is older than it, when that was revoked, and whether the token in the file was made since', async () => {
    const restoredAt = new Date((await site.databaseTime()).getTime() - 30 * minuteMs);
    const [older, newer] = [await site.world.serviceToken(), await site.world.serviceToken()];
    const made = 'UPDATE service_token_credential SET created_at = $1 WHERE service_token_id = $2';
    await site.database.pool.query(made, [new Date(restoredAt.getTime() - minuteMs), older.id]);
    const run = (): Promise<unknown> => withServerClockOff(byMs, () => site.run({ before: restoredAt }));
    expect(await run()).toMatchObject({ serviceTokens: 1, credentials: 1, personalTokens: 0, isNewToken: true });
    expect([await site.answerTo(older), await site.answerTo(newer)]).toEqual(['revoked', 'opens']);
    const revoked = 'SELECT abs(extract(epoch FROM clock_timestamp() - revoked_at)) < 300 AS "isRecent" FROM';
    const { rows } = await site.database.pool.query(`${revoked} service_token_credential WHERE service_token_id = $1`, [
      older.id,
    ]);
    expect(rows).toEqual([{ isRecent: true }]);
    expect(await run()).toMatchObject({ serviceTokens: 0, personalTokens: 0, isNewToken: false });
  });

  test('whether the token in the file has expired', async () => {
    const restoredAt = await site.databaseTime();
    await site.run({ before: restoredAt });
    const expire = `UPDATE personal_token SET expires_at = clock_timestamp() + make_interval(mins => $1)
      WHERE created_by_type = 'system'`;
    const run = (): Promise<unknown> => withServerClockOff(byMs, () => site.run({ before: restoredAt }));
    await site.database.pool.query(expire, [30]);
    expect(await run()).toMatchObject({ isNewToken: false });
    await site.database.pool.query(expire, [-30]);
    await expect(run()).rejects.toMatchObject({ code: 'conflict' });
  });
});

describe('a second run', () => {
  test('for the same file changes nothing, so that the first one’s token works on', async () => {
    await site.run();
    const made = await createUser(site.services);
    const before = await tableDigests(site.services.database);
    await expect(site.run()).rejects.toMatchObject({ code: 'conflict', detail: expect.stringContaining('--before') });
    expect(await tableDigests(site.services.database)).toEqual(before);
    expect(await site.admitted()).toMatchObject({ id: site.world.owner.id });
    expect(await site.answerTo(made)).toBe('opens');
  });

  test('for the same restore keeps what was made since, revokes what is older, and then has nothing to do', async () => {
    const restoredAt = await site.databaseTime();
    // As if another restore had brought it back since.
    const [older, newer] = [await site.world.serviceToken(), await site.world.serviceToken()];
    const made = `UPDATE service_token_credential SET created_at = $1 WHERE service_token_id = $2`;
    await site.run({ before: restoredAt });
    expect(await site.answerTo(older)).toBe('opens');
    await site.database.pool.query(made, [new Date(restoredAt.getTime() - 1), older.id]);
    const token = await readFile(site.tokenFile, 'utf8');
    expect(await site.run({ before: restoredAt })).toMatchObject({ serviceTokens: 1, users: 0, isNewToken: false });
    expect([await site.answerTo(older), await site.answerTo(newer)]).toEqual(['revoked', 'opens']);
    const before = await tableDigests(site.services.database);
    const audited = (await site.auditOf(null)).length;
    expect(await site.run({ before: restoredAt })).toMatchObject({
      serviceTokens: 0,
      personalTokens: 0,
      isNewToken: false,
    });
    expect(await tableDigests(site.services.database)).toEqual(before);
    expect(await site.auditOf(null)).toHaveLength(audited);
    expect(await readFile(site.tokenFile, 'utf8')).toBe(token);
    expect(await site.admitted()).toMatchObject({ id: site.world.owner.id });
  });

  test('does not take a token of something else in the file for its own', async () => {
    await writeFile(site.tokenFile, site.world.owner.token.reveal());
    const before = new Date((await site.databaseTime()).getTime() - 3_600_000);
    await expect(site.run({ before })).rejects.toMatchObject({ code: 'conflict' });
  });

  test('after another restore, with another file, revokes the first one’s token too', async () => {
    await site.run();
    const first = { token: new Plaintext((await readFile(site.tokenFile, 'utf8')).trim()) };
    const second = join(site.folder, 'second');
    expect(await site.run({ tokenFile: second })).toMatchObject({ users: 1, personalTokens: 1, isNewToken: true });
    expect(await site.answerTo(first)).toBe('revoked');
    expect(await site.admitted(second)).toMatchObject({ id: site.world.owner.id });
  });
});
