import { randomUUID } from 'node:crypto';
import { generateToken, hashesEqual, parseToken, valuelessHash } from '../../crypto/token.ts';
import { DomainError } from '../../domain/errors/domain-error.ts';
import type { Plaintext } from '../../domain/plaintext.ts';
import { plainName } from '../../domain/principal.ts';
import type {
  FederateInput,
  LiveTokensAsked,
  LiveTokensPage,
  MintedToken,
  MintInput,
  MovedExpiry,
  SuspensionCause,
  TokenOrGone,
} from '../../domain/resources/tokens.ts';
import type { Database } from '../../store/database.ts';
import { notifyServiceTokens } from '../../store/notify.ts';
import { type LiveTokenRecord, listLiveTokens } from '../../store/live-tokens.ts';
import { claimOnce, noteClaimed, hasClaim } from '../../store/resource-claims.ts';
import { federateCredential, holdClusterIssuer } from '../../store/resource-federations.ts';
import {
  activateCredential,
  credentialHash,
  findResourceToken,
  findSerial,
  holdResourceToken,
  type PendingCredential,
  putPendingCredential,
  type ResourceTokenRecord,
  revokeCredential,
  setCredentialExpiry,
  setPermission,
  setSuspended,
} from '../../store/resource-tokens.ts';
import { insertServiceToken, revokeServiceToken } from '../../store/service-tokens.ts';
import type { Transaction } from '../../store/transaction.ts';
import { type AuditLog, auditRecord, type AuditTarget } from '../audit/audit-log.ts';
import { auditedFailure } from '../audit/audited.ts';
import { checkName, checkWhole } from '../kernel/checks.ts';
import { makeChange } from '../change/change.ts';
import type { GrowthBudget } from '../kernel/growth-budget.ts';
import type { OwnAccess, PlaceAccess } from './access.ts';
import {
  checkMintable,
  checkPlace,
  credentialOf,
  issuerUnknown,
  laterResource,
  revokedToken,
  scopeOf,
  subjectsOf,
  targetOf,
} from './token-rules.ts';

export interface ResourceTokensDeps {
  readonly database: Pick<Database, 'transactionPool' | 'pool'>;
  readonly audit: Pick<AuditLog, 'recordFailure'>;
  readonly budget: Pick<GrowthBudget, 'chargeEnd'>;
}

const maxSerial = 2_147_483_647;
const liveTokensPageSize = 1000;

/**
 * Service tokens of custom resources (docs/internals/kinds.md, "ServiceToken"): one for each resource, with
 * as many secret strings as it has had serials. Whatever crashes, a resource has one token and each serial one
 * secret: the claim of the resource is written with them, and a secret does not work before `activate` confirms that it
 * was stored. Every change is audited as `[Service Token]`, in its own transaction.
 */
export class ResourceTokens {
  readonly #deps: ResourceTokensDeps;

  constructor(deps: ResourceTokensDeps) {
    this.#deps = deps;
  }

