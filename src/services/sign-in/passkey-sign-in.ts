import { limits } from '../../domain/limits.ts';
import type { Plaintext } from '../../domain/plaintext.ts';
import type { Actor } from '../../domain/principal.ts';
import {
  type AssertionResponse,
  PasskeyError,
  type PasskeyFault,
  type ProvenAssertion,
  type RelyingParty,
} from '../../identity/relying-party.ts';
import { appendAudit } from '../../store/audit.ts';
import type { Database } from '../../store/database.ts';
import * as store from '../../store/passkeys.ts';
import { insertSignInFlow, takeSignInFlow } from '../../store/sign-in-flows.ts';
import { inTransaction } from '../../store/transaction.ts';
import { lockUser } from '../../store/users.ts';
import type { AuditLog } from '../audit/audit-log.ts';
import { actorOf } from './account.ts';
import { beginSession, type CreatedSession, formerSessionId } from './begin-session.ts';
import { FlowSecret } from './flow-secret.ts';
import { userHandleOf } from './passkeys.ts';
import { recordOf, unknownPerson } from './sign-in-record.ts';
import { type SignInFault, SignInRefusal } from './sign-in-refusal.ts';

/** The facts of a request that the audit and the session record. */
export interface PasskeyRequest {
  readonly requestId: string;
  readonly sourceAddress: string | null;
  readonly userAgent: string | undefined;
  /** The token of the session that the browser has, if any. */
  readonly formerSession: string | undefined;
}

/** The options for `navigator.credentials.get`. They name no passkey: the authenticator shows those that it has. */
export interface AssertionOptions {
  readonly challenge: string;
  readonly rpId: string;
  /** Milliseconds. */
  readonly timeout: number;
  readonly userVerification: 'required';
}

export interface StartedAssertion {
  readonly options: AssertionOptions;
  /** For the cookie that brings the flow back. */
  readonly secret: Plaintext;
}

export interface PasskeySignInDeps {
  readonly database: Pick<Database, 'transactionPool' | 'pool'>;
  readonly audit: Pick<AuditLog, 'record'>;
  readonly relyingParty: RelyingParty;
}

interface Proven extends ProvenAssertion {
  readonly passkey: store.StoredPasskey;
}

const faults: Readonly<Record<PasskeyFault, SignInFault>> = {
  challenge_mismatch: 'challenge_mismatch',
  wrong_origin: 'wrong_origin',
  wrong_rp_id: 'wrong_rp_id',
  user_not_verified: 'user_not_verified',
  response_invalid: 'passkey_invalid',
};

const action = 'session.create';

/**
 * Sign-in with a passkey (docs/internals/sign-in.md). As with OpenID Connect, what a flow needs is in the database and in the
 * cookie of its browser, so that another replica can finish it.
 */
export class PasskeySignIn {
  /** The address at which passkeys work. */
  readonly origin: string;
  readonly #deps: PasskeySignInDeps;

  constructor(deps: PasskeySignInDeps) {
    this.origin = deps.relyingParty.origin;
    this.#deps = deps;
  }

  /** Starts a flow. Throws DomainError store_unavailable. */
  async start(): Promise<StartedAssertion> {
    const secret = FlowSecret.generate();
    const flow = { secretHash: secret.hash, returnTo: '/', fresh: false, link: false, sessionId: null };
    await insertSignInFlow(this.#deps.database.pool, 'passkey', flow);
    const timeout = limits.passkeyChallengeMinutes * 60_000;
    const options = {
      challenge: secret.challenge,
      rpId: this.#deps.relyingParty.id,
      timeout,
      userVerification: 'required',
    } as const;
    return { options, secret: secret.text };
  }

  /**
   * Finishes a flow with what the authenticator returned, and begins a session. The flow ends, whatever comes of it, so neither
   * cookie nor response can be used again. Throws SignInRefusal, which is audited if flow and passkey
   * are known: everyone can begin a flow. Throws DomainError store_unavailable.
   */
  async finish(
    cookie: string | undefined,
    response: AssertionResponse,
    request: PasskeyRequest,
  ): Promise<CreatedSession> {
    const secret = cookie === undefined ? undefined : FlowSecret.parse(cookie);
    const flow = secret && (await takeSignInFlow(this.#deps.database.pool, 'passkey', secret.hash));
    if (secret === undefined || flow === undefined) throw new SignInRefusal('challenge_unknown');
    const passkey = await store.findPasskey(this.#deps.database.pool, Buffer.from(response.id, 'base64url'));
    if (passkey === undefined) throw new SignInRefusal('passkey_unknown');
    try {
      return await this.#begin(await this.#prove(passkey, response, secret), request);
    } catch (error) {
      if (error instanceof SignInRefusal) await this.#auditRefusal(error, passkey, request);
      throw error;
    }
  }

  /** What the authenticator proves. Throws SignInRefusal. */
  async #prove(passkey: store.StoredPasskey, response: AssertionResponse, { challenge }: FlowSecret): Promise<Proven> {
    const { userHandle } = response.response;
    try {
      const proven = await this.#deps.relyingParty.assert(response, { challenge, publicKey: passkey.publicKey });
      if (userHandle !== userHandleOf(passkey.userId)) throw new SignInRefusal('user_handle_mismatch');
      return { ...proven, passkey };
    } catch (error) {
      if (!(error instanceof PasskeyError)) throw error;
      throw new SignInRefusal(faults[error.fault], { cause: error });
    }
  }

  async #begin({ passkey, counter, backedUp }: Proven, request: PasskeyRequest): Promise<CreatedSession> {
    const { sourceAddress, userAgent, formerSession } = request;
    const formerId = formerSessionId(formerSession);
    return inTransaction(this.#deps.database, async (tx) => {
      const user = await lockUser(tx, passkey.userId);
      // It may have been removed before the lock.
      if (user === undefined || !(await store.hasPasskey(tx, passkey))) throw new SignInRefusal('passkey_unknown');
      const actor = actorOf(user);
      if (user.disabledAt !== null) throw new SignInRefusal('user_disabled', { user: actor });
      const proof = { passkeyId: passkey.id };
      const created = await beginSession(tx, { userId: user.id, proof, formerId, sourceAddress, userAgent });
      const used = await store.usePasskey(tx, passkey.id, { counter, backedUp });
      if (used.unusableSince !== null) throw new SignInRefusal('passkey_unusable', { user: actor });
      if (!used.counted) throw new SignInRefusal('counter_went_back', { user: actor });
      const target = { signedInWith: 'passkey', passkeyId: passkey.id, sessionId: created.session.id };
      await appendAudit(tx, { ...recordOf(request), action, actor, outcome: 'success', target });
      return created;
    });
  }

  async #auditRefusal(
    { fault, user = unknownPerson }: SignInRefusal,
    passkey: store.StoredPasskey,
    request: PasskeyRequest,
  ): Promise<void> {
    const { type, id, name }: Actor = user;
    // The user whose passkey was presented, maybe by another person.
    const target = { signedInWith: 'passkey', passkeyId: passkey.id, userId: passkey.userId, fault };
    await this.#deps.audit.record({
      ...recordOf(request),
      action,
      actor: { type, id, name },
      target,
      outcome: 'denied',
    });
  }
}
