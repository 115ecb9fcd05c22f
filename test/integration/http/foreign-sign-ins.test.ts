import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { meUserView } from '../../../src/wire/me.ts';
import type { CreatedInvitationView, CreatedLinkView } from '../../../src/wire/sign-in-links.ts';
import type { SignedInBrowser } from '../../support/api/browser-session.ts';
import { expectProblem, type HttpClient } from '../../support/api/http.ts';
import { redeem, signInWith } from '../../support/api/link-browser.ts';
import { createUser, createWorld, type TestUser, type World } from '../../support/api/services.ts';
import { TestAuthenticator } from '../../support/passkeys/authenticator.ts';
import { passkeyOrigin, PasskeySite } from '../../support/passkeys/site.ts';

/** Ways to sign in as a user that an admin of an organization set up, who redeemed the link of the user's address. */

let site: PasskeySite;
let admin: TestUser;
let asAdmin: HttpClient;
/** The organization of the attacker, who is its admin, and the one that invites the owner of the address. */
let theirs: World;
let other: World;

beforeAll(async () => {
  site = await PasskeySite.start();
  admin = await createUser(site.first.services, { instanceAdmin: true });
  asAdmin = site.first.client(admin.token);
});
afterAll(() => site.close());
beforeEach(async () => {
  theirs = await createWorld(site.first.services);
  other = await createWorld(site.first.services);
});

/** What the attacker has: each of these acts as the user. */
interface Takeover {
  readonly email: string;
  readonly id: string;
  readonly session: SignedInBrowser;
  readonly authenticator: TestAuthenticator;
  readonly passkeySession: SignedInBrowser;
  readonly token: HttpClient;
  readonly passkeyId: string;
  readonly tokenId: string;
  readonly identityId: string;
}

/** Redeems the link of an address that the attacker invited, and sets up every way to sign in. */
async function takeOver(
  role = 'viewer',
  by: Pick<HttpClient, 'expectStatus'> = site.first.client(theirs.admin.token),
): Promise<Takeover> {
  const email = `${randomUUID().slice(0, 8)}@victim.example.test`;
  const path = `/organizations/${theirs.slugs.organization}/invitations`;
  const { link } = await by.expectStatus<CreatedInvitationView>(201, 'POST', path, { email, role });
  const session = await signInWith(site.first, link);
  const { id } = meUserView.parse(await session.expectStatus(200, 'GET', '/me'));
  const authenticator = new TestAuthenticator(passkeyOrigin);
  const registered = await site.register(session, authenticator);
  expect(registered.status).toBe(201);
  const made = await session.expectStatus<{ id: string; token: string }>(201, 'POST', '/personal-tokens', {
    name: 'backdoor',
  });
  const passkeySession = site.sessionOf(await site.signIn(authenticator));
  const identityId = randomUUID();
  await site.sql(
    `INSERT INTO identity (id, user_id, issuer, subject, created_by_type, created_by_id, created_by_name, derived_at,
        delegators)
      VALUES ($1, $2, 'https://id.example.com', $1::uuid::text, 'user', $3, $4, now(), ARRAY[$3::uuid])`,
    identityId,
    id,
    theirs.admin.id,
    theirs.admin.email,
  );
  const token = site.second.client({ reveal: () => made.token });
  await token.expectStatus(200, 'GET', '/me');
  const passkeyId = (registered.body as { id: string }).id;
  return { email, id, session, authenticator, passkeySession, token, passkeyId, tokenId: made.id, identityId };
}

async function linkFor(id: string): Promise<string> {
  return (await asAdmin.expectStatus<CreatedLinkView>(201, 'POST', `/users/${id}/sign-in-links`)).link;
}

/** Invites the user to the organization of others. Returns the path that accepts it. */
async function invited({ id }: Pick<Takeover, 'id'>): Promise<string> {
  const owner = site.first.client(other.owner.token);
  const path = `/members/${other.slugs.organization}/${id}`;
  const invitation = await owner.expectStatus<{ id: string }>(202, 'PUT', path, { role: 'developer' });
  return `/invitations/${invitation.id}/accept`;
}

/** A user with a token of an instance admin, to whom this change happens. */
async function setUpByInstanceAdmin(change: object): Promise<{ user: TestUser; token: HttpClient }> {
  const former = await createUser(site.first.services, { instanceAdmin: true });
  const { user } = await site.newcomer();
  const made = await site.first
    .client(former.token)
    .expectStatus<{ token: string }>(201, 'POST', `/users/${user.id}/personal-tokens`, { name: 'x' });
  await asAdmin.expectStatus(200, 'PATCH', `/users/${former.id}`, change);
  return { user, token: site.first.client({ reveal: () => made.token }) };
}

