import { randomUUID } from 'node:crypto';
import { hashesEqual, parseToken } from '../../crypto/token.ts';
import { DomainError } from '../../domain/errors/domain-error.ts';
import { limits } from '../../domain/limits.ts';
import type { Caller } from '../../domain/principal.ts';
import { holdUsers } from '../../store/access.ts';
import { appendAudits } from '../../store/audit.ts';
import type { Database } from '../../store/database.ts';
import { findInvitation, type FoundInvitation, withdrawInvitationsBy } from '../../store/invitations.ts';
import {
  countNewUsers,
  endCreatedSignInLinks,
  findSignInLink,
  type FoundSignInLink,
  useSignInLink,
} from '../../store/sign-in-links.ts';
import { inTransaction, type Transaction } from '../../store/transaction.ts';
import { holdActiveInstanceAdmin, insertUser, lockAddress, lockUser, type UserRecord } from '../../store/users.ts';
import type { AuditLog, AuditRecord, AuditTarget } from '../audit/audit-log.ts';
import { acceptAsNewUser, lockPlaceOf } from '../people/invitations.ts';
import { auditInOrganizations } from '../tokens/issue-personal-token.ts';
import { actorOf } from './account.ts';
import { beginSession, type CreatedSession, formerSessionId } from './begin-session.ts';
import { endForeignSignIns } from '../provenance/end-foreign-sign-ins.ts';
import { recordOf, unknownPerson } from './sign-in-record.ts';
import { SignInRefusal } from './sign-in-refusal.ts';

/** The facts of a request without a caller. */
export type LinkRequest = Pick<Caller, 'requestId' | 'sourceAddress'>;

/** The browser that uses a link. */
export interface LinkBrowser {
  readonly userAgent?: string | undefined;
  /** The token of the session that it has, if any. It ends if it is the same user's. */
  readonly replaced?: string | undefined;
}

/** A link that works. */
export interface UsableLink {
  readonly link: FoundSignInLink;
  /** What its person accepts; undefined for the link of a user. */
  readonly invitation: FoundInvitation | undefined;
}

export interface SignInLinksDeps {
  readonly database: Pick<Database, 'transactionPool' | 'pool'>;
  readonly audit: Pick<AuditLog, 'record'>;
}

type LinkFault = 'used' | 'ended' | 'expired' | 'token_ended' | 'user_disabled' | 'creator_not_admin';

/** A link that does not work, with the reason for the audit. Users get one sentence for all of them. */
class LinkRefusal extends DomainError {
  readonly fault: LinkFault;

  constructor(fault: LinkFault) {
    super('unauthenticated', deadLink);
    this.fault = fault;
  }
}

const deadLink =
  'this link is unknown, was used, was replaced by a later one, or has expired; ask the person who sent it for another one';

const signedInWith = 'link';

/**
 * Links that begin a session (docs/people.md, "Sign-in links"): `Users.createLink` creates those of users, and
 * `Invitations.create` those of addresses. A link is the only way in that another person has seen. So its session counts as
 * a token of that person (docs/security-model.md, "Impersonation").
 */
export class SignInLinks {
  readonly #deps: SignInLinksDeps;

  constructor(deps: SignInLinksDeps) {
    this.#deps = deps;
  }

  /**
   * What a link is for. Throws DomainError unauthenticated, with one sentence for each link that does not work. That is
   * audited, except for a link that never existed: a client without one must not be able to fill the audit.
   */
  async find(request: LinkRequest, text: string): Promise<UsableLink> {
    return this.#attempt(request, text, (usable) => Promise.resolve(usable));
  }