  /** What the resource has; undefined if it never had a token. */
  async find({ owner }: OwnAccess<'service_token.read'>): Promise<TokenOrGone | undefined> {
    return findResourceToken(this.#deps.database.pool, owner);
  }

  /** Which serial of the resource's token a value is, live or not; undefined for anything else. */
  async serialOf({ owner }: OwnAccess<'service_token.read'>, token: Plaintext): Promise<number | undefined> {
    const hash = parseToken(token.reveal())?.hash;
    return hash === undefined ? undefined : findSerial(this.#deps.database.pool, owner, hash);
  }

  /**
   * Makes the secret of a serial, pending, and the token with the first; the permission becomes what the access is for.
   * A pending secret of that serial is replaced. Throws DomainError conflict for a serial that was activated, revoked
   * or passed over, a token that was revoked, purged or is for another place, and a resource that has ended; else as
   * `ResourceAccess`.
   */
  async mint(access: PlaceAccess<'service_token.create'>, input: MintInput): Promise<MintedToken> {
    const { serial, name, expiresAt } = input;
    const id = randomUUID();
    const { token, hash: tokenHash } = generateToken('service_token', id);
    const credential = { id, serial, tokenHash, expiresAt };
    const tokenId = await this.#create(access, input, async (tx) => this.#put(tx, access, { name, credential }));
    return { tokenId, serial, token };
  }

  /**
   * Makes a serial that JWTs of ServiceAccounts prove, as `mint` makes one with a secret, and live at once: there is nothing to
   * store. Throws as `mint`, and DomainError issuer_unknown before a controller reported the issuer of its cluster.
   */
  async federate(access: PlaceAccess<'service_token.create'>, input: FederateInput): Promise<void> {
    const { serial, name, expiresAt, serviceAccountNames } = input;
    const { principal } = access.caller;
    const claims = { sub: subjectsOf(principal, serviceAccountNames) };
    const id = randomUUID();
    const credential = { id, serial, tokenHash: valuelessHash(), expiresAt };
    await this.#create(access, input, async (tx) => {
      // The issuer before the token, as a change of the issuer that ends tokens.
      const issuer = await holdClusterIssuer(tx, principal.cluster);
      if (issuer === undefined) throw issuerUnknown(principal);
      const tokenId = await this.#put(tx, access, { name, credential });
      await activateCredential(tx, tokenId, serial);
      const federated = { id, tokenId, namespace: principal.namespace ?? '', name: plainName(principal.name) };
      if ((await federateCredential(tx, federated, { issuer, claims })) === undefined) throw laterResource(principal);
      return tokenId;
    });
  }

