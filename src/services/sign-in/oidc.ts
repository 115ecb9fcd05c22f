import { randomUUID } from 'node:crypto';
import type { ErrorCode } from '../../domain/errors/catalogue.ts';
import { DomainError } from '../../domain/errors/domain-error.ts';
import { creatorOfNewToken } from '../../domain/impersonation.ts';
import { limits } from '../../domain/limits.ts';
import type { Plaintext } from '../../domain/plaintext.ts';
import { type Actor, type Caller, maySetUpSignIn, type UserPrincipal } from '../../domain/principal.ts';
import { hashesEqual } from '../../crypto/token.ts';
import { type Issuer, type IssuerClaims, IssuerError, type IssuerFault } from '../../identity/issuer.ts';
import type { Logger } from '../../observability/logger.ts';
import { appendAudit } from '../../store/audit.ts';
import { findCredentials } from '../../store/credentials.ts';
import type { Database } from '../../store/database.ts';
import * as identities from '../../store/identities.ts';
import { notifyUsers } from '../../store/notify.ts';
import { insertSignInFlow, type KeptFlow, takeSignInFlow } from '../../store/sign-in-flows.ts';
import { inTransaction } from '../../store/transaction.ts';
import { lockUser } from '../../store/users.ts';
import type { Access, PersonAccess } from '../access/access.ts';
import type { AuditLog, AuditRecord, AuditTarget } from '../audit/audit-log.ts';
import { successRecord } from '../audit/audited.ts';
import { changeJudgedFirst } from '../change/change.ts';
import { delegatorsOfNew } from '../kernel/delegators.ts';
import { auditInOrganizations } from '../tokens/issue-personal-token.ts';
import { accountOf, actorOf } from './account.ts';
import { beginSession, formerSessionId } from './begin-session.ts';
import { FlowSecret } from './flow-secret.ts';
import { groupsOf } from './issuer-groups.ts';
import { isReturnPath } from './return-path.ts';
import { recordOf, unknownPerson } from './sign-in-record.ts';
import { type SignInFault, SignInRefusal } from './sign-in-refusal.ts';

/** The facts of a request that the audit and the session record. */
export interface SignInRequest {
  readonly requestId: string;
  readonly sourceAddress: string | null;
  readonly userAgent: string | undefined;
}

export interface OidcStart {
  /** A path on this server; `/` by default. */
  readonly returnTo?: string | undefined;
  /** Whether the issuer must ask the user again, for what needs a recent sign-in. */
  readonly fresh?: boolean;
  /** Links the identity to the user of this session. */
  readonly link?: PersonAccess<'identity.link'> | undefined;
  /** The token of the session that the browser has, if any. */
  readonly formerSession?: string | undefined;
}

export interface StartedFlow {
  /** The address at the issuer to which the browser goes. */
  readonly url: URL;
  /** For the cookie that brings the flow back. */
  readonly secret: Plaintext;
}

export interface FinishedFlow {
  readonly returnTo: string;
  /** The token of the new session; undefined if an identity was linked. */
  readonly sessionToken?: Plaintext;
}

export interface OidcSignInOptions {
  /** The name of the issuer for users. */
  readonly name: string;
  /** Null for no groups. */
  readonly groupsClaim: string | null;
  readonly groupsMaxAgeMs: number;
}

export interface OidcSignInDeps {
  readonly database: Pick<Database, 'transactionPool' | 'pool'>;
  readonly audit: Pick<AuditLog, 'record'>;
  readonly access: Pick<Access, 'person'>;
  readonly issuer: Issuer;
  readonly logger: Logger;
}

/** Where the issuer sends browsers back to: below the public address of the server. */
export const oidcCallbackPath = '/sign-in/oidc/callback';

/** One request that comes back from the issuer, with its flow. */
interface Attempt {
  readonly flow: KeptFlow;
  readonly claims: IssuerClaims;
  readonly request: SignInRequest;
}

const faults: Readonly<Record<IssuerFault, SignInFault>> = {
  unavailable: 'issuer_unavailable',
  refused: 'issuer_refused',
  code_refused: 'code_refused',
  invalid: 'response_invalid',
};

/** What a session that is too old or has ended gets. */
const endedCodes: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['unauthenticated', 'recent_sign_in_required']);

/**
 * Sign-in with OpenID Connect (docs/internals/sign-in.md). What a flow needs is in the database and in the cookie of its
 * browser, so that another replica can finish it.
 */