  /**
   * Spends a link and begins a session. Of an invited address it makes a user who has accepted the invitation. Throws like
   * `find`; and DomainError conflict if the user who invited may no longer give the role, if the place is deleted, or if a
   * user has the address by now; quota_exceeded. Throws SignInRefusal sign_in_closed.
   */
  async redeem(request: LinkRequest, text: string, browser: LinkBrowser = {}): Promise<CreatedSession> {
    return this.#attempt(request, text, async ({ link, invitation }) =>
      inTransaction(this.#deps.database, (tx) =>
        invitation === undefined
          ? signIn(tx, link, { request, browser })
          : accept(tx, { link, invitation }, { request, browser }),
      ),
    );
  }

  async #attempt<T>(request: LinkRequest, text: string, work: (usable: UsableLink) => Promise<T>): Promise<T> {
    const usable = await this.#find(text);
    const { link, invitation } = usable;
    try {
      if (link.fault !== null) throw new LinkRefusal(link.fault);
      if (link.userId === null && !isWaiting(invitation)) throw new LinkRefusal('ended');
      return await work(usable);
    } catch (error) {
      // An outage is not a refusal.
      if (error instanceof DomainError && error.description.isOutage !== true) {
        await this.#deps.audit.record(refusalRecord(error, request, usable));
      }
      throw error;
    }
  }

  /** A link in any state, with its invitation. Throws DomainError unauthenticated for a text that is none. */
  async #find(text: string): Promise<UsableLink> {
    const { pool } = this.#deps.database;
    const token = parseToken(text);
    const found = token?.kind === 'sign_in_link' ? await findSignInLink(pool, token.credentialId) : undefined;
    if (token === undefined || found === undefined || !hashesEqual(found.tokenHash, token.hash)) {
      throw new DomainError('unauthenticated', deadLink);
    }
    const { invitationId } = found;
    return { link: found, invitation: invitationId === null ? undefined : await findInvitation(pool, invitationId) };
  }
}

interface Attempt {
  readonly request: LinkRequest;
  readonly browser: LinkBrowser;
}

/**
 * Begins a session of the user of a link. An instance admin vouches for who gets it, so it ends what others set up before
 * who cannot.
 */
async function signIn(tx: Transaction, link: FoundSignInLink, attempt: Attempt): Promise<CreatedSession> {
  const { id, userId, createdById } = link;
  if (userId === null) throw new Error('a link without an invitation has a user');
  // Users are locked by id.
  if (createdById < userId) await holdUsers(tx, [createdById]);
  const user = await lockUser(tx, userId);
  if (!(await holdActiveInstanceAdmin(tx, createdById))) throw new LinkRefusal('creator_not_admin');
  await spend(tx, id);
  if (user === undefined || user.disabledAt !== null) throw new LinkRefusal('user_disabled');
  const ended = await endForeignSignIns(tx, user);
  // They may hold links that they created as this user, or have invited themselves.
  await endCreatedSignInLinks(tx, user.id);
  const sentInvitations = ended.length > 0 ? await withdrawInvitationsBy(tx, user.id) : 0;
  const created = await begin(tx, user, { link, attempt });
  const facts = { ...recordOf(attempt.request), actor: actorOf(user), outcome: 'success' } as const;
  const records = ended.map(({ action, target }) => ({ ...facts, action, target: { ...target, signInLinkId: id } }));
  const { target, ...session } = sessionRecord(user, created, { link, attempt });
  const withdrawn = sentInvitations > 0 ? { sentInvitations } : {};
  await appendAudits(tx, [...records, { ...session, target: { ...target, ...withdrawn } }]);
  // Those who could act as their member are known to the organizations.
  for (const record of records) await auditInOrganizations(tx, record, user.id);
  return created;
}