async function audited(userId: string): Promise<object[]> {
  return site.sql(
    `SELECT action, organization_id, actor_id, target FROM audit_entry
      WHERE target->>'userId' = $1 AND target ? 'createdByEmail'
        AND action IN ('passkey.remove', 'identity.unlink', 'personal_token.revoke', 'session.end') ORDER BY id`,
    userId,
  );
}

describe('the link of an instance admin to a user', () => {
  test('ends every way to sign in that another user set up who is no instance admin', async () => {
    const taken = await takeOver();
    const owner = await signInWith(site.second, await linkFor(taken.id));
    await taken.session.expectStatus(401, 'GET', '/me');
    await taken.passkeySession.expectStatus(401, 'GET', '/me');
    await taken.token.expectStatus(401, 'GET', '/me');
    expect((await site.signIn(taken.authenticator)).status).toBe(401);
    expect(await owner.expectStatus(200, 'GET', '/passkeys')).toMatchObject({ passkeys: [] });
    expect(await owner.expectStatus(200, 'GET', '/identities')).toMatchObject({ identities: [] });

    // The owner now is a member elsewhere, and nothing of the attacker acts as her there.
    await owner.expectStatus(200, 'POST', await invited(taken));
    await owner.expectStatus(200, 'GET', `/organizations/${other.slugs.organization}`);
    expect((await site.signIn(taken.authenticator)).status).toBe(401);
  });

  test('is audited with each of them, in the instance and in the organizations of the user', async () => {
    const taken = await takeOver();
    await signInWith(site.first, await linkFor(taken.id));
    const about = { userId: taken.id, email: taken.email, createdByEmail: theirs.admin.email };
    const ends = [
      { action: 'session.end', target: { ...about, sessionId: expect.any(String) } },
      { action: 'session.end', target: { ...about, sessionId: expect.any(String) } },
      { action: 'passkey.remove', target: { ...about, passkeyId: taken.passkeyId, name: 'Laptop' } },
      { action: 'identity.unlink', target: { ...about, identityId: taken.identityId, issuer: 'id.example.com' } },
      { action: 'personal_token.revoke', target: { ...about, personalTokenId: taken.tokenId, name: 'backdoor' } },
    ];
    const entries = await audited(taken.id);
    for (const organization_id of [null, theirs.organization.id]) {
      const ofChain = entries.filter(
        (entry) => (entry as { organization_id: unknown }).organization_id === organization_id,
      );
      expect(ofChain).toMatchObject(ends.map((end) => ({ ...end, actor_id: taken.id })));
    }
  });

  test('keeps what the user, an instance admin or the server set up', async () => {
    const taken = await takeOver();
    const owner = await signInWith(site.first, await linkFor(taken.id));
    const authenticator = new TestAuthenticator(passkeyOrigin);
    expect((await site.register(owner, authenticator)).status).toBe(201);
    const made = await owner.expectStatus<{ token: string }>(201, 'POST', '/personal-tokens', { name: 'mine' });
    await signInWith(site.first, await linkFor(taken.id));
    expect((await site.signIn(authenticator)).status).toBe(201);
    await site.first.client({ reveal: () => made.token }).expectStatus(200, 'GET', '/me');
    await owner.expectStatus(200, 'GET', '/me');
  });

  test.each([
    ['is no instance admin any more', { instanceAdmin: false }],
    ['is a disabled instance admin', { disabled: true }],
  ])('ends what a user set up who %s', async (_standing, change) => {
    const { user, token } = await setUpByInstanceAdmin(change);
    await token.expectStatus(200, 'GET', '/me');
    await signInWith(site.first, await linkFor(user.id));
    await token.expectStatus(401, 'GET', '/me');
    await site.first.client(user.token).expectStatus(200, 'GET', '/me');
  });

  test('ends an idle session, which a request of the same moment could revive', async () => {
    const taken = await takeOver();
    await site.sql(
      `UPDATE session SET last_used_at = clock_timestamp() - interval '31 minutes' WHERE user_id = $1`,
      taken.id,
    );
    await signInWith(site.first, await linkFor(taken.id));
    // A use that was noted late.
    await site.sql('UPDATE session SET last_used_at = clock_timestamp() WHERE user_id = $1', taken.id);
    for (const session of [taken.session, taken.passkeySession]) {
      expect((await session.send('GET', '/me')).status).toBe(401);
    }
  });

  test('is not ended by a credential that goes back to another user', async () => {
    const taken = await takeOver();
    const link = await linkFor(taken.id);
    for (const theirCredential of [taken.session, taken.token]) {
      await theirCredential.expectStatus(204, 'DELETE', '/sessions');
    }
    await signInWith(site.second, link);
    await taken.token.expectStatus(401, 'GET', '/me');
  });

  test('is ended with all sessions by a token of the user, and by an instance admin', async () => {
    const { user } = await site.newcomer();
    const ofUser = await linkFor(user.id);
    await site.first.client(user.token).expectStatus(204, 'DELETE', '/sessions');
    expect((await redeem(site.first, ofUser)).status).toBe(401);
    const ofAdmin = await linkFor(user.id);
    await asAdmin.expectStatus(204, 'DELETE', `/users/${user.id}/sessions`);
    expect((await redeem(site.first, ofAdmin)).status).toBe(401);
  });
});

