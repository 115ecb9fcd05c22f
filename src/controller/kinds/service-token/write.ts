import type { DomainError } from '../../../domain/errors/domain-error.ts';
import type { Plaintext } from '../../../domain/plaintext.ts';
import { ApiError, isApiStatus } from '../../../kube/client/api-error.ts';
import type { ObjectMeta } from '../../../kube/client/objects.ts';
import type { SecretContent, SecretObject, SecretsClient } from '../../../kube/client/secrets.ts';
import type { Metrics, SecretOperation } from '../../../observability/metrics.ts';
import type { ServiceToken } from '../../generated/service-token.ts';
import type { SecretFacts } from './judge.ts';
import { secretRefused } from './messages.ts';
import { isOwnedBy, tokenOf } from './observe.ts';
import { secretMetadata, secretOf, tokenDataKey } from './resource.ts';

export interface WriteDeps {
  readonly secretsClient: Pick<SecretsClient, 'find' | 'create' | 'replace' | 'delete'>;
  readonly metrics: Pick<Metrics, 'secretWrite'>;
}

/** Reads and writes the Secrets that hold tokens. */
export class TokenSecrets {
  readonly #deps: WriteDeps;

  constructor(deps: WriteDeps) {
    this.#deps = deps;
  }

  /**
   * Writes a token to the Secret that was judged and returns the new metadata; undefined if the Secret has changed. Throws
   * DomainError target_refused if the API server refuses the Secret, and ApiError.
   */
  async put(
    resource: ServiceToken,
    judged: SecretFacts,
    token: Plaintext,
    isRepair: boolean,
  ): Promise<ObjectMeta | undefined> {
    if (judged.state !== 'owned') return await this.#create(resource, contentOf(resource, undefined, token), 'create');
    const existing = await this.#find(resource, judged);
    if (existing === undefined) return undefined;
    const content = contentOf(resource, existing.metadata, token);
    if (judged.isReplaceable) return await this.#replace(resource, content, judged, isRepair ? 'repair' : 'replace');
    const target = secretOf(resource);
    const removed = await this.#counted(resource, { operation: 'delete', conflicts: [404, 409] }, async () => {
      await this.#deps.secretsClient.delete(target, preconditionOf(judged));
      return true;
    });
    return removed === undefined ? undefined : await this.#create(resource, content, isRepair ? 'repair' : 'create');
  }

  /** Writes the metadata of the Secret that was judged and keeps its data. Returns and throws as `put` does. */
  async mark(resource: ServiceToken, judged: SecretFacts, isRepair: boolean): Promise<ObjectMeta | undefined> {
    if (judged.state !== 'owned') return undefined;
    const existing = await this.#find(resource, judged);
    const token = existing === undefined ? undefined : tokenOf(existing);
    if (existing === undefined || token === undefined) return undefined;
    return await this.#replace(
      resource,
      { ...contentOf(resource, existing.metadata, token), type: existing.type ?? 'Opaque', data: existing.data ?? {} },
      judged,
      isRepair ? 'repair' : 'replace',
    );
  }

  /** Deletes a Secret that is still as it was observed. */
  async remove(resource: ServiceToken, observed: ObjectMeta): Promise<void> {
    await this.#counted(resource, { operation: 'delete', conflicts: [404, 409] }, () =>
      this.#deps.secretsClient.delete(secretOf(resource), preconditionOf(observed)),
    );
  }

  /** The token in the Secret now; undefined if the Secret is unmanaged or holds none. */
  async read(resource: ServiceToken): Promise<Plaintext | undefined> {
    const found = await this.#deps.secretsClient.find(secretOf(resource));
    return found === undefined || !isOwnedBy(found, resource) ? undefined : tokenOf(found);
  }

  async #find(
    resource: ServiceToken,
    judged: { readonly uid: string; readonly resourceVersion: string },
  ): Promise<SecretObject | undefined> {
    const found = await this.#deps.secretsClient.find(secretOf(resource));
    const { uid, resourceVersion } = found?.metadata ?? {};
    return uid === judged.uid && resourceVersion === judged.resourceVersion ? found : undefined;
  }

  async #create(
    resource: ServiceToken,
    content: SecretContent,
    operation: SecretOperation,
  ): Promise<ObjectMeta | undefined> {
    const { namespace } = secretOf(resource);
    // A 404 means that the namespace is gone, which is a refusal.
    const conflicts = [409];
    return await this.#counted(resource, { operation, conflicts }, () =>
      this.#deps.secretsClient.create(namespace, content),
    );
  }

  async #replace(
    resource: ServiceToken,
    content: SecretContent,
    judged: { readonly uid: string; readonly resourceVersion: string },
    operation: SecretOperation,
  ): Promise<ObjectMeta | undefined> {
    const { namespace } = secretOf(resource);
    const precondition = preconditionOf(judged);
    return await this.#counted(resource, { operation, conflicts: [404, 409] }, () =>
      this.#deps.secretsClient.replace(namespace, content, precondition),
    );
  }

  /** Counts a write; undefined for a status in `conflicts`: the Secret has changed since it was judged. */
  async #counted<T>(
    resource: ServiceToken,
    { operation, conflicts }: { readonly operation: SecretOperation; readonly conflicts: readonly number[] },
    write: () => Promise<T>,
  ): Promise<T | undefined> {
    const { metrics } = this.#deps;
    try {
      const written = await write();
      metrics.secretWrite(operation, 'done');
      return written;
    } catch (error) {
      const isConflict = isApiStatus(error, ...conflicts);
      metrics.secretWrite(operation, isConflict ? 'conflict' : 'failed');
      if (isConflict) return undefined;
      throw refusalOf(error, resource) ?? error;
    }
  }
}

function contentOf(resource: ServiceToken, existing: ObjectMeta | undefined, token: Plaintext): SecretContent {
  // The only place where the token is revealed.
  const data = { [tokenDataKey]: Buffer.from(token.reveal(), 'utf8').toString('base64') };
  return { metadata: secretMetadata(resource, existing), type: 'Opaque', data };
}

function preconditionOf({ uid, resourceVersion }: { readonly uid: string; readonly resourceVersion: string }): {
  uid: string;
  resourceVersion: string;
} {
  return { uid, resourceVersion };
}

/** The refusal to report; undefined if the error is none. */
function refusalOf(error: unknown, resource: ServiceToken): DomainError | undefined {
  if (!(error instanceof ApiError) || ![400, 403, 404, 413, 422].includes(error.status)) return undefined;
  return secretRefused(secretOf(resource).name, error);
}
