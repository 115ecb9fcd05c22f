import type { KubeHttp, KubeObject } from '../../../tools/devcluster/cluster/kube-http.ts';

interface ResourceList {
  readonly resources: readonly { readonly name: string; readonly kind: string; readonly namespaced: boolean }[];
}

/** Asks an API server what it would say to objects; it keeps none of them. */
export class DryRun {
  readonly #kube: KubeHttp;
  readonly #namespace: string;
  readonly #lists = new Map<string, Promise<ResourceList>>();

  /** `namespace` is that of objects that name none. */
  constructor(kube: KubeHttp, namespace: string) {
    this.#kube = kube;
    this.#namespace = namespace;
  }

  /**
   * Why the server refuses an object that a user applies, or creates if the object leaves its name to the server; undefined
   * if the server accepts it. Unknown fields are refused.
   */
  async refusal(object: KubeObject): Promise<string | undefined> {
    const collection = await this.#collection(object);
    const query = 'dryRun=All&fieldValidation=Strict';
    const { status, body } =
      'generateName' in object.metadata
        ? await this.#kube.send({ method: 'POST', path: `${collection}?${query}`, body: object })
        : await this.#kube.send({
            method: 'PATCH',
            path: `${collection}/${object.metadata.name}?${query}&fieldManager=dry-run&force=true`,
            contentType: 'application/apply-patch+yaml',
            body: object,
          });
    return status < 400 ? undefined : `${status} ${(body as { message?: string }).message ?? JSON.stringify(body)}`;
  }

  /** Path of the collection that an object belongs to. */
  async #collection({ apiVersion = '', kind, metadata }: KubeObject): Promise<string> {
    const group = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    const list = this.#lists.get(group) ?? this.#kube.json<ResourceList>({ path: group });
    this.#lists.set(group, list);
    const resource = (await list).resources.find(({ name, kind: known }) => known === kind && !name.includes('/'));
    if (resource === undefined) throw new Error(`The API server knows no ${kind} of ${apiVersion}.`);
    return resource.namespaced
      ? `${group}/namespaces/${metadata.namespace ?? this.#namespace}/${resource.name}`
      : `${group}/${resource.name}`;
  }
}
