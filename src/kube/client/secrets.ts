import { isApiStatus } from './api-error.ts';
import { type KubeClient, metadataOnly } from './client.ts';
import { type KubeObject, type NamespacedName, type ObjectMeta, stripped } from './objects.ts';

/** A Secret with its values in base64. Keep it in memory only as long as necessary. */
export interface SecretObject extends KubeObject {
  readonly type?: string;
  readonly immutable?: boolean;
  readonly data?: Readonly<Record<string, string>> | null;
}

/** The metadata of a Secret to write. Absent parts are removed. */
export type SecretMeta = Pick<ObjectMeta, 'name'> &
  Partial<Pick<ObjectMeta, 'labels' | 'annotations' | 'ownerReferences' | 'finalizers'>>;

export interface SecretContent {
  readonly metadata: SecretMeta;
  readonly type: string;
  /** Values in base64. */
  readonly data: Readonly<Record<string, string>>;
}

/** What one field manager applies to a Secret. What it applied before and is absent here is removed, unless others own it. */
export interface AppliedContent {
  /** The name of the manager; at most 128 characters. */
  readonly manager: string;
  readonly annotations: Readonly<Record<string, string>>;
  /** Values in base64. */
  readonly data: Readonly<Record<string, string>>;
}

/** The expected version of an object. For any other the API server returns 409. */
export interface Precondition {
  readonly uid: string;
  readonly resourceVersion: string;
}

/**
 * Reads and writes Secrets. A write returns only the metadata, without values. All methods throw ApiError.
 */
export class SecretsClient {
  readonly #client: Pick<KubeClient, 'request'>;

  constructor(deps: { readonly client: Pick<KubeClient, 'request'> }) {
    this.#client = deps.client;
  }

  /**
   * The Secret with its values; undefined if there is none. With `notOlderThan`, a resourceVersion that a watch has shown, the
   * API server may return that version or a newer one from its cache, without a read from etcd.
   */
  async find(target: NamespacedName, notOlderThan?: string): Promise<SecretObject | undefined> {
    const query = notOlderThan === undefined ? {} : { resourceVersion: notOlderThan };
    try {
      return await this.#client.request<SecretObject>({ method: 'GET', path: secretPath(target), query });
    } catch (error) {
      if (isApiStatus(error, 404)) return undefined;
      // This API server is behind the one of the watch, or was restored from a backup.
      if (notOlderThan !== undefined && isApiStatus(error, 410, 504)) return await this.find(target);
      throw error;
    }
  }

  /** Creates a Secret; 409 if the name exists. */
  async create(namespace: string, content: SecretContent): Promise<ObjectMeta> {
    return await this.#write('POST', secretsPath(namespace), content);
  }

  /**
   * Lets the API server validate a Secret that will replace one of the same name, without creating it. Throws the ApiError of
   * `create`, except the 409 for the existing one.
   */
  async check(namespace: string, content: SecretContent): Promise<void> {
    try {
      await this.#write('POST', secretsPath(namespace), content, { dryRun: 'All' });
    } catch (error) {
      if (!isApiStatus(error, 409)) throw error;
    }
  }

  /** Replaces a whole Secret; 409 if it does not have the version of the precondition, 404 if it is gone. */
  async replace(namespace: string, content: SecretContent, precondition: Precondition): Promise<ObjectMeta> {
    const versioned = { ...content, metadata: { ...content.metadata, ...precondition } };
    return await this.#write('PUT', secretPath({ namespace, name: content.metadata.name }), versioned);
  }

  /**
   * Applies keys and annotations to a Secret of another owner (server-side apply, never forced). 409 if the Secret does not have
   * the version of the precondition or is gone, and 409 with causes if another manager owns one of them with another value.
   * Then nothing is written.
   */
  async apply(
    { namespace, name }: NamespacedName,
    { manager, annotations, data }: AppliedContent,
    precondition: Precondition,
  ): Promise<ObjectMeta> {
    const metadata = { name, namespace, annotations, ...precondition };
    // An empty map would be an owned field, too.
    const keys = Object.keys(data).length === 0 ? {} : { data };
    const applied = await this.#client.request<KubeObject>({
      method: 'PATCH',
      path: secretPath({ namespace, name }),
      query: { fieldManager: manager, force: 'false' },
      contentType: 'application/apply-patch+yaml',
      accept: metadataOnly,
      body: { apiVersion: 'v1', kind: 'Secret', metadata, ...keys },
    });
    return stripped(applied).metadata;
  }

  /** Deletes a Secret; 409 if it does not have the version of the precondition, 404 if it is gone. */
  async delete(target: NamespacedName, precondition: Precondition): Promise<void> {
    await this.#client.request({
      method: 'DELETE',
      path: secretPath(target),
      accept: metadataOnly,
      body: { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: precondition },
    });
  }

  async #write(
    method: 'POST' | 'PUT',
    path: string,
    content: SecretContent,
    query: Readonly<Record<string, string>> = {},
  ): Promise<ObjectMeta> {
    const body = { apiVersion: 'v1', kind: 'Secret', ...content };
    const written = await this.#client.request<KubeObject>({ method, path, query, body, accept: metadataOnly });
    return written.metadata;
  }
}

/** The path of the Secrets in a namespace, or in all namespaces. */
export function secretsPath(namespace?: string): string {
  return namespace === undefined ? '/api/v1/secrets' : `/api/v1/namespaces/${encodeURIComponent(namespace)}/secrets`;
}

function secretPath({ namespace, name }: NamespacedName): string {
  return `${secretsPath(namespace)}/${encodeURIComponent(name)}`;
}
