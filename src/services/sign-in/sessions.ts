import { DomainError } from '../../domain/errors/domain-error.ts';
import { otherCreatorId } from '../../domain/impersonation.ts';
import type { Database } from '../../store/database.ts';
import { withdrawInvitationsBy } from '../../store/invitations.ts';
import { notifyUsers } from '../../store/notify.ts';
import * as store from '../../store/sessions.ts';
import { endCreatedSignInLinks, endSignInLink } from '../../store/sign-in-links.ts';
import type { Transaction } from '../../store/transaction.ts';
import { lockUser, lockUserChanges } from '../../store/users.ts';
import type { InstanceAccess, PersonAccess } from '../access/access.ts';
import type { AuditLog, AuditTarget } from '../audit/audit-log.ts';
import { auditedFailure, instanceCall, successRecord } from '../audit/audited.ts';
import { changeJudgedFirst } from '../change/change.ts';
import { checkUuid } from '../kernel/checks.ts';
import { absentUser, checkUser } from '../people/user-refs.ts';
import { beginSession, type CreatedSession, formerSessionId } from './begin-session.ts';

export type { SessionRecord } from '../../store/sessions.ts';

export interface SignIn {
  /** What the browser calls itself. */
  readonly userAgent?: string | undefined;
  /** The token of the session that the browser had, if any. It ends if it is the same user's. */
  readonly replaced?: string | undefined;
}

export interface SessionsDeps {
  readonly database: Pick<Database, 'transactionPool' | 'pool'>;
  readonly audit: Pick<AuditLog, 'recordFailure'>;
}

/** The browsers in which users have signed in (docs/interface.md 4, "Sessions"). */
export class Sessions {
  readonly #deps: SessionsDeps;

  constructor(deps: SessionsDeps) {
    this.#deps = deps;
  }

  /**
   * Begins a session with a personal token. It ends with that token at the latest. Throws DomainError forbidden for a caller
   * who is in a session already.
   */
  async create(access: PersonAccess<'session.create'>, { userAgent, replaced }: SignIn = {}): Promise<CreatedSession> {
    return auditedFailure(this.#deps.audit, instanceCall(access), async () => {
      const { principal, sourceAddress } = access.caller;
      if (principal.session !== undefined) {
        throw new DomainError('forbidden', 'a session cannot begin another one; sign in with a personal token');
      }
      const userId = principal.id;
      const formerId = formerSessionId(replaced);
      return changeJudgedFirst(this.#deps, access, {
        lock: async (tx) => void (await lockUser(tx, userId)),
        change: async (tx) => {
          const proof = { personalTokenId: principal.credentialId };
          const result = await beginSession(tx, { userId, proof, formerId, sourceAddress, userAgent });
          const target = { sessionId: result.session.id, signedInWith: result.session.signedInWith };
          return { result, audit: successRecord(instanceCall(access), target) };
        },
      });
    });
  }

  /** The caller's sessions that have not ended, newest first. */
  async list(access: PersonAccess<'session.list'>): Promise<readonly store.SessionRecord[]> {
    return store.listSessions(this.#deps.database.pool, access.caller.principal.id);
  }

  /**
   * Ends one of the caller's sessions, also the one this is asked with: it stops working from the next request on, and its
   * streams end. Ending it again changes nothing. Throws DomainError not_found, also for another user's session.
   */
  async end(access: PersonAccess<'session.end'>, id: string): Promise<void> {
    await auditedFailure(this.#deps.audit, instanceCall(access), async (note) => {
      checkUuid('id', id);
      note({ sessionId: id });
      const userId = access.caller.principal.id;
      await changeJudgedFirst(this.#deps, access, {
        lock: async (tx) => void (await lockUser(tx, userId)),
        change: async (tx) => {
          const wasLive = await store.endSession(tx, userId, id);
          if (wasLive === undefined) {
            throw new DomainError('not_found', `session ${id} does not exist, or is not yours`);
          }
          if (wasLive) await notifyUsers(tx, [userId]);
          const more = wasLive ? {} : { alreadyEnded: true };
          return { result: undefined, audit: successRecord(instanceCall(access), { sessionId: id, ...more }) };
        },
      });
    });
  }

  /**
   * Ends all of the caller's sessions, also the one this is asked with, the links that the caller created, the invitations
   * that the caller sent, and the sign-in link that waits for the caller. The last one stays if the caller's credential goes
   * back to another user, whose hold of the user the link may be meant to end.
   */
  async endAll(access: PersonAccess<'session.end'>): Promise<void> {
    const { id: userId, tokenCreator } = access.caller.principal;
    await auditedFailure(this.#deps.audit, instanceCall(access), async () => {
      await changeJudgedFirst(this.#deps, access, {
        lock: async (tx) => void (await lockUser(tx, userId)),
        change: async (tx) => {
          const ended = await store.endSessions(tx, userId);
          const sent = await endSent(tx, userId, otherCreatorId(tokenCreator) === null ? 'all' : 'created');
          if (ended > 0) await notifyUsers(tx, [userId]);
          return { result: undefined, audit: successRecord(instanceCall(access), { ended, ...sent }) };
        },
      });
    });
  }

  /** A user's sessions that have not ended, newest first. Throws DomainError not_found for no such user. */
  async listOfUser(_access: InstanceAccess<'user.read'>, userId: string): Promise<readonly store.SessionRecord[]> {
    const { pool } = this.#deps.database;
    await checkUser(pool, userId);
    return store.listSessions(pool, userId);
  }

  /**
   * Ends all sessions of a user, the sign-in link that waits, the links that the user created, and the invitations that the
   * user sent. Throws DomainError not_found for no such user.
   */
  async endOfUser(access: InstanceAccess<'user.update'>, userId: string): Promise<void> {
    const call = { ...instanceCall(access), action: 'session.end' };
    await auditedFailure(this.#deps.audit, call, async (note) => {
      checkUuid('id', userId);
      note({ userId });
      let email: string | undefined;
      await changeJudgedFirst(this.#deps, access, {
        async lock(tx) {
          await lockUserChanges(tx);
          email = (await lockUser(tx, userId))?.email;
        },
        async change(tx) {
          if (email === undefined) throw absentUser(userId);
          const ended = await store.endSessions(tx, userId);
          const sent = await endSent(tx, userId, 'all');
          if (ended > 0) await notifyUsers(tx, [userId]);
          return { result: undefined, audit: successRecord(call, { userId, email, ended, ...sent }) };
        },
      });
    });
  }
}

/**
 * Ends the links that a user created, and withdraws the invitations that the user sent: a session that another person had
 * may have done that. `all`: also ends the link for the user, which could begin another session. Returns what the audit says.
 */
async function endSent(tx: Transaction, userId: string, which: 'all' | 'created'): Promise<AuditTarget> {
  const forUser = which === 'all' && (await endSignInLink(tx, userId)) ? 1 : 0;
  const signInLinks = forUser + (await endCreatedSignInLinks(tx, userId));
  const sentInvitations = await withdrawInvitationsBy(tx, userId);
  return { ...(signInLinks > 0 ? { signInLinks } : {}), ...(sentInvitations > 0 ? { sentInvitations } : {}) };
}
