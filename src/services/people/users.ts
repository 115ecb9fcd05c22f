import { randomUUID } from 'node:crypto';
import { DomainError, invalidField } from '../../domain/errors/domain-error.ts';
import { validateEmail } from '../../domain/names.ts';
import { tokensEndAtOf, type UserPrincipal } from '../../domain/principal.ts';
import { appendAudits } from '../../store/audit.ts';
import type { Database } from '../../store/database.ts';
import {
  withdrawAllInvitationsOfUser,
  withdrawInvitationsBy,
  withdrawInvitationsOfAddress,
} from '../../store/invitations.ts';
import { deleteForeignIdentities } from '../../store/identities.ts';
import { notifyUsers } from '../../store/notify.ts';
import { deletePasskeys } from '../../store/passkeys.ts';
import { revokePersonalTokens } from '../../store/personal-tokens.ts';
import { endSessions } from '../../store/sessions.ts';
import { endCreatedSignInLinks, endSignInLink } from '../../store/sign-in-links.ts';
import type { Transaction } from '../../store/transaction.ts';
import * as store from '../../store/users.ts';
import type { InstanceAccess } from '../access/access.ts';
import { requireRecentSignIn } from '../access/refusals.ts';
import type { AuditLog, AuditTarget } from '../audit/audit-log.ts';
import { type AuditedCall, auditedFailure, instanceCall, successRecord } from '../audit/audited.ts';
import { checkName, checkUuid } from '../kernel/checks.ts';
import { delegatorsOfNew } from '../kernel/delegators.ts';
import { type CreatedSignInLink, createSignInLink } from '../provenance/create-sign-in-link.ts';
import {
  auditedToken,
  auditInOrganizations,
  checkPersonalTokenInput,
  type CreatedPersonalToken,
  issuePersonalToken,
  type PersonalTokenInput,
} from '../tokens/issue-personal-token.ts';
import { changeJudgedFirst } from '../change/change.ts';
import type { Changed } from '../kernel/changed.ts';
import { badCursor, checkLimit, decodeCursor, encodeCursor, type PageRequest } from '../kernel/page.ts';
import { endCreatedSignIns } from '../provenance/created-sign-ins.ts';
import { refuseForeignCreator } from '../provenance/foreign-creator.ts';
import { checkNewEmail, emailTaken, isDeparture, onlyOwner, refuseRights } from './user-refusals.ts';
import { absentUser, checkUserRef } from './user-refs.ts';

export type { UserRecord } from '../../store/users.ts';

export interface CreateUserInput {
  /** Stored and compared in lower case. */
  readonly email: string;
  readonly displayName?: string;
  /** Default false. */
  readonly instanceAdmin?: boolean;
}

export interface UpdateUserInput extends store.UserChanges {
  /** Disables the only owner of organizations too. */
  readonly force?: boolean;
}

export interface CreatedUser {
  readonly user: store.UserRecord;
  /** The first personal token, which ends with the one that it is made with. */
  readonly token: CreatedPersonalToken['token'];
}

export interface UserList {
  /** By e-mail address, disabled ones too. */
  readonly users: readonly store.UserRecord[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

export interface UsersDeps {
  readonly database: Pick<Database, 'transactionPool' | 'pool'>;
  readonly audit: Pick<AuditLog, 'recordFailure'>;
}

const cursorOf = 'users';
const firstToken: PersonalTokenInput = { name: 'first' };

/** The people of the instance, for its admins (docs/interface.md 4, "Further routes"). None is ever deleted. */
export class Users {
  readonly #deps: UsersDeps;

  constructor(deps: UsersDeps) {
    this.#deps = deps;
  }

  /**
   * Makes a user with a first personal token, which never outlives the one that it is made with: otherwise a token that
   * expires could make another instance admin. Throws DomainError conflict for an e-mail address that is taken, forbidden
   * for a credential that goes back to another user who is no instance admin (as do `createToken` and `createLink`).
   */
  async create(access: InstanceAccess<'user.create'>, input: CreateUserInput): Promise<CreatedUser> {
    const call = instanceCall(access);
    return auditedFailure(this.#deps.audit, call, async (note) => {
      const { displayName = null, instanceAdmin = false } = input;
      const message = validateEmail(input.email);
      if (message !== undefined) throw invalidField('email', message);
      if (displayName !== null) checkName('displayName', displayName);
      const email = input.email.toLowerCase();
      note({ email });
      return changeJudgedFirst(this.#deps, access, {
        lock: store.lockUserChanges,
        change: async (tx) => {
          const by = personOf(access);
          await refuseForeignCreator(tx, by);
          const user = await store.insertUser(tx, { id: randomUUID(), email, displayName, instanceAdmin });
          if (user === undefined) throw emailTaken(email);
          const issue = { userId: user.id, by, input: firstToken, notAfter: tokensEndAtOf(by) };
          const { record, token } = await issuePersonalToken(tx, issue);
          const target = { userId: user.id, email, instanceAdmin, personalTokenId: record.id };
          return { result: { user, token }, audit: successRecord(call, target) };
        },
      });
    });
  }

