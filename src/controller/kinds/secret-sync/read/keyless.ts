import { type GrantNeed, type GrantRule, covers } from '../../../../domain/grants.ts';
import {
  type KeylessAccess,
  type KeylessAdmission,
  KeylessTokenRefusal,
  type SyncReader,
} from '../../../../services/access/keyless.ts';
import type { ReadingAccess } from '../../../../services/access/access.ts';
import type { EnvironmentSlugs } from '../../../../services/kernel/slugs.ts';
import type { ControllerEvent, EventFilter } from '../../../frame/dependencies.ts';
import type { Source } from '../spec/source.ts';
import type { SourceContext } from './state.ts';

/** Reads of sources that name no token: with the keyless service token of the namespace, under its AccessGrants. */

/** What AccessGrants allow each namespace. */
export interface NamespaceGrants {
  rulesFor(namespace: string): readonly GrantRule[];
  /** Name of an AccessGrant that is for one namespace alone and has room for another rule. */
  ownGrantOf(namespace: string): string | undefined;
}

export interface KeylessDeps {
  readonly access: Pick<KeylessAccess, 'admit' | 'confirm'>;
  readonly grants: NamespaceGrants;
  /** What the database knows the cluster by. Throws DomainError cluster_unavailable if that is not known. */
  readonly cluster: () => string;
}

/**
 * Has a source admitted to its environment. Nothing is created and no value is read yet. Throws DomainError forbidden,
 * not_found, token_revoked, store_unavailable and cluster_unavailable.
 */
export async function admitKeyless(deps: KeylessDeps, context: SourceContext): Promise<KeylessAdmission> {
  return await noting(context, async () => await deps.access.admit(readerOf(deps, context), slugsOf(context.source)));
}

/** Enters the environment, with a new token if there is none yet. Throws what `admitKeyless` throws, and conflict. */
export async function enterKeyless(context: SourceContext, admission: KeylessAdmission): Promise<ReadingAccess> {
  return await noting(context, async () => {
    const { access, tokenId } = await admission.enter();
    context.seen.note('service token', tokenId, 'live');
    return access;
  });
}

/** Has the result rest on the token that a refusal is about: its reinstatement is reported by its id. */
async function noting<T>({ seen }: SourceContext, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof KeylessTokenRefusal) seen.note('service token', error.tokenId, 'refused');
    throw error;
  }
}

/** Judges the grants for a source once more, in memory alone. Throws DomainError forbidden. */
export function confirmKeyless(deps: KeylessDeps, context: Omit<SourceContext, 'seen'>): void {
  deps.access.confirm(readerOf(deps, context), slugsOf(context.source));
}

/** What a SecretSync's keyless sources need, and whether its namespace is granted it: an edit of a grant that changes nothing of that is no news. */
export class GrantVerdicts implements EventFilter {
  readonly #rulesFor: () => readonly GrantRule[];
  readonly #needs: readonly GrantNeed[];
  #judged: readonly boolean[];

  constructor(grants: NamespaceGrants, namespace: string, sources: readonly Source[]) {
    this.#rulesFor = () => grants.rulesFor(namespace);
    this.#needs = sources.map((source) => ({ kind: 'SecretSync', permission: 'read', ...slugsOf(source) }));
    this.#judged = this.#judge();
  }

  /** From now on the result rests on the grants as they are at this moment. */
  renew(): void {
    this.#judged = this.#judge();
  }

  /** Whether a verdict is another one than the result rests on. */
  take(_event: ControllerEvent): boolean {
    return this.#judge().some((isGranted, index) => isGranted !== this.#judged[index]);
  }

  reset(): void {
    // Nothing is expected: each event is judged by the grants as they are.
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
