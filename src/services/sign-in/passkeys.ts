import { randomUUID } from 'node:crypto';
import { DomainError } from '../../domain/errors/domain-error.ts';
import { creatorOfNewToken } from '../../domain/impersonation.ts';
import { limits } from '../../domain/limits.ts';
import type { Plaintext } from '../../domain/plaintext.ts';
import { maySetUpSignIn, type UserPrincipal } from '../../domain/principal.ts';
import {
  passkeyAlgorithms,
  PasskeyError,
  type RegisteredPasskey,
  type RegistrationResponse,
  type RelyingParty,
} from '../../identity/relying-party.ts';
import type { Database } from '../../store/database.ts';
import { notifyUsers } from '../../store/notify.ts';
import * as store from '../../store/passkeys.ts';
import { insertSignInFlow, takeSignInFlow } from '../../store/sign-in-flows.ts';
import type { Transaction } from '../../store/transaction.ts';
import { lockUser, lockUserChanges, type UserRecord } from '../../store/users.ts';
import type { InstanceAccess, PersonAccess } from '../access/access.ts';
import { requireRecentSignIn } from '../access/refusals.ts';
import type { AuditLog, AuditTarget } from '../audit/audit-log.ts';
import { type AuditedCall, auditedFailure, instanceCall, type Note, successRecord } from '../audit/audited.ts';
import { changeJudgedFirst } from '../change/change.ts';
import { checkName, checkUuid } from '../kernel/checks.ts';
import { delegatorsOfNew } from '../kernel/delegators.ts';
import { absentUser, checkUser } from '../people/user-refs.ts';
import { auditInOrganizations } from '../tokens/issue-personal-token.ts';
import { FlowSecret } from './flow-secret.ts';
import { signInOtherwise } from './sign-in-refusal.ts';

export type { PasskeyRecord } from '../../store/passkeys.ts';

/** Why this server has no passkeys. */
export type PasskeysOff = 'no_public_url' | 'ip_address';

export interface PasskeysDeps {
  readonly database: Pick<Database, 'transactionPool' | 'pool'>;
  readonly audit: Pick<AuditLog, 'recordFailure'>;
  /** Or why there is none. */
  readonly relyingParty: RelyingParty | PasskeysOff;
}

/** The options for `navigator.credentials.create`. */
export interface RegistrationOptions {
  readonly challenge: string;
  readonly user: { readonly id: string; readonly name: string };
  readonly rpId: string;
  readonly algorithms: readonly number[];
  /** Milliseconds. */
  readonly timeout: number;
  /** The passkeys that the user has. */
  readonly known: readonly { readonly id: string; readonly transports: readonly string[] }[];
}

export interface StartedRegistration {
  readonly options: RegistrationOptions;
  /** For the cookie that brings the flow back. */
  readonly secret: Plaintext;
}

export interface Registration {
  readonly name: string;
  readonly response: RegistrationResponse;
  /** The secret of the flow, if the browser sent one. */
  readonly cookie: string | undefined;
}

type ChangingAccess = PersonAccess<'passkey.remove'> | PersonAccess<'passkey.confirm'> | InstanceAccess<'user.update'>;

/** The passkeys with which users sign in (docs/interface.md, "Passkeys"). */
export class Passkeys {
  readonly #deps: PasskeysDeps;

  constructor(deps: PasskeysDeps) {
    this.#deps = deps;
  }

  /** The caller's passkeys, newest first. */
  async list(access: PersonAccess<'passkey.list'>): Promise<readonly store.PasskeyRecord[]> {
    return store.listPasskeys(this.#deps.database.pool, access.caller.principal.id);
  }

  /**
   * Starts a registration in the caller's session. Throws DomainError forbidden if this server has no passkeys, and in a
   * session that began with a personal token that expires.
   */
  async start(access: PersonAccess<'passkey.create'>): Promise<StartedRegistration> {
    return auditedFailure(this.#deps.audit, instanceCall(access), async () => {
      const { id: userId, name, credentialId: sessionId } = access.caller.principal;
      const { id: rpId } = this.#relyingParty();
      requireLastingSession(access.caller.principal);
      const { pool } = this.#deps.database;
      const known = await store.knownCredentials(pool, userId, rpId);
      const secret = FlowSecret.generate();
      const flow = { secretHash: secret.hash, returnTo: '/', fresh: false, link: false, sessionId };
      await insertSignInFlow(pool, 'passkey_registration', flow);
      const options = {
        challenge: secret.challenge,
        user: { id: userHandleOf(userId), name },
        rpId,
        algorithms: passkeyAlgorithms,
        timeout: limits.passkeyChallengeMinutes * 60_000,
        known: known.map(({ credentialId, transports }) => ({ id: base64urlOf(credentialId), transports })),
      };
      return { options, secret: secret.text };
    });
  }