describe('an acceptance of an invitation', () => {
  test('is refused as long as another user, who is no instance admin, has a way to sign in as the user', async () => {
    const taken = await takeOver();
    // Not a link: its redemption would end them.
    const made = await asAdmin.expectStatus<{ token: string }>(201, 'POST', `/users/${taken.id}/personal-tokens`, {
      name: 'for the owner',
    });
    const owner = site.first.client({ reveal: () => made.token });
    const accept = await invited(taken);
    const { detail } = await expectProblem(owner.send('POST', accept), 'conflict');
    expect(detail).toContain(theirs.admin.email);
    for (const named of ['2 sessions', 'passkey "Laptop"', 'account of id.example.com', 'personal token "backdoor"']) {
      expect(detail).toContain(named);
    }
    await owner.expectStatus(204, 'DELETE', '/sessions');
    await owner.expectStatus(204, 'DELETE', `/passkeys/${taken.passkeyId}`);
    await owner.expectStatus(204, 'DELETE', `/identities/${taken.identityId}`);
    await expectProblem(owner.send('POST', accept), 'conflict');
    await owner.expectStatus(204, 'DELETE', `/personal-tokens/${taken.tokenId}`);
    await owner.expectStatus(200, 'POST', accept);
  });

  test('is refused for what a disabled instance admin set up, and with it', async () => {
    const { user, token } = await setUpByInstanceAdmin({ disabled: true });
    const accept = await invited(user);
    expect(await expectProblem(token.send('POST', accept), 'forbidden')).toMatchObject({
      detail: expect.stringContaining('who is no instance admin'),
    });
    await expectProblem(site.first.client(user.token).send('POST', accept), 'conflict');
  });

  test('is not prevented with a credential that goes back to another user', async () => {
    const taken = await takeOver();
    const accept = await invited(taken);
    const decline = accept.replace('/accept', '/decline');
    for (const theirCredential of [taken.token, taken.session]) {
      const { detail } = await expectProblem(theirCredential.send('POST', decline), 'forbidden');
      expect(detail).toContain(`goes back to ${theirs.admin.email}`);
    }
    const owner = await signInWith(site.second, await linkFor(taken.id));
    await owner.expectStatus(200, 'POST', accept);
  });

  test('confirms nothing of that other user, where impersonation is forbidden', async () => {
    const taken = await takeOver();
    const path = `/organizations/${other.slugs.organization}`;
    await site.first.client(other.owner.token).expectStatus(200, 'PUT', `${path}/impersonation`, { forbidden: true });
    const { token } = await asAdmin.expectStatus<{ token: string }>(201, 'POST', `/users/${taken.id}/personal-tokens`, {
      name: 'for the owner',
    });
    // A token that the owner creates before the invitation counts as hers, and so would the passkey.
    const own = await site.first
      .client({ reveal: () => token })
      .expectStatus<{ token: string }>(201, 'POST', '/personal-tokens', { name: 'mine' });
    const owner = site.first.client({ reveal: () => own.token });
    const accept = await invited(taken);
    await expectProblem(owner.send('POST', accept), 'conflict');
    await expectProblem(site.sessionOf(await site.signIn(taken.authenticator)).send('GET', path), 'not_found');
  });
});

