import { DomainError } from '../../../domain/errors/domain-error.ts';
import type { Plaintext } from '../../../domain/plaintext.ts';
import { ApiError, isApiStatus } from '../../../kube/client/api-error.ts';
import type { ObjectMeta } from '../../../kube/client/objects.ts';
import type { SecretContent, SecretObject, SecretsClient } from '../../../kube/client/secrets.ts';
import type { Metrics } from '../../../observability/metrics.ts';
import type { ServiceToken } from '../../generated/service-token.ts';
import type { SecretFacts } from './judge.ts';
import { isOwnedBy, tokenOf } from './observe.ts';
import { secretMetadata, secretOf, tokenDataKey } from './resource.ts';

export interface WriteDeps {
  readonly secretsClient: Pick<SecretsClient, 'find' | 'create' | 'replace' | 'delete'>;
  readonly metrics: Pick<Metrics, 'secretWrite'>;
}

type Operation = 'create' | 'replace' | 'delete';

/** Writes of the Secrets that hold tokens. */
export class TokenSecrets {
  readonly #deps: WriteDeps;

  constructor(deps: WriteDeps) {
    this.#deps = deps;
  }

  /**
   * Puts a token into the Secret that was judged and answers the metadata it left; undefined where the Secret is no
   * longer what was judged. Throws DomainError target_refused where the API server does not accept it, and ApiError.
   */
  async put(resource: ServiceToken, judged: SecretFacts, token: Plaintext): Promise<ObjectMeta | undefined> {
    if (judged.state !== 'owned') return await this.#create(resource, contentOf(resource, undefined, token));
    const existing = await this.#find(resource, judged);
    if (existing === undefined) return undefined;
    const content = contentOf(resource, existing.metadata, token);
    if (judged.isReplaceable) return await this.#replace(resource, content, judged);
    const target = secretOf(resource);
    const removed = await this.#counted(resource, 'delete', async () => {
      await this.#deps.secretsClient.delete(target, preconditionOf(judged));
      return true;
    });
    return removed === undefined ? undefined : await this.#create(resource, content);
  }

  /** Gives the Secret that was judged its metadata, and leaves what it holds. Answers and throws as `put`. */
  async mark(resource: ServiceToken, judged: SecretFacts): Promise<ObjectMeta | undefined> {
    if (judged.state !== 'owned') return undefined;
    const existing = await this.#find(resource, judged);
    const token = existing === undefined ? undefined : tokenOf(existing);
    if (existing === undefined || token === undefined) return undefined;
    return await this.#replace(
      resource,
      { ...contentOf(resource, existing.metadata, token), type: existing.type ?? 'Opaque', data: existing.data ?? {} },
      judged,
    );
  }

  /** The token that the Secret holds at this moment; undefined where it is not the resource's, or holds none. */
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

  async #create(resource: ServiceToken, content: SecretContent): Promise<ObjectMeta | undefined> {
    const { namespace } = secretOf(resource);
    return await this.#counted(resource, 'create', () => this.#deps.secretsClient.create(namespace, content));
  }

  async #replace(
    resource: ServiceToken,
    content: SecretContent,
    judged: { readonly uid: string; readonly resourceVersion: string },
  ): Promise<ObjectMeta | undefined> {
    const { namespace } = secretOf(resource);
    const precondition = preconditionOf(judged);
    return await this.#counted(resource, 'replace', () =>
      this.#deps.secretsClient.replace(namespace, content, precondition),
    );
  }

  async #counted<T>(resource: ServiceToken, operation: Operation, write: () => Promise<T>): Promise<T | undefined> {
    const { metrics } = this.#deps;
    try {
      const written = await write();
      metrics.secretWrite(operation, 'done');
      return written;
    } catch (error) {
      // A namespace that is gone answers 404 to a creation: that is a refusal.
      const isConflict = isApiStatus(error, ...(operation === 'create' ? [409] : [404, 409]));
      metrics.secretWrite(operation, isConflict ? 'conflict' : 'failed');
      if (isConflict) return undefined;
      throw refusalOf(error, resource) ?? error;
    }
  }
}

function contentOf(resource: ServiceToken, existing: ObjectMeta | undefined, token: Plaintext): SecretContent {
  // The Secret is what the token is made for.
  const data = { [tokenDataKey]: Buffer.from(token.reveal(), 'utf8').toString('base64') };
  return { metadata: secretMetadata(resource, existing), type: 'Opaque', data };
}

function preconditionOf({ uid, resourceVersion }: { readonly uid: string; readonly resourceVersion: string }): {
  uid: string;
  resourceVersion: string;
} {
  return { uid, resourceVersion };
}

/** The API server's refusal in our own words: its message may quote what it refused. */
function refusalOf(error: unknown, resource: ServiceToken): DomainError | undefined {
  if (!(error instanceof ApiError) || ![400, 403, 404, 413, 422].includes(error.status)) return undefined;
  return new DomainError(
    'target_refused',
    `The API server refused Secret ${secretOf(resource).name} (${error.status} ${error.reason}). Check the namespace's ResourceQuota and admission policies, that the namespace is not being deleted, and the RBAC of the controller.`,
    { cause: error },
  );
}
