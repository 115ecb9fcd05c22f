import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import { hashesEqual, sha256 } from '../../crypto/token.ts';
import { DomainError, invalidField } from '../../domain/errors/domain-error.ts';
import { limits } from '../../domain/limits.ts';
import { Plaintext } from '../../domain/plaintext.ts';
import type { Caller, UserPrincipal } from '../../domain/principal.ts';
import { appendAudit } from '../../store/audit.ts';
import { credentialIsLive, findCredentials } from '../../store/credentials.ts';
import type { Database } from '../../store/database.ts';
import * as store from '../../store/login-requests.ts';
import { inTransaction } from '../../store/transaction.ts';
import { lockUser } from '../../store/users.ts';
import type { PersonAccess } from '../access/access.ts';
import { AuthenticationRefusal } from '../access/authentication.ts';
import { type AuditLog, auditRecord } from '../audit/audit-log.ts';
import { auditedFailure, instanceCall, successRecord } from '../audit/audited.ts';
import { changeJudgedFirst } from '../change/change.ts';
import { isUuid } from '../kernel/checks.ts';
import {
  auditedToken,
  auditInOrganizations,
  checkPersonalTokenInput,
  type CreatedPersonalToken,
  issuePersonalToken,
} from '../tokens/issue-personal-token.ts';

/** The facts of a request without a caller. */
export type AnonymousRequest = Pick<Caller, 'requestId' | 'sourceAddress'>;

export interface ApprovedLogin {
  /** For the browser to pass on to the command. */
  readonly code: Plaintext;
  readonly expiresAt: Date;
}

export interface DeviceLogin {
  /** With which the command asks for its token. */
  readonly deviceCode: string;
  /** What the user types. */
  readonly userCode: Plaintext;
  readonly expiresAt: Date;
}

export interface TokenRequest {
  /** The code that the browser passed on, or the code of the device. */
  readonly code: string;
  /** The secret of the command: its SHA-256 is the code challenge. */
  readonly codeVerifier: Plaintext;
  /** Name of the token. */
  readonly name: string;
}

export interface CommandLoginsDeps {
  readonly database: Pick<Database, 'transactionPool' | 'pool'>;
  readonly audit: Pick<AuditLog, 'recordFailure'>;
  /** Whether users may approve commands on other machines. */
  readonly allowsDevices: boolean;
}

// Without vowels, so that no code is a word (RFC 8628, section 6.1).
const letters = 'BCDFGHJKLMNPQRSTVWXZ';
const userCodeLength = 8;
const dayMs = 24 * 60 * 60 * 1000;

/**
 * Signs the command in: a user approves it in a browser, and it gets a personal token. On the machine of the browser, the
 * browser passes a code on (RFC 8252). On another machine, the user types a code (RFC 8628). Only the command that began
 * gets the token, because it alone knows the secret of its code challenge (RFC 7636).
 */
export class CommandLogins {
  readonly #deps: CommandLoginsDeps;

  constructor(deps: CommandLoginsDeps) {
    this.#deps = deps;
  }