/** Makes a user of the address of an invitation, who has accepted it, and begins their first session. */
async function accept(
  tx: Transaction,
  { link, invitation }: { readonly link: FoundSignInLink; readonly invitation: FoundInvitation },
  attempt: Attempt,
): Promise<CreatedSession> {
  const { email } = link;
  await holdUsers(tx, [invitation.invitedById]);
  await lockAddress(tx, email);
  await lockPlaceOf(tx, invitation);
  await requireRoomForUser(tx, invitation);
  await spend(tx, link.id);
  const user = await insertUser(tx, { id: randomUUID(), email, displayName: null, instanceAdmin: false });
  if (user === undefined) throw addressTaken(email);
  const accepted = await acceptAsNewUser(tx, invitation, user.id);
  const created = await begin(tx, user, { link, attempt });
  const { invitedById, invitedByEmail, id: invitationId } = invitation;
  const about = { ...aboutLink(link), invitationId, invitedById, invitedByEmail };
  const record = { ...recordOf(attempt.request), actor: actorOf(user), outcome: 'success' } as const;
  const target = { ...about, userId: user.id, email, instanceAdmin: false };
  await appendAudits(tx, [
    { ...record, action: 'user.create', target },
    {
      ...record,
      organizationId: invitation.organizationId,
      action: 'invitation.accept',
      target: { ...aboutLink(link), ...accepted },
    },
    sessionRecord(user, created, { link, attempt }),
  ]);
  return created;
}

/** Throws DomainError quota_exceeded if the organization has taken in as many users as it may in a day. */
async function requireRoomForUser(tx: Transaction, { organizationId, organization }: FoundInvitation): Promise<void> {
  if ((await countNewUsers(tx, organizationId)) < limits.newUsersPerOrganizationAndDay) return;
  throw new DomainError(
    'quota_exceeded',
    `the invitations of organization ${organization} have made ${limits.newUsersPerOrganizationAndDay} users in the last 24 hours, which is the limit; use this link tomorrow`,
  );
}

/** Throws LinkRefusal if another request spent the link, or it ended, meanwhile. */
async function spend(tx: Transaction, id: string): Promise<void> {
  const fault = await useSignInLink(tx, id);
  if (fault !== null) throw new LinkRefusal(fault ?? 'ended');
}

/** Every way to make a user of an address ends its links. This holds even if one did not. */
function addressTaken(email: string): DomainError {
  return new DomainError(
    'conflict',
    `${email} is the e-mail address of a user by now; sign in as this user, or ask an instance admin for a sign-in link`,
  );
}

interface Begin {
  readonly link: FoundSignInLink;
  readonly attempt: Attempt;
}

async function begin(tx: Transaction, user: UserRecord, { link, attempt }: Begin): Promise<CreatedSession> {
  const { request, browser } = attempt;
  return beginSession(tx, {
    userId: user.id,
    proof: { signInLinkId: link.id },
    formerId: formerSessionId(browser.replaced),
    sourceAddress: request.sourceAddress,
    userAgent: browser.userAgent,
  });
}

function isWaiting(invitation: FoundInvitation | undefined): boolean {
  return invitation?.userId === null && invitation.outcome === null && !invitation.isExpired;
}

function aboutLink({ id, createdById, createdByEmail }: FoundSignInLink): AuditTarget {
  return { signedInWith, signInLinkId: id, createdById, createdByEmail };
}

function sessionRecord(user: UserRecord, { session }: CreatedSession, { link, attempt }: Begin): AuditRecord {
  const target = { ...aboutLink(link), sessionId: session.id };
  const record = { ...recordOf(attempt.request), actor: actorOf(user), outcome: 'success' } as const;
  return { ...record, action: 'session.create', target };
}

/** In the chain of the organization that invited; for the link of a user in that of the instance. */
function refusalRecord(error: DomainError, request: LinkRequest, { link, invitation }: UsableLink): AuditRecord {
  const fault = error instanceof LinkRefusal || error instanceof SignInRefusal ? error.fault : error.code;
  const target = { ...aboutLink(link), email: link.email, fault };
  const record = { ...recordOf(request), actor: unknownPerson, outcome: 'denied', target } as const;
  if (invitation === undefined) return { ...record, action: 'session.create' };
  const { id: invitationId, organizationId } = invitation;
  return { ...record, organizationId, action: 'invitation.accept', target: { ...target, invitationId } };
}
