import { expect } from '@jest/globals';
import { ApiError } from '../../../../src/kube/client/api-error.ts';
import type { ApiCall, KubeClient } from '../../../../src/kube/client/client.ts';
import { secretSyncKind } from '../../../../src/kube/client/keyframe-kinds.ts';
import { collectionPath, createResource } from '../../../../src/kube/client/custom-resources.ts';
import type { KubeObject, ObjectMeta } from '../../../../src/kube/client/objects.ts';
import {
  SecretsClient,
  type SecretContent,
  type SecretObject,
  secretsPath,
} from '../../../../src/kube/client/secrets.ts';
import { watchEvents } from '../../../../src/kube/informer/watch-stream.ts';

/** A behaviour of the API server on which the controller or its tests rely. It runs in a namespace of its own. */
export interface ContractCase {
  /** What the API server does, after the title of its group. */
  readonly title: string;
  readonly expectHolds: (site: ContractSite) => Promise<void>;
}

/** An object with whatever it has beside its metadata. */
export type ContractObject = KubeObject & Readonly<Record<string, unknown>>;

type Client = Pick<KubeClient, 'request' | 'watch'>;

export const mergePatch = 'application/merge-patch+json';

/** A namespace without objects, on an API server or on one in memory. */
export class ContractSite {
  readonly client: Client;
  readonly namespace: string;
  readonly secrets: SecretsClient;
  readonly #watches: AbortController[] = [];

  constructor(client: Client, namespace: string) {
    this.client = client;
    this.namespace = namespace;
    this.secrets = new SecretsClient({ client });
  }

  get secretsPath(): string {
    return secretsPath(this.namespace);
  }

  get syncsPath(): string {
    return collectionPath(secretSyncKind, this.namespace);
  }

  async call<T = ContractObject>(method: ApiCall['method'], path: string, more: Partial<ApiCall> = {}): Promise<T> {
    return await this.client.request<T>({ method, path, ...more });
  }

  async patch(path: string, body: object): Promise<ContractObject> {
    return await this.call('PATCH', path, { contentType: mergePatch, body });
  }

  secretPath(name: string): string {
    return `${this.secretsPath}/${name}`;
  }

  syncPath(name: string): string {
    return `${this.syncsPath}/${name}`;
  }

  /** Makes a Secret of the type Opaque, with the value `dg==` for each of these keys. */
  async makeSecret(name: string, metadata: Partial<SecretContent['metadata']> = {}, keys = ['A']): Promise<ObjectMeta> {
    return await this.secrets.create(this.namespace, secretContent(name, metadata, keys));
  }

  async secret(name: string): Promise<SecretObject | undefined> {
    return await this.secrets.find({ namespace: this.namespace, name });
  }

  /** Makes a suspended SecretSync. */
  async makeSync(name: string, metadata: Partial<ObjectMeta> = {}): Promise<ObjectMeta> {
    const { namespace } = this;
    return await createResource(this.client, secretSyncKind, {
      metadata: { ...metadata, name, namespace },
      spec: {
        environmentRef: { organization: 'acme', project: 'web', name: 'prod' },
        tokenSecretRef: { name: 'reader', key: 'token' },
        target: { type: 'Opaque', creationPolicy: 'Create', deletionPolicy: 'Retain', labels: { a: '1', b: '2' } },
        maxDeletedKeys: '50%',
        suspend: true,
      },
    });
  }

  async sync(name: string): Promise<ContractObject> {
    return await this.call('GET', this.syncPath(name));
  }

  /** Begins to watch; `next` returns the next event. */
  async watch(path: string, query: Readonly<Record<string, string>>): Promise<WatchReader> {
    const abort = new AbortController();
    this.#watches.push(abort);
    const body = await this.client.watch({
      path,
      query: { watch: 'true', timeoutSeconds: '60', ...query },
      signal: abort.signal,
    });
    return new WatchReader(watchEvents<KubeObject>(body));
  }

  /** Ends all watches. */
  close(): void {
    for (const watch of this.#watches) watch.abort();
  }
}

/** The events of a watch, one at a time. */
export class WatchReader {
  readonly #events: ReturnType<typeof watchEvents<KubeObject>>;

  constructor(events: ReturnType<typeof watchEvents<KubeObject>>) {
    this.#events = events;
  }

  /** Waits for the next event, which must be of this type and about the object of this name. */
  async next(type: 'ADDED' | 'MODIFIED' | 'DELETED', name: string): Promise<ContractObject> {
    const { value } = await this.#events.next();
    if (value === undefined || value.type === 'ERROR') throw new Error('the watch has ended');
    expect([value.type, value.object.metadata.name]).toEqual([type, name]);
    return value.object as ContractObject;
  }

  /** Waits for the error that ends the watch; returns its status. */
  async end(): Promise<number> {
    const { value } = await this.#events.next();
    if (value?.type !== 'ERROR') throw new Error('the watch goes on');
    return value.status;
  }
}

export function secretContent(
  name: string,
  metadata: Partial<SecretContent['metadata']> = {},
  keys: readonly string[] = ['A'],
): SecretContent {
  const data = Object.fromEntries(keys.map((key) => [key, 'dg==']));
  return { metadata: { ...metadata, name }, type: 'Opaque', data };
}

/** The refusal of a call, which must fail: its status and reason. */
export async function refusal(work: Promise<unknown>): Promise<string> {
  return (await refused(work)).code;
}

/** The error of a call, which must fail. */
export async function refused(work: Promise<unknown>): Promise<ApiError> {
  const error: unknown = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ApiError)) throw new Error('the API server must refuse the call', { cause: error });
  return error;
}

export function versionOf({ metadata }: KubeObject): number {
  return Number(metadata.resourceVersion);
}
