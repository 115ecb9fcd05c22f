import { DomainError } from '../../domain/domain-error.ts';
import { isApiStatus } from '../../kube/api-error.ts';
import type { KubeClient } from '../../kube/client.ts';
import { createResource, deleteResource, patchSpec } from '../../kube/custom-resources.ts';
import { secretSyncKind, serviceTokenKind } from '../../kube/keyframe-kinds.ts';
import { parseObjectKey } from '../../kube/objects.ts';
import type { SecretSync } from '../generated/secret-sync.ts';
import type { ServiceToken } from '../generated/service-token.ts';
import type { ServiceTokens } from '../service-token/controller.ts';
import { type Source, inSource, sourcesOf } from './source.ts';
import {
  type TokenFacts,
  type TokenPlace,
  type TokenStep,
  judgeToken,
  namedTokenKeyOf,
  ownedSpecOf,
  ownedTokenKeyOf,
} from './service-token.ts';

export interface TokenSourceDeps {
  readonly client: Pick<KubeClient, 'request'>;
  readonly serviceTokens: Pick<ServiceTokens, 'find' | 'isSynced'>;
}

/** Sees to the ServiceTokens of a SecretSync whose sources name no token, and tells where each source's token is. */
export class TokenSource {
  readonly #deps: TokenSourceDeps;

  constructor(deps: TokenSourceDeps) {
    this.#deps = deps;
  }

  /** Whether enough has been seen to tell: who names a Secret needs no ServiceToken. */
  isKnown(sync: SecretSync): boolean {
    return (
      this.#deps.serviceTokens.isSynced || sourcesOf(sync).every(({ tokenSecretRef }) => tokenSecretRef !== undefined)
    );
  }

  /** The ServiceTokens that concern a SecretSync, source by source. */
  facts(sync: SecretSync): readonly TokenFacts[] {
    const { serviceTokens } = this.#deps;
    return sourcesOf(sync).map((source) => {
      const named = namedTokenKeyOf(sync, source);
      return {
        sync,
        source,
        named: named === undefined ? undefined : serviceTokens.find(named),
        beside: serviceTokens.find(ownedTokenKeyOf(sync)),
      };
    });
  }

  /**
   * Takes the step that is due for each source, if one is, and answers where their tokens are, in the same order, or why
   * one cannot be read yet: DomainError service_token_not_found, service_token_not_ready, service_token_not_owned and
   * invalid_input, which keep no other token from being made. Each step is judged by what is there, so whoever dies between
   * two of them leaves nothing that the next look does not go on with. Throws DomainError conflict, and ApiError.
   */
  async prepare(facts: readonly TokenFacts[]): Promise<readonly (TokenPlace | DomainError)[]> {
    const decisions = facts.map((each) => ({ ...each, ...judgeToken(each) }));
    for (const { sync, source, step } of decisions) if (step !== undefined) await this.#take(sync, source, step);
    return decisions.map(({ source, place }) => (place instanceof DomainError ? inSource(source, place) : place));
  }

  async #take(sync: SecretSync, source: Source, step: TokenStep): Promise<void> {
    try {
      if (step.do === 'create') await this.#create(sync, source);
      else if (step.do === 'delete') await this.#delete(step.token);
      else await this.#correct(source, step.token);
    } catch (error) {
      if (!isApiStatus(error, ...(step.do === 'create' ? [409] : [404, 409]))) throw error;
      const { name } = parseObjectKey(ownedTokenKeyOf(sync));
      const detail = `ServiceToken ${name} was changed by someone else at this moment; the controller looks again.`;
      throw new DomainError('conflict', detail, { cause: error });
    }
  }

  async #create(sync: SecretSync, source: Source): Promise<void> {
    const { name, uid } = sync.metadata;
    const { group, version, kind } = secretSyncKind;
    // It goes with the SecretSync, and its finalizer revokes the token.
    const owner = { apiVersion: `${group}/${version}`, kind, name, uid, controller: true };
    const metadata = { ...parseObjectKey(ownedTokenKeyOf(sync)), ownerReferences: [owner] };
    await createResource(this.#deps.client, serviceTokenKind, { metadata, spec: ownedSpecOf(source) });
  }

  async #delete({ metadata }: ServiceToken): Promise<void> {
    const { namespace, name, uid, resourceVersion } = metadata;
    await deleteResource(this.#deps.client, serviceTokenKind, { resource: { namespace, name }, uid, resourceVersion });
  }

  async #correct(source: Source, { metadata, spec }: ServiceToken): Promise<void> {
    const { namespace, name, resourceVersion } = metadata;
    const taken = Object.fromEntries(Object.keys(spec).map((field) => [field, null]));
    const patch = { resource: { namespace, name }, resourceVersion, spec: { ...taken, ...ownedSpecOf(source) } };
    await patchSpec(this.#deps.client, serviceTokenKind, patch);
  }
}
