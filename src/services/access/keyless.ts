import { randomUUID } from 'node:crypto';
import { DomainError } from '../../domain/errors/domain-error.ts';
import type { ClusterCeiling } from '../../domain/cluster-ceiling.ts';
import { ceilingRefusal } from '../../domain/cluster-refusal.ts';
import { requireSyncGrant } from '../../domain/grant-refusal.ts';
import type { GrantNeed } from '../../domain/grants.ts';
import type { Actor, KeylessPrincipal } from '../../domain/principal.ts';
import { sha256 } from '../../lib/digest.ts';
import { findDeletion } from '../../store/access.ts';
import { findCeiling } from '../../store/cluster-ceilings.ts';
import type { Database } from '../../store/database.ts';
import {
  type AskedKeyless,
  createKeylessTokens,
  findKeylessTargets,
  type KeylessTarget,
  type KeylessToken,
  type NewKeylessToken,
} from '../../store/keyless-tokens.ts';
import type { EnvironmentAccess } from './access.ts';
import { type AuditLog, type AuditTarget, isDenial } from '../audit/audit-log.ts';
import { readerTarget } from '../audit/grouped-reads.ts';
import { checkSlug } from '../kernel/checks.ts';
import { keylessPrincipal, type SyncReader } from './cluster-access.ts';
import type { CredentialUsage } from './credential-usage.ts';
import { GroupedLookup } from '../kernel/grouped-lookup.ts';
import { absentPlace, keylessRevocation, replacedMeanwhile } from './refusals.ts';
import type { EnvironmentSlugs } from '../../domain/slugs.ts';
import { EnvironmentHandle } from './handles.ts';
import { ReportedDenials } from './reported-denials.ts';

/** An environment that a SecretSync may read. Nothing was created and no value read. */
export interface KeylessAdmission {
  readonly environmentId: string;
  /**
   * Gives access at the head that the admission saw if the token exists. Otherwise creates the token and looks again.
   * Throws what `KeylessAccess.admit` throws, and DomainError conflict if the environment was replaced meanwhile.
   */
  enter(): Promise<KeylessEntry>;
}

export interface KeylessEntry {
  readonly access: EnvironmentAccess<'secret.list', KeylessPrincipal>;
  readonly tokenId: string;
}

/** A DomainError token_revoked that knows the token and its environment. */
export class KeylessTokenRefusal extends DomainError {
  readonly tokenId: string;
  readonly environmentId: string;

  constructor(
    { tokenId, environmentId }: { readonly tokenId: string; readonly environmentId: string },
    detail: string,
  ) {
    super('token_revoked', detail);
    this.tokenId = tokenId;
    this.environmentId = environmentId;
  }
}

export interface KeylessAccessDeps {
  readonly database: Pick<Database, 'pool'>;
  readonly audit: Pick<AuditLog, 'record'>;
  readonly usage: Pick<CredentialUsage, 'note'>;
}

const action = 'secret.list';

/** A reader at a place. */
interface Reading {
  readonly reader: SyncReader;
  readonly slugs: EnvironmentSlugs;
}

/** Who was refused: the SecretSync itself, or the token that exists for it. */
interface Refused {
  readonly organizationId: string | null;
  readonly token: KeylessToken | undefined;
}

const unknownToken: Refused = { organizationId: null, token: undefined };

/**
 * Gives access to SecretSyncs that name no token: they read as the keyless token of their namespace for the environment
 * (docs/interface.md 2.4). The token is made when it is first needed. It has no credential: its rights are those of the
 * AccessGrants of the namespace, judged at each read. They end when the token is revoked.
 */
export class KeylessAccess {
  readonly #pool: Database['pool'];
  readonly #audit: KeylessAccessDeps['audit'];
  readonly #usage: KeylessAccessDeps['usage'];
  readonly #targets: GroupedLookup<AskedKeyless, KeylessTarget>;
  readonly #creations: GroupedLookup<NewKeylessToken, never>;
  readonly #denials = new ReportedDenials();