  /** The users. Throws DomainError invalid_input for a bad limit or cursor. */
  async list(_access: InstanceAccess<'user.list'>, page: PageRequest = {}): Promise<UserList> {
    const limit = checkLimit(page);
    const after = page.cursor === undefined ? null : positionOf(page.cursor);
    // One more than asked for shows whether there is a next page.
    const found = await store.listUsers(this.#deps.database.pool, after, limit === null ? null : limit + 1);
    const users = limit === null ? found : found.slice(0, limit);
    const last = users.at(-1);
    const hasMore = last !== undefined && found.length > users.length;
    return { users, nextCursor: hasMore ? encodeCursor(cursorOf, [last.email]) : null };
  }

  /** One user. Throws DomainError not_found. */
  async get(_access: InstanceAccess<'user.read'>, id: string): Promise<store.UserRecord> {
    checkUuid('id', id);
    const user = await store.findUser(this.#deps.database.pool, id);
    if (user === undefined) throw absentUser(id);
    return user;
  }

  /**
   * Changes a user. Makes no user an instance admin as whom others can sign in (DomainError conflict,
   * `refuseForeignSignIns`). A credential that goes back to another user who is no instance admin makes no instance admin
   * and enables no user (DomainError forbidden). None of the tokens of a disabled user work from the next request on, until
   * the user is enabled again; sessions end, and invitations of the user are withdrawn. Of a user who is disabled or
   * demoted, ways to sign in as others end (`endCreatedSignIns`). Throws DomainError not_found, and conflict if the instance
   * would lose its last admin, or without `force` an organization its last owner who is not disabled. The audit of each
   * organization that loses its last owner, or an invitation, has the change too; instance admins appoint another
   * (`Members.appointOwner`). Only a user who is disabled gets another e-mail address: conflict if not, and if another user
   * has it.
   */
  async update(
    access: InstanceAccess<'user.update'>,
    id: string,
    { force = false, ...changes }: UpdateUserInput,
  ): Promise<store.UserRecord> {
    const { displayName = null, email } = changes;
    if (displayName !== null) checkName('displayName', displayName);
    if (email !== undefined) checkUserRef({ email });
    const departs = isDeparture(changes);
    let admins: readonly store.UserRecord[] = [];
    return this.#change(instanceCall(access), access, id, {
      lockFirst: async (tx) => {
        if (departs) admins = await store.lockUserAndInstanceAdmins(tx, id);
      },
      prepare: async (tx) => {
        if (email !== undefined) await store.lockAddress(tx, email);
        if (changes.disabled === true) await store.lockOwnedOrganizations(tx, id);
      },
      change: async (tx, before) => {
        await refuseRights(tx, access, { before, changes });
        if (email !== undefined) {
          await checkNewEmail(tx, before, email);
          await withdrawInvitationsOfAddress(tx, email);
        }
        const { ownerless, invitedTo } =
          changes.disabled === true ? await endRoles(tx, before, force) : { ownerless: [], invitedTo: [] };
        const result = await store.updateUser(tx, id, changes);
        // A user who steps down ends nothing of others: that might leave no instance admin who can sign in.
        const isEnded = departs && access.caller.principal.id !== id;
        const endedSignIns = isEnded ? await endCreatedSignIns(tx, access, { user: before, admins }) : {};
        await notifyUsers(tx, [id]);
        const { email: newEmail, ...others } = changes;
        const renamed = newEmail === undefined ? {} : { newEmail };
        const withdrawn = invitedTo.length > 0 ? { invitations: invitedTo.length } : {};
        const target = {
          ...others,
          ...renamed,
          ...(ownerless.length > 0 ? { force } : {}),
          ...withdrawn,
          ...countsAbove0(endedSignIns),
        };
        const concerned = new Set([...ownerless, ...invitedTo]);
        return { result, target, concernedOrganizations: [...concerned] };
      },
    });
  }

