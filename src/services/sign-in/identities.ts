import { DomainError } from '../../domain/errors/domain-error.ts';
import type { Database } from '../../store/database.ts';
import * as store from '../../store/identities.ts';
import { notifyUsers } from '../../store/notify.ts';
import { lockUser, lockUserChanges, type UserRecord } from '../../store/users.ts';
import type { InstanceAccess, PersonAccess } from '../access/access.ts';
import { requireRecentSignIn } from '../access/refusals.ts';
import type { AuditLog } from '../audit/audit-log.ts';
import { type AuditedCall, auditedFailure, successRecord } from '../audit/audited.ts';
import { changeJudgedFirst } from '../change/change.ts';
import { checkUuid } from '../kernel/checks.ts';
import { absentUser, checkUser } from '../people/user-refs.ts';

export type { IdentityRecord } from '../../store/identities.ts';

export interface IdentitiesDeps {
  readonly database: Pick<Database, 'transactionPool' | 'pool'>;
  readonly audit: Pick<AuditLog, 'recordFailure'>;
}

/** The accounts at issuers of OpenID Connect with which users sign in (docs/interface.md, "Sessions"). */
export class Identities {
  readonly #deps: IdentitiesDeps;

  constructor(deps: IdentitiesDeps) {
    this.#deps = deps;
  }

  /** The caller's identities, newest first. */
  async list(access: PersonAccess<'identity.list'>): Promise<readonly store.IdentityRecord[]> {
    return store.listIdentities(this.#deps.database.pool, access.caller.principal.id);
  }

  /**
   * Unlinks one of the caller's identities: its sessions end, and the groups of its sign-ins no longer count. Throws
   * DomainError not_found, also for another user's identity.
   */
  async unlink(access: PersonAccess<'identity.unlink'>, id: string): Promise<void> {
    await this.#unlink(access, access.caller.principal.id, id);
  }

  /** A user's identities, newest first. Throws DomainError not_found for no such user. */
  async listOfUser(_access: InstanceAccess<'user.read'>, userId: string): Promise<readonly store.IdentityRecord[]> {
    const { pool } = this.#deps.database;
    await checkUser(pool, userId);
    return store.listIdentities(pool, userId);
  }

  /** Unlinks an identity of a user, like `unlink`. In a session it needs a recent sign-in. */
  async unlinkOfUser(access: InstanceAccess<'user.update'>, userId: string, id: string): Promise<void> {
    await this.#unlink(access, userId, id);
  }

  async #unlink(
    access: PersonAccess<'identity.unlink'> | InstanceAccess<'user.update'>,
    userId: string,
    id: string,
  ): Promise<void> {
    const { caller } = access;
    const call: AuditedCall = { caller, organizationId: null, action: 'identity.unlink', target: {} };
    await auditedFailure(this.#deps.audit, call, async (note) => {
      checkUuid('id', userId);
      checkUuid('identity', id);
      note({ userId, identityId: id });
      let user: UserRecord | undefined;
      await changeJudgedFirst(this.#deps, access, {
        async lock(tx) {
          if (userId !== caller.principal.id) await lockUserChanges(tx);
          user = await lockUser(tx, userId);
        },
        async change(tx) {
          if (access.action === 'user.update') requireRecentSignIn(access, 'unlinking an account of a user');
          if (user === undefined) throw absentUser(userId);
          const endedSessions = await store.endSessionsOfIdentity(tx, userId, id);
          const unlinked = await store.deleteIdentity(tx, userId, id);
          if (unlinked === undefined) throw absentIdentity(id);
          // The groups came with a sign-in.
          if (unlinked.lastSignInAt !== null) await store.deleteGroups(tx, userId);
          await notifyUsers(tx, [userId]);
          const issuer = new URL(unlinked.issuer).host;
          const target = { userId, email: user.email, identityId: id, issuer, endedSessions };
          return { result: undefined, audit: successRecord(call, target) };
        },
      });
    });
  }
}

function absentIdentity(id: string): DomainError {
  return new DomainError('not_found', `identity ${id} does not exist, or is another user's`);
}
