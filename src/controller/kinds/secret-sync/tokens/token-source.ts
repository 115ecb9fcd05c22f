import { DomainError } from '../../../../domain/domain-error.ts';
import { isApiStatus } from '../../../../kube/api-error.ts';
import type { KubeClient } from '../../../../kube/client.ts';
import { createResource, deleteResource, patchSpec } from '../../../../kube/custom-resources.ts';
import { secretSyncKind, serviceTokenKind } from '../../../../kube/keyframe-kinds.ts';
import { parseObjectKey } from '../../../../kube/objects.ts';
import type { SecretSync } from '../../../generated/secret-sync.ts';
import type { ServiceToken } from '../../../generated/service-token.ts';
import type { ServiceTokens } from '../../service-token/index.ts';
import { specVersionOf, specVersionsOf } from '../../service-token/versions.ts';
import type { Seen } from '../../../frame/dependencies.ts';
import { type Source, inSource, sourcesOf } from '../spec/source.ts';
import {
  type TokenFacts,
  type TokenPlace,
  type TokenStep,
  judgeToken,
  namedTokenKeyOf,
  needlessTokens,
  ownedSpecOf,
  ownedTokenKeyOf,
} from './service-token.ts';

export interface TokenSourceDeps {
  readonly client: Pick<KubeClient, 'request'>;
  readonly serviceTokens: Pick<ServiceTokens, 'find' | 'madeFor'>;
}

/** What is seen of the ServiceTokens that concern a SecretSync. */
export interface SyncTokens {
  readonly sync: SecretSync;
  /** In the order of the spec. */
  readonly sources: readonly TokenFacts[];
  /** Those whose controller the SecretSync is. */
  readonly made: readonly ServiceToken[];
}

/** Sees to the ServiceTokens of a SecretSync whose sources name no token, and tells where each source's token is. */
export class TokenSource {
  readonly #deps: TokenSourceDeps;

  constructor(deps: TokenSourceDeps) {
    this.#deps = deps;
  }

  /** The ServiceTokens that concern a SecretSync. What they ask for is part of what the result rests on. */
  facts(sync: SecretSync, seen: Seen): SyncTokens {
    const find = (key: string): ServiceToken | undefined => {
      const token = this.#deps.serviceTokens.find(key);
      seen.note('ServiceToken spec', key, specVersionOf(token));
      return token;
    };
    const sources = sourcesOf(sync).map((source) => {
      const named = namedTokenKeyOf(sync, source);
      return {
        sync,
        source,
        named: named === undefined ? undefined : find(named),
        beside: find(ownedTokenKeyOf(sync, source)),
      };
    });
    const { namespace, uid } = sync.metadata;
    const all = this.#deps.serviceTokens.madeFor(uid);
    seen.note('controlled ServiceTokens', uid, specVersionsOf(all));
    return { sync, sources, made: all.filter(({ metadata }) => metadata.namespace === namespace) };
  }

  /**
   * Takes the steps that are due, at most one for each source, and answers where their tokens are, in the same order, or why
   * one cannot be read yet: DomainError service_token_not_found, service_token_not_ready, service_token_not_owned and
   * invalid_input, which keep no other token from being made. Each step is judged by what is there, so whoever dies between
   * two of them leaves nothing that the next look does not go on with. Throws DomainError conflict, and ApiError.
   */
  async prepare({ sync, sources, made }: SyncTokens): Promise<readonly (TokenPlace | DomainError)[]> {
    for (const token of needlessTokens(sync, made)) await this.#delete(token);
    const decisions = sources.map((facts) => ({ source: facts.source, ...judgeToken(facts) }));
    for (const { source, step } of decisions) await this.#take(sync, source, step);
    return decisions.map(({ source, place }) => (place instanceof DomainError ? inSource(source, place) : place));
  }

  async #take(sync: SecretSync, source: Source, step: TokenStep | undefined): Promise<void> {
    if (step?.do === 'create') await this.#create(sync, source);
    else if (step?.do === 'correct') await this.#correct(source, step.token);
    else if (step?.do === 'delete') await this.#delete(step.token);
  }

  async #create(sync: SecretSync, source: Source): Promise<void> {
    const { name, uid } = sync.metadata;
    const { group, version, kind } = secretSyncKind;
    // It goes with the SecretSync, and its finalizer revokes the token.
    const owner = { apiVersion: `${group}/${version}`, kind, name, uid, controller: true };
    const place = parseObjectKey(ownedTokenKeyOf(sync, source));
    const body = { metadata: { ...place, ownerReferences: [owner] }, spec: ownedSpecOf(source) };
    await undisturbed(place.name, [409], async () => {
      await createResource(this.#deps.client, serviceTokenKind, body);
    });
  }

  async #delete({ metadata }: ServiceToken): Promise<void> {
    const { namespace, name, uid, resourceVersion } = metadata;
    const seen = { resource: { namespace, name }, uid, resourceVersion };
    await undisturbed(name, [404, 409], async () => {
      await deleteResource(this.#deps.client, serviceTokenKind, seen);
    });
  }

  async #correct(source: Source, { metadata, spec }: ServiceToken): Promise<void> {
    const { namespace, name, resourceVersion } = metadata;
    const taken = Object.fromEntries(Object.keys(spec).map((field) => [field, null]));
    const patch = { resource: { namespace, name }, resourceVersion, spec: { ...taken, ...ownedSpecOf(source) } };
    await undisturbed(name, [404, 409], async () => {
      await patchSpec(this.#deps.client, serviceTokenKind, patch);
    });
  }
}

/** Runs one change of a ServiceToken; these statuses mean that it is no longer what was judged. */
async function undisturbed(name: string, conflicts: readonly number[], change: () => Promise<void>): Promise<void> {
  try {
    await change();
  } catch (error) {
    if (!isApiStatus(error, ...conflicts)) throw error;
    const detail = `ServiceToken ${name} was changed by someone else at this moment; the controller looks again.`;
    throw new DomainError('conflict', detail, { cause: error });
  }
}