  /**
   * Makes a personal token for a user, such as one who has lost theirs. Made for oneself it never outlives the one that
   * it is made with. Throws DomainError not_found, conflict for a disabled user, quota_exceeded, invalid_input.
   */
  async createToken(
    access: InstanceAccess<'user.update'>,
    id: string,
    input: PersonalTokenInput,
  ): Promise<CreatedPersonalToken> {
    checkPersonalTokenInput(input);
    const by = personOf(access);
    // A session's tokens are bounded for others too.
    const notAfter = by.id === id || by.session !== undefined ? tokensEndAtOf(by) : null;
    return this.#change({ ...instanceCall(access), action: 'personal_token.create' }, access, id, {
      change: async (tx, { email, disabledAt }) => {
        requireRecentSignIn(access, 'personal_token.create');
        if (by.id !== id) await refuseForeignCreator(tx, by);
        if (disabledAt !== null) throw new DomainError('conflict', `${email} is disabled; enable the user first`);
        const result = await issuePersonalToken(tx, { userId: id, by, input, notAfter });
        const concernsOrganizations = result.record.creator !== null;
        return { result, target: auditedToken(result.record), concernsOrganizations };
      },
    });
  }

  /**
   * Creates a link with which a user signs in once, such as one who has lost all other ways. It ends the one before.
   * Throws DomainError not_found, and conflict for a disabled user and for the caller.
   */
  async createLink(access: InstanceAccess<'sign_in_link.create'>, id: string): Promise<CreatedSignInLink> {
    const by = personOf(access);
    const { id: callerId, credentialId } = by;
    return this.#change(instanceCall(access), access, id, {
      change: async (tx, { email, disabledAt }) => {
        if (id === callerId) throw ownLink();
        await refuseForeignCreator(tx, by);
        if (disabledAt !== null) throw new DomainError('conflict', `${email} is disabled; enable the user first`);
        const delegators = await delegatorsOfNew(tx, by, id);
        const link = { subject: { userId: id }, createdBy: callerId, credentialId, delegators };
        const result = await createSignInLink(tx, link);
        const target = { signInLinkId: result.id, expiresAt: result.expiresAt.toISOString() };
        return { result, target, concernsOrganizations: true };
      },
    });
  }

  /**
   * Ends what another person may hold of a user, from the next request on: personal tokens, sessions, passkeys, the sign-in
   * link that waits, and identities that another user linked. Also what that person may have created as this user: unused
   * sign-in links, invitations that wait, and what `endCreatedSignIns` ends; of other instance admins nothing for the caller's
   * own user. The user's own identities stay, because the issuer decides who signs in with them. In a session it needs a
   * recent sign-in. Throws DomainError not_found.
   */
  async endTokens(access: InstanceAccess<'user.update'>, id: string): Promise<void> {
    const isOther = access.caller.principal.id !== id;
    let admins: readonly store.UserRecord[] = [];
    await this.#change({ ...instanceCall(access), action: 'personal_token.revoke' }, access, id, {
      lockFirst: async (tx) => {
        if (isOther) admins = await store.lockUserAndInstanceAdmins(tx, id);
      },
      change: async (tx, user) => {
        requireRecentSignIn(access, 'ending the access of a user');
        const { revoked, createdByOthers } = await revokePersonalTokens(tx, id);
        const endedSessions = await endSessions(tx, id);
        const removedPasskeys = await deletePasskeys(tx, id);
        const unlinkedIdentities = await deleteForeignIdentities(tx, id);
        const signInLinks = (await endSignInLink(tx, id)) ? 1 : 0;
        // The other person may have created these.
        const { createdLinks: ofAdmins, ...ofOthers } = await endCreatedSignIns(tx, access, { user, admins });
        const createdLinks = (await endCreatedSignInLinks(tx, id)) + ofAdmins;
        const sentInvitations = await withdrawInvitationsBy(tx, id);
        await notifyUsers(tx, [id]);
        const ended = revoked + removedPasskeys + unlinkedIdentities + createdLinks + sentInvitations;
        const concernsOrganizations = createdByOthers > 0 || (isOther && ended > 0);
        const target = {
          revoked,
          endedSessions,
          removedPasskeys,
          unlinkedIdentities,
          signInLinks,
          createdLinks,
          ...countsAbove0({ ...ofOthers, sentInvitations }),
        };
        return { result: undefined, target, concernsOrganizations };
      },
    });
  }

  /** Runs a change of a user under their lock, and audits it as `call`. */
  async #change<T>(
    call: AuditedCall,
    access: InstanceAccess<'user.update' | 'sign_in_link.create'>,
    id: string,
    { lockFirst, prepare, change }: UserChange<T>,
  ): Promise<T> {
    return auditedFailure(this.#deps.audit, call, async (note) => {
      checkUuid('id', id);
      note({ userId: id });
      let before: store.UserRecord | undefined;
      return changeJudgedFirst(this.#deps, access, {
        async lock(tx) {
          await store.lockUserChanges(tx);
          await lockFirst?.(tx);
          before = await store.lockUser(tx, id);
          await prepare?.(tx);
        },
        async change(tx): Promise<Changed<T>> {
          if (before === undefined) throw absentUser(id);
          const {
            result,
            target,
            concernsOrganizations = false,
            concernedOrganizations = [],
          } = await change(tx, before);
          const audit = successRecord(call, { userId: id, email: before.email, ...target });
          if (concernsOrganizations) await auditInOrganizations(tx, audit, id);
          await appendAudits(
            tx,
            concernedOrganizations.map((organizationId) => ({ ...audit, organizationId })),
          );
          return { result, audit };
        },
      });
    });
  }
}