  constructor({ database: { pool }, audit, usage }: KeylessAccessDeps) {
    this.#pool = pool;
    this.#audit = audit;
    this.#usage = usage;
    this.#targets = new GroupedLookup({
      look: (asked) => findKeylessTargets(pool, asked),
      keyOf: ({ cluster, namespace, organization, project, environment }) =>
        [cluster, namespace, organization, project, environment].join('/'),
    });
    this.#creations = new GroupedLookup<NewKeylessToken, never>({
      look: async (tokens) => {
        await createKeylessTokens(pool, tokens);
        return [];
      },
      keyOf: ({ cluster, namespace, environmentId }) => [cluster, namespace, environmentId].join('/'),
    });
  }

  /**
   * Gives a SecretSync access to an environment. The grant is judged in memory first: without one nothing is looked up,
   * so that a refusal does not reveal what exists. Then one statement, shared by those that ask at the same time and
   * begun after this call, finds the environment with its head, the token, and what the organization allows the cluster.
   * Throws DomainError forbidden without a grant, what `ceilingRefusal` returns, not_found, invalid_input for a malformed slug,
   * KeylessTokenRefusal, store_unavailable and overloaded.
   */
  async admit(reader: SyncReader, slugs: EnvironmentSlugs): Promise<KeylessAdmission> {
    const reading = { reader, slugs };
    const found = await this.#look(reading);
    return { environmentId: found.environmentId, enter: async () => await this.#enter(reading, found) };
  }

  async #look(reading: Reading): Promise<KeylessTarget> {
    const { reader, slugs } = reading;
    await this.#audited(reading, () => {
      for (const [field, slug] of Object.entries(slugs)) checkSlug(field, slug);
      requireSyncGrant(reader, slugs, sha256);
    });
    const { cluster, namespace } = reader;
    const found = await this.#targets.find({ cluster, namespace, ...slugs });
    await this.#judgeCeiling(reading, found?.ceiling);
    if (found === undefined) {
      // Grant and ceiling cover the place, so its deletion may be known.
      const absence = absentPlace(slugs, await findDeletion(this.#pool, slugs));
      return await this.#deny(reading, absence, unknownToken);
    }
    const { organizationId, environmentId, token } = found;
    if (token?.isRevoked === true) {
      const tokenId = token.id;
      const detail = keylessRevocation({ ...slugs, namespace, tokenId });
      const refusal = new KeylessTokenRefusal({ tokenId, environmentId }, detail);
      return await this.#deny(reading, refusal, { organizationId, token });
    }
    return found;
  }

  /** Throws what `ceilingRefusal` returns. Without a found ceiling it is looked up, so that a refusal does not reveal what exists. */
  async #judgeCeiling(reading: Reading, found: ClusterCeiling | undefined): Promise<void> {
    const { reader, slugs } = reading;
    const ceiling = found ?? (await findCeiling(this.#pool, reader.cluster, slugs.organization));
    const { cluster, namespace, name } = reader;
    const asker = { cluster, name: `SecretSync ${namespace}/${name}` };
    const refusal = ceilingRefusal(asker, ceiling, needOf(slugs));
    if (refusal !== undefined) await this.#deny(reading, refusal, unknownToken);
  }

  async #enter(reading: Reading, admitted: KeylessTarget): Promise<KeylessEntry> {
    const { reader, slugs } = reading;
    await this.#audited(reading, () => requireSyncGrant(reader, slugs, sha256));
    const found = admitted.token === undefined ? await this.#create(reading, admitted) : admitted;
    const { token } = found;
    if (token === undefined || found.environmentId !== admitted.environmentId) throw replacedMeanwhile(slugs);
    if (token.useDue) this.#usage.note('keyless_token', token.id);
    this.#denials.forget(reader);
    const access = new EnvironmentHandle({
      caller: {
        principal: keylessPrincipal(reader, found, token),
        requestId: reader.requestId,
        sourceAddress: reader.sourceAddress,
      },
      action,
      slugs,
      found,
      target: targetOf(reader),
    });
    return { access, tokenId: token.id };
  }

  async #create(reading: Reading, { environmentId }: KeylessTarget): Promise<KeylessTarget> {
    const { cluster, namespace, requestId } = reading.reader;
    const { id, name } = actorOf(reading.reader);
    await this.#creations.find({
      id: randomUUID(),
      name: `SecretSyncs of ${namespace} (cluster ${cluster})`,
      cluster,
      namespace,
      environmentId,
      creator: { id, name },
      requestId,
    });
    return await this.#look(reading);
  }

  async #audited(reading: Reading, judge: () => void): Promise<void> {
    try {
      judge();
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      await this.#deny(reading, error, unknownToken);
    }
  }

  /** Throws the error, audited unless the same was reported of this source before. */
  async #deny({ reader, slugs }: Reading, error: DomainError, { organizationId, token }: Refused): Promise<never> {
    const verdict = JSON.stringify([slugs, error.code, error.detail]);
    if (!this.#denials.isReported(reader, verdict)) {
      // What is no slug may be a misplaced secret.
      const place = error.code === 'invalid_input' ? {} : slugs;
      const { id, name } = token ?? actorOf(reader);
      await this.#audit.record({
        organizationId,
        actor: { type: token === undefined ? 'resource' : 'service_token', id, name },
        action,
        target: { ...place, ...targetOf(reader), error: error.code },
        outcome: isDenial(error) || error.code === 'token_revoked' ? 'denied' : 'failed',
        requestId: reader.requestId,
        sourceAddress: reader.sourceAddress,
        label: token === undefined ? null : '[Service Token]',
        credential: null,
        cluster: reader.cluster,
      });
      this.#denials.report(reader, verdict);
    }
    throw error;
  }
}

/** What a source needs of grants and ceilings. */
function needOf(slugs: EnvironmentSlugs): GrantNeed {
  const { organization, project, environment } = slugs;
  return { organization, project, environment, permission: 'read', kind: 'SecretSync' };
}

/** The SecretSync as audit and history show it. */
function actorOf({ uid, namespace, name }: SyncReader): Actor {
  return { type: 'resource', id: uid, name: `SecretSync ${namespace}/${name}` };
}

/** What the audit says of a reader, beside the environment. */
function targetOf(reader: SyncReader): AuditTarget {
  return { cluster: reader.cluster, ...readerTarget(reader) };
}