  /**
   * Approves a command on the machine of the browser. Throws DomainError invalid_input for a challenge that is no SHA-256.
   */
  async approve(access: PersonAccess<'login.approve'>, codeChallenge: Uint8Array): Promise<ApprovedLogin> {
    return auditedFailure(this.#deps.audit, instanceCall(access), async () => {
      checkChallenge(codeChallenge);
      const { id: userId, credentialId: sessionId } = access.caller.principal;
      const code = new Plaintext(randomBytes(32).toString('base64url'));
      const id = randomUUID();
      return changeJudgedFirst(this.#deps, access, {
        lock: async (tx) => void (await lockUser(tx, userId)),
        change: async (tx) => {
          const codeHash = sha256(code.reveal());
          const request = { id, codeHash, codeChallenge, isDevice: false, sourceAddress: null, sessionId };
          const expiresAt = await store.insertLoginRequest(tx, request);
          return {
            result: { code, expiresAt },
            audit: successRecord(instanceCall(access), { loginId: id, device: false }),
          };
        },
      });
    });
  }

  /**
   * Begins the sign-in of a command on another machine. If too many wait, it displaces another one
   * (`store.insertLoginRequest`). Throws DomainError forbidden if the server allows none, invalid_input for a challenge
   * that is no SHA-256.
   */
  async beginDevice(request: AnonymousRequest, codeChallenge: Uint8Array): Promise<DeviceLogin> {
    if (!this.#deps.allowsDevices) throw devicesOff();
    checkChallenge(codeChallenge);
    const deviceCode = randomUUID();
    const userCode = newUserCode();
    const { sourceAddress } = request;
    const codeHash = sha256(userCode);
    const expiresAt = await inTransaction(this.#deps.database, (tx) =>
      store.insertLoginRequest(tx, {
        id: deviceCode,
        codeHash,
        codeChallenge,
        isDevice: true,
        sourceAddress,
        sessionId: null,
      }),
    );
    return { deviceCode, userCode: new Plaintext(userCode), expiresAt };
  }

  /** Where a command waits that a user is about to approve. Throws what `approveDevice` throws. */
  async findDevice(access: PersonAccess<'login.read'>, userCode: string): Promise<store.WaitingDevice> {
    return this.#withDevice(access, userCode, () => Promise.resolve());
  }

  /**
   * Approves a command on another machine. Throws DomainError not_found for a wrong code, and forbidden after
   * `limits.wrongCodesPerSession` of them in the session, and if the server allows none.
   */
  async approveDevice(access: PersonAccess<'login.approve'>, userCode: string): Promise<void> {
    await this.#withDevice(access, userCode, store.approveDevice);
  }

  async #withDevice(
    access: PersonAccess<'login.read'> | PersonAccess<'login.approve'>,
    userCode: string,
    work: typeof store.approveDevice,
  ): Promise<store.WaitingDevice> {
    return auditedFailure(this.#deps.audit, instanceCall(access), async () => {
      if (!this.#deps.allowsDevices) throw devicesOff();
      const { id: userId, credentialId: sessionId } = access.caller.principal;
      const codeHash = sha256(normalized(userCode));
      const found = await changeJudgedFirst(this.#deps, access, {
        lock: async (tx) => void (await lockUser(tx, userId)),
        change: async (tx) => {
          if ((await store.wrongCodesOf(tx, sessionId)) >= limits.wrongCodesPerSession) throw tooManyWrongCodes();
          const device = await store.holdWaitingDevice(tx, codeHash);
          // Committed, although the request fails.
          if (device === undefined) {
            await store.countWrongCode(tx, sessionId);
            return { result: undefined, audit: null };
          }
          await work(tx, device.id, sessionId);
          const target = { loginId: device.id, device: true, commandAddress: device.sourceAddress };
          return { result: device, audit: successRecord(instanceCall(access), target) };
        },
      });
      if (found === undefined) throw wrongUserCode();
      return found;
    });
  }

  /**
   * Creates the personal token of a command whose sign-in a user has approved; `pending` until then. The token ends after
   * `limits.loginTokenDays`, or with the token that the session of the user began with. Throws AuthenticationRefusal for a
   * code or secret that is wrong, was used or has ended, and if the session has ended; DomainError quota_exceeded.
   */
  async createToken(request: AnonymousRequest, wanted: TokenRequest): Promise<CreatedPersonalToken | 'pending'> {
    const { pool } = this.#deps.database;
    checkPersonalTokenInput({ name: wanted.name });
    const { code, codeVerifier, name } = wanted;
    const login = await store.findLoginRequest(pool, isUuid(code) ? { id: code } : { codeHash: sha256(code) });
    if (login === undefined || !hashesEqual(login.codeChallenge, sha256(codeVerifier.reveal()))) throw wrongCode();
    if (login.sessionId === null) return 'pending';
    const [session] = await findCredentials(pool, 'session', [login.sessionId]);
    if (session?.fault !== null || session.principal.type !== 'user') throw endedSession();
    const { principal } = session;
    const call = {
      caller: { ...request, principal },
      organizationId: null,
      action: 'personal_token.create',
      target: {},
    };
    return auditedFailure(this.#deps.audit, call, () =>
      inTransaction(this.#deps.database, async (tx) => {
        await lockUser(tx, principal.id);
        if (!(await store.finishLoginRequest(tx, login.id))) throw wrongCode();
        if (!(await credentialIsLive(tx, principal))) throw endedSession();
        const issue = {
          userId: principal.id,
          by: principal,
          input: { name },
          notAfter: endOf(principal, login.createdAt),
        };
        const created = await issuePersonalToken(tx, issue);
        const { isDevice: device, browserAddress } = login;
        const target = { ...auditedToken(created.record), loginId: login.id, device, browserAddress };
        const record = auditRecord(call.caller, { ...call, target });
        await appendAudit(tx, record);
        if (created.record.creator !== null) await auditInOrganizations(tx, record, principal.id);
        return created;
      }),
    );
  }
}

/** By the clock of the database, which set when the login was created. */
function endOf({ session }: UserPrincipal, createdAt: Date): Date {
  const end = new Date(createdAt.getTime() + limits.loginTokenDays * dayMs);
  return session !== undefined && session.tokensEndAt < end ? session.tokensEndAt : end;
}

function checkChallenge(codeChallenge: Uint8Array): void {
  if (codeChallenge.length !== 32) throw invalidField('codeChallenge', 'must be a SHA-256 as base64url (RFC 7636)');
}

function newUserCode(): string {
  return Array.from({ length: userCodeLength }, () => letters[randomInt(letters.length)]).join('');
}

/** Users may type a code in lower case, with or without a hyphen or spaces. */
function normalized(userCode: string): string {
  return userCode.toUpperCase().replaceAll(/[\s-]/g, '');
}

function devicesOff(): DomainError {
  return new DomainError(
    'forbidden',
    'this server does not sign in commands on other machines; use `keyframe login --token`',
  );
}

function wrongUserCode(): DomainError {
  const lifetime = `${limits.loginCodeMinutes} minutes`;
  return new DomainError(
    'not_found',
    `no command waits with this code; check it, or run the command again: a code works for ${lifetime}`,
  );
}

function tooManyWrongCodes(): DomainError {
  return new DomainError('forbidden', 'too many wrong codes were typed in this session; sign in again');
}

function wrongCode(): AuthenticationRefusal {
  return new AuthenticationRefusal('unknown', 'the code is wrong, was used, or has ended; run the command again');
}

function endedSession(): AuthenticationRefusal {
  return new AuthenticationRefusal('revoked', 'the session that approved the command has ended; run the command again');
}