  /** Checks and audits the making of a serial. `make` returns the token's id. */
  async #create(
    access: PlaceAccess<'service_token.create'>,
    { serial, name, expiresAt, serviceAccountNames }: MintInput & Partial<FederateInput>,
    make: (tx: Transaction) => Promise<string>,
  ): Promise<string> {
    return auditedFailure(this.#deps.audit, access, async (note) => {
      note({ name, serial });
      checkName('name', name);
      checkWhole('serial', serial, { min: 1, max: maxSerial });
      return makeChange(this.#deps, access, async (tx) => {
        const result = await make(tx);
        const target = {
          ...access.target,
          serviceTokenId: result,
          name,
          serial,
          scope: scopeOf(access),
          permission: access.asked.permission,
          expiresAt: expiresAt?.toISOString() ?? null,
          ...(serviceAccountNames === undefined ? {} : { serviceAccountNames }),
        };
        return {
          result,
          audit: auditRecord(access.caller, { organizationId: access.organizationId, action: access.action, target }),
        };
      });
    });
  }

  async #put(
    tx: Transaction,
    access: PlaceAccess<'service_token.create'>,
    { name, credential }: { readonly name: string; readonly credential: PendingCredential },
  ): Promise<string> {
    const { organizationId, projectId, environmentId, owner, asked } = access;
    const { principal } = access.caller;
    const { type, id, name: creatorName } = principal;
    const claim = { operation: 'token', serial: 1, organizationId } as const;
    const isFirst = await claimOnce(tx, principal, claim);
    const held = await holdResourceToken(tx, owner);
    if (await hasClaim(tx, principal, 'token_end')) throw new DomainError('conflict', `${principal.name} has ended`);
    if (held !== undefined) {
      checkMintable(held, access, credential.serial);
      await putPendingCredential(tx, held.tokenId, credential);
      await setPermission(tx, held.tokenId, asked.permission);
      if (held.permission !== asked.permission) await notifyToken(tx, held);
      return held.tokenId;
    }
    if (!isFirst) throw new DomainError('conflict', `what the token of ${principal.name} was for was purged`);
    const tokenId = randomUUID();
    await insertServiceToken(tx, {
      id: tokenId,
      organizationId,
      name,
      scope: scopeOf(access),
      projectId,
      environmentId,
      permission: asked.permission,
      creator: { type, id, name: creatorName },
      credential: { ...credential, state: 'pending' },
    });
    await noteClaimed(tx, principal, claim, { serviceTokenId: tokenId });
    return tokenId;
  }

  /**
   * Makes a serial live, given the secret that was minted for it. If it is live already, nothing changes.
   * Throws DomainError conflict for another secret, and for a serial or token that was revoked; not_found for a serial
   * that never existed.
   */
  async activate(access: OwnAccess<'service_token.activate'>, serial: number, token: Plaintext): Promise<void> {
    await this.#changeOwn(access, { serial }, async (tx, held) => {
      if (held === undefined) throw new DomainError('not_found', `${access.caller.principal.name} has no token`);
      const credential = credentialOf(held, serial);
      if (credential === undefined) throw new DomainError('not_found', `the token has no serial ${serial}`);
      const parsed = parseToken(token.reveal());
      const stored = await credentialHash(tx, held.tokenId, serial);
      if (parsed === undefined || stored === undefined || !hashesEqual(parsed.hash, stored.tokenHash)) {
        throw new DomainError('conflict', `this is not the secret of serial ${serial}; mint the next one`);
      }
      if (held.revokedAt !== null) throw revokedToken(held);
      if (credential.revokedAt !== null) throw new DomainError('conflict', `serial ${serial} was revoked`);
      if (credential.state === 'active') return undefined;
      await activateCredential(tx, held.tokenId, serial);
      return held;
    });
  }

  /** Ends one serial at once. Does nothing for one that has ended or never existed. */
  async revokeSerial(access: OwnAccess<'service_token.revoke'>, serial: number): Promise<void> {
    await this.#changeOwn(access, { serial }, async (tx, held) => {
      return held !== undefined && (await revokeCredential(tx, held.tokenId, serial)) ? held : undefined;
    });
  }

  /**
   * Ends the resource's token for good, at once; from here on nothing is made for the resource, also by a call that
   * began before. Needs no grant. A second call changes nothing.
   */
  async revoke(access: OwnAccess<'service_token.revoke'>): Promise<void> {
    const { owner, caller } = access;
    await this.#changeOwn(access, {}, async (tx, known) => {
      // A call that mints the first serial at this moment comes before this or sees the end.
      const once = { serial: 1, organizationId: known?.organizationId ?? null };
      const isNew = await claimOnce(tx, caller.principal, { operation: 'token', ...once });
      if (isNew && known === undefined) this.#deps.budget.chargeEnd(owner.cluster);
      const held = known ?? (await holdResourceToken(tx, owner));
      await claimOnce(tx, caller.principal, { operation: 'token_end', ...once });
      if (held === undefined) return undefined;
      const revoked = await revokeServiceToken(
        tx,
        { organizationId: held.organizationId, projectId: null },
        held.tokenId,
      );
      return revoked?.wasLive === true ? held : undefined;
    });
  }

  /**
   * Stops a token from working until it is resumed. Returns whether that changed anything: a token that is suspended,
   * revoked or absent stays as it is.
   */
  async suspend(access: OwnAccess<'service_token.suspend'>, cause: SuspensionCause): Promise<boolean> {
    return await this.#changeOwn(access, { cause }, async (tx, held) => {
      return held !== undefined && (await setSuspended(tx, held.tokenId, true)) ? held : undefined;
    });
  }

  /**
   * The tokens of a cluster's ServiceTokens that work now, in pages; except those made in the last 5 minutes by the
   * database's clock, or all those of some namespaces. Without secrets. For the controller's sweep, which looks for those
   * whose ServiceToken or grant is gone.
   */
  async live(cluster: string, { namespaces, after }: LiveTokensAsked): Promise<LiveTokensPage<LiveTokenRecord>> {
    const limit = liveTokensPageSize;
    const tokens = await listLiveTokens(this.#deps.database.pool, { cluster, after, namespaces, limit });
    return { tokens, next: tokens.length < limit ? null : (tokens.at(-1)?.uid ?? null) };
  }

  /**
   * Lets a suspended token work again. Throws DomainError conflict if the token is for another place, or may do more
   * than the access is for (`update` first), and if it was revoked; not_found without a token.
   */
  async resume(access: PlaceAccess<'service_token.resume'>): Promise<void> {
    await this.#changeAtPlace(access, {}, async (tx, held) => {
      if (held.permission === 'read_write' && access.asked.permission === 'read') {
        throw new DomainError(
          'conflict',
          'the token has permission read_write, and read is asked for; change it first',
        );
      }
      return setSuspended(tx, held.tokenId, false);
    });
  }

  /**
   * Sets the token's permission to what the access is for, and the given ends of serials. Throws DomainError
   * as `resume`.
   */
  async update(access: PlaceAccess<'service_token.update'>, expiries: readonly MovedExpiry[] = []): Promise<void> {
    const more = {
      permission: access.asked.permission,
      ...(expiries.length === 0
        ? {}
        : { expiries: expiries.map(({ serial, expiresAt }) => `${serial}: ${expiresAt?.toISOString() ?? 'never'}`) }),
    };
    await this.#changeAtPlace(access, more, async (tx, held) => {
      const moved = expiries.filter(({ serial, expiresAt }) => {
        const credential = credentialOf(held, serial);
        return credential !== undefined && credential.expiresAt?.getTime() !== expiresAt?.getTime();
      });
      for (const expiry of moved) await setCredentialExpiry(tx, held.tokenId, expiry);
      await setPermission(tx, held.tokenId, access.asked.permission);
      return moved.length > 0 || held.permission !== access.asked.permission;
    });
  }

  /**
   * A change of what the resource owns. `change` returns the token that it changed: only then the change is
   * notified and audited, and true is returned.
   */
  async #changeOwn(
    access: OwnAccess<'service_token.activate' | 'service_token.revoke' | 'service_token.suspend'>,
    more: AuditTarget,
    change: (tx: Transaction, held: ResourceTokenRecord | undefined) => Promise<ResourceTokenRecord | undefined>,
  ): Promise<boolean> {
    const { caller, action, owner } = access;
    const found = await findResourceToken(this.#deps.database.pool, owner);
    const known = found === 'gone' ? undefined : found;
    const call = {
      caller,
      action,
      organizationId: known?.organizationId ?? null,
      target: { ...targetOf(known), ...more },
    };
    return await auditedFailure(this.#deps.audit, call, () =>
      makeChange(this.#deps, access, async (tx) => {
        const changed = await change(tx, await holdResourceToken(tx, owner));
        if (changed === undefined) return { result: false, audit: null };
        const { organizationId } = changed;
        await notifyToken(tx, changed);
        const target = { ...targetOf(changed), ...more };
        return { result: true, audit: auditRecord(caller, { action, organizationId, target }) };
      }),
    );
  }

  /** Like `#changeOwn`, for what a grant must cover, at the end of the change too. */
  async #changeAtPlace(
    access: PlaceAccess<'service_token.resume' | 'service_token.update'>,
    more: AuditTarget,
    change: (tx: Transaction, held: ResourceTokenRecord) => Promise<boolean>,
  ): Promise<void> {
    const { caller, action, owner, organizationId } = access;
    await auditedFailure(this.#deps.audit, access, () =>
      makeChange(this.#deps, access, async (tx) => {
        const held = await holdResourceToken(tx, owner);
        if (held === undefined) throw new DomainError('not_found', `${caller.principal.name} has no token`);
        checkPlace(held, access);
        if (held.revokedAt !== null) throw revokedToken(held);
        if (!(await change(tx, held))) return { result: undefined, audit: null };
        await notifyToken(tx, held);
        const target = { ...access.target, ...targetOf(held), ...more };
        return { result: undefined, audit: auditRecord(caller, { action, organizationId, target }) };
      }),
    );
  }
}

async function notifyToken(tx: Transaction, { organizationId, tokenId }: ResourceTokenRecord): Promise<void> {
  await notifyServiceTokens(tx, [{ organizationId, serviceTokenId: tokenId }]);
}