export class OidcSignIn {
  readonly name: string;
  readonly #deps: OidcSignInDeps;
  readonly #options: OidcSignInOptions;

  constructor(deps: OidcSignInDeps, options: OidcSignInOptions) {
    this.name = options.name;
    this.#deps = deps;
    this.#options = options;
  }

  /**
   * Starts a flow. Throws SignInRefusal invalid_return for another host, and issuer_unavailable; DomainError
   * store_unavailable.
   */
  async start({ returnTo = '/', fresh = false, link, formerSession }: OidcStart): Promise<StartedFlow> {
    if (!isReturnPath(returnTo)) throw new SignInRefusal('invalid_return');
    const sessionId =
      link === undefined ? (formerSessionId(formerSession) ?? null) : link.caller.principal.credentialId;
    const secret = FlowSecret.generate();
    const url = await this.#asked(() => this.#deps.issuer.authorizationUrl(secret.secrets, { fresh }));
    const flow = { secretHash: secret.hash, returnTo, fresh, link: link !== undefined, sessionId };
    await insertSignInFlow(this.#deps.database.pool, 'oidc', flow);
    return { url, secret: secret.text };
  }

  /**
   * Finishes a flow with the request that the issuer sent the browser back with. The flow ends, whatever comes of it, so
   * neither cookie nor response can be used again. Throws SignInRefusal, which is audited if the flow is known; DomainError
   * store_unavailable.
   */
  async finish(cookie: string | undefined, query: string, request: SignInRequest): Promise<FinishedFlow> {
    const secret = cookie === undefined ? undefined : FlowSecret.parse(cookie);
    const flow = secret && (await takeSignInFlow(this.#deps.database.pool, 'oidc', secret.hash));
    // Also the request that another site causes with a code of its own.
    if (secret === undefined || flow === undefined) throw new SignInRefusal('unknown_flow');
    try {
      const claims = await this.#redeem(secret, flow, query);
      const attempt = { flow, claims, request };
      return flow.link ? await this.#link(attempt) : await this.#signIn(attempt);
    } catch (error) {
      if (error instanceof SignInRefusal) await this.#auditRefusal(error, flow, request);
      throw error;
    }
  }

  /** Applies a lower limit of this server to the groups of earlier sign-ins. */
  async shortenGroups(): Promise<void> {
    await inTransaction(this.#deps.database, async (tx) => {
      const userIds = await identities.shortenGroups(tx, this.#options.groupsMaxAgeMs);
      await notifyUsers(tx, userIds);
    });
  }

  async #redeem({ secrets }: FlowSecret, { fresh }: KeptFlow, query: string): Promise<IssuerClaims> {
    // The library compares it too. Here it is known which check failed.
    const states = new URLSearchParams(query).getAll('state');
    const isSame = states.length === 1 && hashesEqual(Buffer.from(states[0] ?? ''), Buffer.from(secrets.state));
    if (!isSame) throw new SignInRefusal('state_mismatch');
    const claims = await this.#asked(() => this.#deps.issuer.redeem(query, secrets));
    if (!/^[^\p{Cc}]{1,255}$/u.test(claims.subject)) throw new SignInRefusal('response_invalid');
    if (fresh && !isRecent(claims.authTime)) throw new SignInRefusal('not_fresh');
    return claims;
  }

  async #signIn({ flow, claims, request }: Attempt): Promise<FinishedFlow> {
    const { groupsClaim, groupsMaxAgeMs } = this.#options;
    const { groups, invalid } = groupsOf(claims.claims, groupsClaim);
    if (invalid > 0) this.#deps.logger.warn({ invalid }, 'the issuer sent groups that cannot be names of groups');
    const { sourceAddress, userAgent } = request;
    return inTransaction(this.#deps.database, async (tx) => {
      const { identity, user, isNew } = await accountOf(tx, claims);
      const actor = actorOf(user);
      if (user.disabledAt !== null) throw new SignInRefusal('user_disabled', { user: actor });
      await identities.noteSignIn(tx, identity, { groups, groupsMaxAgeMs });
      const proof = { identityId: identity.id, authTime: claims.authTime };
      const formerId = flow.sessionId ?? undefined;
      const { session, token } = await beginSession(tx, { userId: user.id, proof, formerId, sourceAddress, userAgent });
      const about = { ...this.#about(), identityId: identity.id };
      const record = { ...recordOf(request), actor, outcome: 'success' } as const;
      if (isNew) {
        const target = { ...about, userId: user.id, email: user.email, instanceAdmin: false };
        await appendAudit(tx, { ...record, action: 'user.create', target });
      }
      const target = { ...about, sessionId: session.id, groups: groups.length };
      await appendAudit(tx, { ...record, action: 'session.create', target });
      return { returnTo: flow.returnTo, sessionToken: token };
    });
  }

  /** Links the identity to the user of the session that started the flow. */
  async #link({ flow, claims, request }: Attempt): Promise<FinishedFlow> {
    const caller = await this.#sessionUser(flow, request);
    try {
      await this.#linkTo(await this.#deps.access.person(caller, 'identity.link'), claims);
    } catch (error) {
      const ended = error instanceof DomainError && endedCodes.has(error.code) && !(error instanceof SignInRefusal);
      throw ended ? new SignInRefusal('session_ended', { user: caller.principal, cause: error }) : error;
    }
    return { returnTo: flow.returnTo };
  }