interface UserChange<T> {
  /** Locks several users, this one with them, by id. */
  readonly lockFirst?: (tx: Transaction) => Promise<void>;
  /** Takes further locks. */
  readonly prepare?: (tx: Transaction) => Promise<void>;
  readonly change: (tx: Transaction, before: store.UserRecord) => Promise<UserChanged<T>>;
}

interface UserChanged<T> {
  readonly result: T;
  readonly target: AuditTarget;
  /** Whether the audit of each organization of the user gets the entry as well; false by default. */
  readonly concernsOrganizations?: boolean;
  /** The ids of some organizations whose audit gets the entry as well. */
  readonly concernedOrganizations?: readonly string[];
}

/** The person who acts: no service token is an instance admin. */
function personOf({
  caller: { principal },
}: InstanceAccess<'user.create' | 'user.update' | 'sign_in_link.create'>): UserPrincipal {
  if (principal.type !== 'user') throw new Error('an instance admin is a person');
  return principal;
}

/**
 * What disabling a user ends. The ids of the organizations that lose their last owner, and of those that had invited the
 * user. Throws DomainError conflict for the former without `force`.
 */
async function endRoles(
  tx: Transaction,
  user: store.UserRecord,
  force: boolean,
): Promise<{ readonly ownerless: readonly string[]; readonly invitedTo: readonly string[] }> {
  const owned = await store.organizationsOwnedAlone(tx, user);
  if (owned.length > 0 && !force) throw onlyOwner(user, owned);
  await endSignInLink(tx, user.id);
  await endSessions(tx, user.id);
  return { ownerless: owned.map(({ id }) => id), invitedTo: await withdrawAllInvitationsOfUser(tx, user.id) };
}

/** The counts that are not 0. */
function countsAbove0(counts: Readonly<Partial<Record<string, number>>>): AuditTarget {
  const entries = Object.entries(counts).flatMap(([name, count = 0]) => (count > 0 ? [[name, count] as const] : []));
  return Object.fromEntries(entries);
}

function ownLink(): DomainError {
  return new DomainError('conflict', 'a sign-in link is for another user; you are signed in');
}

function positionOf(cursor: string): string {
  const [email = ''] = decodeCursor(cursorOf, cursor, 1);
  // No address holds what a database cannot store. The first user's address may be any other text.
  if (/\p{Cc}/u.test(email)) throw badCursor();
  return email;
}