  /**
   * Registers a passkey for the caller, in the session that started it. Throws DomainError forbidden as `start` does and for a
   * response that does not fit, conflict for an authenticator that is registered already, quota_exceeded.
   */
  async register(
    access: PersonAccess<'passkey.create'>,
    { name, response, cookie }: Registration,
  ): Promise<store.PasskeyRecord> {
    const { principal } = access.caller;
    const userId = principal.id;
    return auditedFailure(this.#deps.audit, instanceCall(access), async (note) => {
      checkName('name', name);
      const { id: rpId } = this.#relyingParty();
      requireLastingSession(principal);
      const registered = await this.#verified({ response, cookie, sessionId: principal.credentialId }, note);
      return changeJudgedFirst(this.#deps, access, {
        lock: async (tx) => void (await lockUser(tx, userId)),
        change: async (tx) => {
          await requireRoom(tx, userId);
          const creator = creatorOfNewToken(principal, userId);
          const delegators = await delegatorsOfNew(tx, principal, userId);
          const id = randomUUID();
          const passkey = { id, userId, ...registered, rpId, name, creator, delegators };
          const result = await store.insertPasskey(tx, passkey);
          if (result === undefined) throw alreadyRegistered();
          const target = { passkeyId: id, name, rpId, backedUp: registered.backedUp };
          const audit = successRecord(instanceCall(access), target);
          // Another person, whose token this was, can act as the user from now on.
          if (creator.actor?.id !== userId) await auditInOrganizations(tx, audit, userId);
          return { result, audit };
        },
      });
    });
  }

  /**
   * Removes one of the caller's passkeys, and ends its sessions. Throws DomainError not_found, also for another user's passkey.
   */
  async remove(access: PersonAccess<'passkey.remove'>, id: string): Promise<void> {
    await this.#remove(access, access.caller.principal.id, id);
  }

  /**
   * Confirms one of the caller's passkeys, so that it works again after a recovery. Throws DomainError not_found, and forbidden
   * in a session that began with this passkey.
   */
  async confirm(access: PersonAccess<'passkey.confirm'>, id: string): Promise<void> {
    await this.#confirm(access, access.caller.principal.id, id);
  }

  /** A user's passkeys, newest first. Throws DomainError not_found for no such user. */
  async listOfUser(_access: InstanceAccess<'user.read'>, userId: string): Promise<readonly store.PasskeyRecord[]> {
    const { pool } = this.#deps.database;
    await checkUser(pool, userId);
    return store.listPasskeys(pool, userId);
  }

  /** Removes a passkey of a user, like `remove`. In a session it needs a recent sign-in. */
  async removeOfUser(access: InstanceAccess<'user.update'>, userId: string, id: string): Promise<void> {
    await this.#remove(access, userId, id);
  }

  /** Confirms a passkey of a user, like `confirm`. In a session it needs a recent sign-in. */
  async confirmOfUser(access: InstanceAccess<'user.update'>, userId: string, id: string): Promise<void> {
    await this.#confirm(access, userId, id);
  }

  async #remove(access: ChangingAccess, userId: string, id: string): Promise<void> {
    await this.#change(access, { userId, id, action: 'passkey.remove' }, async (tx) => {
      const endedSessions = await store.endSessionsOfPasskey(tx, userId, id);
      const removed = await store.deletePasskey(tx, userId, id);
      if (removed === undefined) throw absentPasskey(id);
      if (endedSessions > 0) await notifyUsers(tx, [userId]);
      return { name: removed.name, endedSessions };
    });
  }

  async #confirm(access: ChangingAccess, userId: string, id: string): Promise<void> {
    const { principal } = access.caller;
    await this.#change(access, { userId, id, action: 'passkey.confirm' }, async (tx) => {
      if (await store.isSessionOfPasskey(tx, principal.credentialId, id)) {
        throw new DomainError('forbidden', 'a passkey cannot confirm itself; sign in another way and repeat it');
      }
      const confirmed = await store.confirmPasskey(tx, userId, id);
      if (confirmed === undefined) throw absentPasskey(id);
      return { name: confirmed.name, ...(confirmed.wasUnusable ? {} : { alreadyUsable: true }) };
    });
  }

  /** Makes a change of one passkey, and audits it. `work` returns what more the audit says of it. */
  async #change(
    access: ChangingAccess,
    { userId, id, action }: { readonly userId: string; readonly id: string; readonly action: string },
    work: (tx: Transaction) => Promise<AuditTarget>,
  ): Promise<void> {
    const { caller } = access;
    const call: AuditedCall = { caller, organizationId: null, action, target: {} };
    await auditedFailure(this.#deps.audit, call, async (note) => {
      checkUuid('id', userId);
      checkUuid('passkey', id);
      note({ userId, passkeyId: id });
      let user: UserRecord | undefined;
      await changeJudgedFirst(this.#deps, access, {
        async lock(tx) {
          if (userId !== caller.principal.id) await lockUserChanges(tx);
          user = await lockUser(tx, userId);
        },
        async change(tx) {
          if (access.action === 'user.update') requireRecentSignIn(access, 'changing the passkeys of a user');
          if (user === undefined) throw absentUser(userId);
          const more = await work(tx);
          const target = { userId, email: user.email, passkeyId: id, ...more };
          return { result: undefined, audit: successRecord(call, target) };
        },
      });
    });
  }

  /** The passkey that a response proves. The flow ends, whatever comes of it. Throws DomainError forbidden. */
  async #verified(
    { response, cookie, sessionId }: Omit<Registration, 'name'> & { readonly sessionId: string },
    note: Note,
  ): Promise<RegisteredPasskey> {
    const secret = cookie === undefined ? undefined : FlowSecret.parse(cookie);
    const flow = secret && (await takeSignInFlow(this.#deps.database.pool, 'passkey_registration', secret.hash));
    // Also a flow of another user or session in the same browser.
    if (secret === undefined || flow?.sessionId !== sessionId) {
      note({ fault: 'challenge_unknown' });
      throw new DomainError(
        'forbidden',
        `this registration was not started in this session, is finished already, or took longer than ${limits.passkeyChallengeMinutes} minutes; start it again`,
      );
    }
    try {
      return await this.#relyingParty().register(response, secret.challenge);
    } catch (error) {
      if (!(error instanceof PasskeyError)) throw error;
      note({ fault: error.fault });
      const detail = 'the response of the authenticator does not prove a passkey for this server; start it again';
      throw new DomainError('forbidden', detail, { cause: error });
    }
  }

  #relyingParty(): RelyingParty {
    const { relyingParty } = this.#deps;
    if (typeof relyingParty === 'string') throw passkeysOff(relyingParty);
    return relyingParty;
  }
}