  async #linkTo(access: PersonAccess<'identity.link'>, claims: IssuerClaims): Promise<void> {
    const { caller, action } = access;
    const user = caller.principal;
    const userId = user.id;
    const { issuer, subject } = claims;
    const linked = (identityId: string, more: AuditTarget = {}): AuditRecord =>
      successRecord({ caller, organizationId: null, action, target: { ...this.#about(), identityId } }, more);
    await changeJudgedFirst(this.#deps, access, {
      lock: async (tx) => void (await lockUser(tx, userId)),
      change: async (tx) => {
        const known = await identities.findIdentity(tx, claims);
        if (known?.userId === userId) return { result: undefined, audit: linked(known.id, { alreadyLinked: true }) };
        if (known !== undefined) throw new SignInRefusal('identity_taken', { user });
        if (await identities.hasIdentity(tx, userId, issuer)) throw new SignInRefusal('identity_present', { user });
        if (!maySetUpSignIn(user)) throw new SignInRefusal('token_expires', { user });
        const creator = creatorOfNewToken(user, userId);
        const delegators = await delegatorsOfNew(tx, user, userId);
        const identity = { id: randomUUID(), userId, issuer, subject, creator, delegators };
        if (!(await identities.insertIdentity(tx, identity))) throw new SignInRefusal('identity_taken', { user });
        const audit = linked(identity.id);
        // Another person, whose token this was, can act as the user from now on.
        if (creator.actor?.id !== userId) await auditInOrganizations(tx, audit, userId);
        return { result: undefined, audit };
      },
    });
  }

  /** The user of the session that started a flow to link. Throws SignInRefusal if the session has ended. */
  async #sessionUser(
    { sessionId }: KeptFlow,
    { requestId, sourceAddress }: SignInRequest,
  ): Promise<Caller<UserPrincipal>> {
    const [found] = await findCredentials(this.#deps.database.pool, 'session', sessionId === null ? [] : [sessionId]);
    if (found?.principal.type !== 'user') throw new SignInRefusal('session_ended');
    const { principal } = found;
    if (found.fault !== null) throw new SignInRefusal('session_ended', { user: principal });
    return { principal, requestId, sourceAddress };
  }

  /** Asks the issuer. Throws SignInRefusal for each of its errors. */
  async #asked<T>(ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof IssuerError)) throw error;
      const { fault, code } = error;
      this.#deps.logger.warn({ fault, code, issuer: this.#deps.issuer.host }, 'a sign-in failed at the issuer');
      throw new SignInRefusal(faults[fault], { cause: error });
    }
  }

  async #auditRefusal(
    { fault, user = unknownPerson }: SignInRefusal,
    { link }: KeptFlow,
    request: SignInRequest,
  ): Promise<void> {
    const outcome = fault === 'issuer_unavailable' ? 'failed' : 'denied';
    const action = link ? 'identity.link' : 'session.create';
    const { type, id, name }: Actor = user;
    const target = { ...this.#about(), fault };
    await this.#deps.audit.record({ ...recordOf(request), actor: { type, id, name }, action, target, outcome });
  }

  /** What each audit entry says. The host of the issuer, because its path may be long. */
  #about(): AuditTarget {
    return { signedInWith: 'oidc', issuer: this.#deps.issuer.host };
  }
}

/** Whether a user proved who they are within the time that actions allow which need a recent sign-in. */
function isRecent(authTime: number | null): boolean {
  return authTime !== null && authTime * 1000 > Date.now() - limits.recentSignInMinutes * 60_000;
}