describe('what is made with a credential that goes back to another user who is no instance admin', () => {
  test('goes back to that user too: the link of an address, and what its user sets up', async () => {
    const ann = await takeOver('admin');
    const bob = await takeOver('viewer', ann.session);
    // The owner of Ann's address gets her user back, and becomes an instance admin.
    await signInWith(site.second, await linkFor(ann.id));
    await asAdmin.expectStatus(200, 'PATCH', `/users/${ann.id}`, { instanceAdmin: true });
    expect(await asAdmin.expectStatus(200, 'GET', `/users/${bob.id}/passkeys`)).toMatchObject({
      passkeys: [{ createdBy: { id: theirs.admin.id } }],
    });
    await signInWith(site.second, await linkFor(bob.id));
    expect((await site.signIn(bob.authenticator)).status).toBe(401);
    await bob.session.expectStatus(401, 'GET', '/me');
  });

  test('a link that was created as the user ends when the user is back', async () => {
    const ann = await takeOver('admin');
    const path = `/organizations/${theirs.slugs.organization}/invitations`;
    const email = `${randomUUID().slice(0, 8)}@victim.example.test`;
    const { link } = await ann.session.expectStatus<CreatedInvitationView>(201, 'POST', path, { email, role: 'admin' });
    await signInWith(site.second, await linkFor(ann.id));
    await expectProblem(redeem(site.first, link), 'unauthenticated');
  });

  test('an invitation that was sent as the user is withdrawn when the user is back, and none that the user sent', async () => {
    const ann = await takeOver('admin');
    const org = theirs.slugs.organization;
    const inviteAs = async (by: Pick<HttpClient, 'expectStatus'>): Promise<() => ReturnType<HttpClient['send']>> => {
      const user = await createUser(site.first.services);
      const { id } = await by.expectStatus<{ id: string }>(202, 'PUT', `/members/${org}/${user.id}`, { role: 'admin' });
      return () => site.first.client(user.token).send('POST', `/invitations/${id}/accept`);
    };
    const acceptOfTaker = await inviteAs(ann.session);
    const owner = await signInWith(site.second, await linkFor(ann.id));
    const { detail } = await expectProblem(acceptOfTaker(), 'conflict');
    expect(detail).toContain('this invitation was withdrawn');
    const sql = `SELECT target->'sentInvitations' AS sent FROM audit_entry WHERE action = 'session.create' AND actor_id = $1
      AND target ? 'sentInvitations'`;
    expect(await site.sql(sql, ann.id)).toEqual([{ sent: 1 }]);
    const acceptOfOwner = await inviteAs(owner);
    await signInWith(site.second, await linkFor(ann.id));
    expect((await acceptOfOwner()).status).toBe(200);
  });

  test('is no user, no token of another user and no link of one', async () => {
    const former = await createUser(site.first.services, { instanceAdmin: true });
    const user = await createUser(site.first.services, { instanceAdmin: true });
    const { token } = await site.first
      .client(former.token)
      .expectStatus<{ token: string }>(201, 'POST', `/users/${user.id}/personal-tokens`, { name: 'kept' });
    const kept = site.first.client({ reveal: () => token });
    const makers: readonly [string, () => object | undefined][] = [
      ['/users', () => ({ email: `${randomUUID().slice(0, 8)}@new.example.test` })],
      [`/users/${theirs.viewer.id}/personal-tokens`, () => ({ name: 'x' })],
      [`/users/${theirs.viewer.id}/sign-in-links`, () => undefined],
    ];
    for (const [path, body] of makers) await kept.expectStatus(201, 'POST', path, body());
    // Without the ends that a demotion by an instance admin brings.
    await site.sql('UPDATE app_user SET instance_admin = false WHERE id = $1', former.id);
    for (const [path, body] of makers) {
      const { detail } = await expectProblem(kept.send('POST', path, body()), 'forbidden');
      expect(detail).toContain(former.email);
      await site.first.client(user.token).expectStatus(201, 'POST', path, body());
    }
    await kept.expectStatus(201, 'POST', `/users/${user.id}/personal-tokens`, { name: 'own' });
  });
});

describe('the list of the ways to sign in', () => {
  test('says who set them up', async () => {
    const taken = await takeOver();
    const createdBy = { type: 'user', id: theirs.admin.id, name: theirs.admin.email, derived: true };
    for (const [kind, id] of [
      ['passkeys', taken.passkeyId],
      ['identities', taken.identityId],
    ] as const) {
      expect(await asAdmin.expectStatus(200, 'GET', `/users/${taken.id}/${kind}`)).toMatchObject({
        [kind]: [{ id, createdBy }],
      });
    }
    const { session, passkey } = await site.registered();
    expect(passkey).toMatchObject({ createdBy: null });
    expect(await session.expectStatus(200, 'GET', '/passkeys')).toMatchObject({ passkeys: [{ createdBy: null }] });
  });

  test('an address that has a user is not invited again', async () => {
    const taken = await takeOver();
    const { detail } = await expectProblem(
      site.first
        .client(other.admin.token)
        .send('POST', `/organizations/${other.slugs.organization}/invitations`, { email: taken.email, role: 'viewer' }),
      'conflict',
    );
    expect(detail).toContain('is the e-mail address of a user already');
  });
});
