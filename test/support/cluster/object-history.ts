import { text } from 'node:stream/consumers';
import type { KubeHttp, KubeObject } from '../../../tools/devcluster/cluster/kube-http.ts';

/** A place in the history of a collection: what was written before it, and what after. */
export type HistoryMark = string & { readonly brand: 'HistoryMark' };

/** The history of a collection of objects, as a watch of it shows what was. The API server keeps it for some minutes. */
export class ObjectHistory<T extends KubeObject> {
  readonly #kube: KubeHttp;
  readonly #path: string;

  constructor(kube: KubeHttp, path: string) {
    this.#kube = kube;
    this.#path = path;
  }

  async mark(): Promise<HistoryMark> {
    const list = await this.#kube.json<{ metadata: { resourceVersion: string } }>({ path: this.#path });
    return list.metadata.resourceVersion as HistoryMark;
  }

  /** Each state that an object of the collection has had since the mark and before this call, oldest first. */
  async since(mark: HistoryMark): Promise<T[]> {
    const query = `watch=true&resourceVersion=${mark}&timeoutSeconds=1`;
    const stream = await this.#kube.stream(`${this.#path}?${query}`, AbortSignal.timeout(90_000));
    const lines = (await text(stream)).split('\n').filter((line) => line !== '');
    return lines.map((line) => {
      const { type, object } = JSON.parse(line) as { type: string; object: T };
      if (type === 'ERROR') throw new Error(line);
      return object;
    });
  }
}
