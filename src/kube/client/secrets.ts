import { isApiStatus } from './api-error.ts';
import { type KubeClient, metadataOnly } from './client.ts';
import { type KubeObject, type NamespacedName, type ObjectMeta, stripped } from './objects.ts';

/** A Secret with its values, in base64 as the API server has them. Hold one no longer than it takes to look. */
export interface SecretObject extends KubeObject {
  readonly type?: string;
  readonly immutable?: boolean;
  readonly data?: Readonly<Record<string, string>> | null;
}

/** The metadata of a Secret that shall be written; what is absent is taken away. */
export type SecretMeta = Pick<ObjectMeta, 'name'> &
  Partial<Pick<ObjectMeta, 'labels' | 'annotations' | 'ownerReferences' | 'finalizers'>>;

export interface SecretContent {
  readonly metadata: SecretMeta;
  readonly type: string;
  /** Values in base64. */
  readonly data: Readonly<Record<string, string>>;
}

/** What one field manager wants of a Secret; what it applied before and is absent here is taken away, unless others hold it. */
export interface AppliedContent {
  /** Of the manager; at most 128 characters. */
  readonly manager: string;
  readonly annotations: Readonly<Record<string, string>>;
  /** Values in base64. */
  readonly data: Readonly<Record<string, string>>;
}

/** The very version of an object that a write is meant for; on any other the API server answers 409. */
export interface Precondition {
  readonly uid: string;
  readonly resourceVersion: string;
}

/**
 * Reads and writes of Secrets. A write answers the metadata alone: no value comes back. Everything throws ApiError.
 */
export class SecretsClient {
  readonly #client: Pick<KubeClient, 'request'>;

  constructor(deps: { readonly client: Pick<KubeClient, 'request'> }) {
    this.#client = deps.client;
  }

  /**
   * The Secret with its values; undefined if there is none. With `notOlderThan`, a resourceVersion that a watch has
   * shown, the API server may answer from its own cache any version from that one on, without asking etcd.
   */
  async find(target: NamespacedName, notOlderThan?: string): Promise<SecretObject | undefined> {
    const query = notOlderThan === undefined ? {} : { resourceVersion: notOlderThan };
    try {
      return await this.#client.request<SecretObject>({ method: 'GET', path: secretPath(target), query });
    } catch (error) {
      if (isApiStatus(error, 404)) return undefined;
      // This server is behind the one that the watch reads from, or was restored from a backup.
      if (notOlderThan !== undefined && isApiStatus(error, 410, 504)) return await this.find(target);
      throw error;
    }
  }

  /** Makes a Secret; 409 where one of that name exists, whoever made it. */
  async create(namespace: string, content: SecretContent): Promise<ObjectMeta> {
    return await this.#write('POST', secretsPath(namespace), content);
  }

  /**
   * Lets the API server judge a Secret that shall take the place of one of the same name, and makes nothing: throws the
   * ApiError that `create` would, but not the 409 for the one that is still there.
   */
  async check(namespace: string, content: SecretContent): Promise<void> {
    try {
      await this.#write('POST', secretsPath(namespace), content, { dryRun: 'All' });
    } catch (error) {
      if (!isApiStatus(error, 409)) throw error;
    }
  }

  /** Replaces all of a Secret: 409 where it is no longer the version of the precondition, 404 where it is gone. */
  async replace(namespace: string, content: SecretContent, precondition: Precondition): Promise<ObjectMeta> {
    const versioned = { ...content, metadata: { ...content.metadata, ...precondition } };
    return await this.#write('PUT', secretPath({ namespace, name: content.metadata.name }), versioned);
  }

  /**
   * Applies some keys and annotations of a Secret that belongs to something else (server-side apply, never forced): 409
   * where it is no longer the version of the precondition or is gone, and 409 with causes where another manager holds one of
   * them with another value; then nothing is written.
   */
  async apply(
    { namespace, name }: NamespacedName,
    { manager, annotations, data }: AppliedContent,
    precondition: Precondition,
  ): Promise<ObjectMeta> {
    const metadata = { name, namespace, annotations, ...precondition };
    // An empty map would itself be a field, and held.
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

  /** Deletes just that version of a Secret: 409 for another one, 404 where it is gone. */
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

/** The collection of Secrets in a namespace, or in all of them. */
export function secretsPath(namespace?: string): string {
  return namespace === undefined ? '/api/v1/secrets' : `/api/v1/namespaces/${encodeURIComponent(namespace)}/secrets`;
}

function secretPath({ namespace, name }: NamespacedName): string {
  return `${secretsPath(namespace)}/${encodeURIComponent(name)}`;
}