/** DomainError forbidden: this server has no passkeys. */
export function passkeysOff(reason: PasskeysOff): DomainError {
  const why =
    reason === 'no_public_url'
      ? 'its administrator has not set KEYFRAME_PUBLIC_URL'
      : 'the host in its KEYFRAME_PUBLIC_URL is an IP address, for which browsers have no passkeys';
  return new DomainError('forbidden', `this server has no passkeys: ${why}`);
}

/** What an authenticator knows a user by: the 16 bytes of the id, as base64url. It reveals nothing else of the user. */
export function userHandleOf(userId: string): string {
  return Buffer.from(userId.replaceAll('-', ''), 'hex').toString('base64url');
}

function base64urlOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64url');
}

/** Throws DomainError forbidden in a session of a personal token that expires: a passkey would outlast it. */
function requireLastingSession(principal: UserPrincipal): void {
  if (maySetUpSignIn(principal)) return;
  throw new DomainError(
    'forbidden',
    `this session began with a personal token that expires, and a passkey would outlast it. ${signInOtherwise}`,
  );
}

async function requireRoom(tx: Transaction, userId: string): Promise<void> {
  if ((await store.countPasskeys(tx, userId)) < limits.passkeysPerUser) return;
  throw new DomainError(
    'quota_exceeded',
    `you have ${limits.passkeysPerUser} passkeys, which is the limit; remove one you do not use`,
  );
}

function alreadyRegistered(): DomainError {
  return new DomainError('conflict', 'this passkey is registered already');
}

function absentPasskey(id: string): DomainError {
  return new DomainError('not_found', `passkey ${id} does not exist, or is another user's`);
}
