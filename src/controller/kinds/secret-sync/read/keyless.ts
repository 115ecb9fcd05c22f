import { requireSyncGrant } from '../../../../domain/grant-refusal.ts';
import { type GrantNeed, type GrantRule, covers } from '../../../../domain/grants.ts';
import { sha256 } from '../../../../lib/digest.ts';
import {
  type KeylessAccess,
  type KeylessAdmission,
  KeylessTokenRefusal,
  type SyncReader,
} from '../../../../services/access/keyless.ts';
import type { ReadingAccess } from '../../../../services/access/access.ts';
import type { EnvironmentSlugs } from '../../../../domain/slugs.ts';
import type { ControllerEvent, EventFilter } from '../../../frame/dependencies.ts';
import type { Source } from '../spec/source.ts';
import type { SourceContext } from './state.ts';

/** Sources without a token reference read with the keyless service token of the namespace, under its AccessGrants. */

/** What AccessGrants allow each namespace. */
export interface NamespaceGrants {
  rulesFor(namespace: string): readonly GrantRule[];
  /** Name of an AccessGrant that is for one namespace alone and has room for another rule. */
  ownGrantOf(namespace: string): string | undefined;
}

export interface KeylessDeps {
  readonly access: Pick<KeylessAccess, 'admit'>;
  readonly grants: NamespaceGrants;
  /** What the database knows the cluster by. Throws DomainError cluster_unavailable if that is not known. */
  readonly cluster: () => string;
}

/**
 * Admits a source to its environment. Nothing is created and no value is read yet. Throws DomainError forbidden, not_found,
 * token_revoked, store_unavailable and cluster_unavailable.
 */
export async function admitKeyless(deps: KeylessDeps, context: SourceContext): Promise<KeylessAdmission> {
  return await noting(context, async () => await deps.access.admit(readerOf(deps, context), slugsOf(context.source)));
}

/** Enters the environment and creates the token if there is none yet. Throws what `admitKeyless` throws, and conflict. */
export async function enterKeyless(context: SourceContext, admission: KeylessAdmission): Promise<ReadingAccess> {
  return await noting(context, async () => {
    const { access, tokenId } = await admission.enter();
    context.seen.note('service token', tokenId, 'live');
    return access;
  });
}

/**
 * Makes the result depend on the token that was refused, whose reinstatement is reported with its id, and on the end of its
 * environment: another one under the same path has another token.
 */
async function noting<T>({ seen }: SourceContext, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof KeylessTokenRefusal) {
      seen.note('service token', error.tokenId, 'refused');
      seen.note('environment history', error.environmentId);
    }
    throw error;
  }
}

/** Checks the grants for a source again, in memory only. Throws DomainError forbidden. */
export function confirmKeyless(deps: KeylessDeps, context: Omit<SourceContext, 'seen'>): void {
  requireSyncGrant(readerOf(deps, context), slugsOf(context.source), sha256);
}

/**
 * Whether the namespace has the grants that a SecretSync's keyless sources need. Other edits of grants matter only while one
 * of them is missing, because the message of a refusal says what the namespace is granted.
 */
export class GrantVerdicts implements EventFilter {
  readonly #rulesFor: () => readonly GrantRule[];
  readonly #needs: readonly GrantNeed[];
  #judged: readonly boolean[];

  constructor(grants: NamespaceGrants, namespace: string, sources: readonly Source[]) {
    this.#rulesFor = () => grants.rulesFor(namespace);
    this.#needs = sources.map((source) => ({ kind: 'SecretSync', permission: 'read', ...slugsOf(source) }));
    this.#judged = this.#judge();
  }

  /** Makes the result depend on the grants as they are now. */
  renew(): void {
    this.#judged = this.#judge();
  }

  /** Whether a verdict is a refusal, or differs from the one that the result depends on. */
  take(_event: ControllerEvent): boolean {
    return this.#judge().some((isGranted, index) => !isGranted || isGranted !== this.#judged[index]);
  }

  reset(): void {
    // There are no expectations: each event is judged by the present grants.
  }

  #judge(): readonly boolean[] {
    const rules = this.#rulesFor();
    return this.#needs.map((need) => covers(rules, need));
  }
}

function readerOf(
  { grants, cluster }: KeylessDeps,
  { resource, source, requestId }: Omit<SourceContext, 'seen'>,
): SyncReader {
  const { namespace = '', name, uid } = resource.metadata;
  return {
    cluster: cluster(),
    namespace,
    name,
    uid,
    source: source.name,
    requestId,
    get grants() {
      return grants.rulesFor(namespace);
    },
    get ownGrant() {
      return grants.ownGrantOf(namespace);
    },
  };
}

function slugsOf({ environmentRef: { organization, project, name: environment } }: Source): EnvironmentSlugs {
  return { organization, project, environment };
}
