import { DomainError } from '../../domain/domain-error.ts';
import { isApiStatus } from '../../kube/api-error.ts';
import type { KubeClient } from '../../kube/client.ts';
import { createResource, deleteResource, patchSpec } from '../../kube/custom-resources.ts';
import { secretSyncKind, serviceTokenKind } from '../../kube/keyframe-kinds.ts';
import { parseObjectKey } from '../../kube/objects.ts';
import type { SecretSync } from '../generated/secret-sync.ts';
import type { ServiceToken } from '../generated/service-token.ts';
import type { ServiceTokens } from '../service-token/controller.ts';
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

/** Sees to the ServiceToken of a SecretSync that names no token, and tells where each one's token is. */
export class TokenSource {
  readonly #deps: TokenSourceDeps;

  constructor(deps: TokenSourceDeps) {
    this.#deps = deps;
  }

  /** Whether enough has been seen to tell: who names a Secret needs no ServiceToken. */
  isKnown({ spec: { tokenSecretRef } }: SecretSync): boolean {
    return tokenSecretRef !== undefined || this.#deps.serviceTokens.isSynced;
  }

  /** The ServiceTokens that concern a SecretSync. */
  facts(sync: SecretSync): TokenFacts {
    const { serviceTokens } = this.#deps;
    const named = namedTokenKeyOf(sync);
    return {
      sync,
      named: named === undefined ? undefined : serviceTokens.find(named),
      beside: serviceTokens.find(ownedTokenKeyOf(sync)),
    };
  }

  /**
   * Takes the one step that is due, if one is, and answers where the token is. Each step is judged by what is there, so
   * whoever dies between two of them leaves nothing that the next look does not go on with. Throws DomainError
   * service_token_not_found, service_token_not_ready, service_token_not_owned, invalid_input and conflict, and ApiError.
   */
  async prepare(facts: TokenFacts): Promise<TokenPlace> {
    const { step, place } = judgeToken(facts);
    if (step !== undefined) await this.#take(facts.sync, step);
    if (place instanceof DomainError) throw place;
    return place;
  }

  async #take(sync: SecretSync, step: TokenStep): Promise<void> {
    try {
      if (step.do === 'create') await this.#create(sync);
      else if (step.do === 'delete') await this.#delete(step.token);
      else await this.#correct(sync, step.token);
    } catch (error) {
      if (!isApiStatus(error, ...(step.do === 'create' ? [409] : [404, 409]))) throw error;
      const { name } = parseObjectKey(ownedTokenKeyOf(sync));
      const detail = `ServiceToken ${name} was changed by someone else at this moment; the controller looks again.`;
      throw new DomainError('conflict', detail, { cause: error });
    }
  }

  async #create(sync: SecretSync): Promise<void> {
    const { name, uid } = sync.metadata;
    const { group, version, kind } = secretSyncKind;
    // It goes with the SecretSync, and its finalizer revokes the token.
    const owner = { apiVersion: `${group}/${version}`, kind, name, uid, controller: true };
    const metadata = { ...parseObjectKey(ownedTokenKeyOf(sync)), ownerReferences: [owner] };
    await createResource(this.#deps.client, serviceTokenKind, { metadata, spec: ownedSpecOf(sync) });
  }

  async #delete({ metadata }: ServiceToken): Promise<void> {
    const { namespace, name, uid, resourceVersion } = metadata;
    await deleteResource(this.#deps.client, serviceTokenKind, { resource: { namespace, name }, uid, resourceVersion });
  }

  async #correct(sync: SecretSync, { metadata, spec }: ServiceToken): Promise<void> {
    const { namespace, name, resourceVersion } = metadata;
    const taken = Object.fromEntries(Object.keys(spec).map((field) => [field, null]));
    const patch = { resource: { namespace, name }, resourceVersion, spec: { ...taken, ...ownedSpecOf(sync) } };
    await patchSpec(this.#deps.client, serviceTokenKind, patch);
  }
}
