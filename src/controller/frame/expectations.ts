import type { KubeObject } from '../../kube/client/objects.ts';
import type { ControllerEvent, EventFilter } from './dependencies.ts';

// More writes than this before the watch shows one of them means that the watch is far behind.
const maxSuperseded = 64;

/**
 * One object as the controller itself wrote or saw it last, until the watch catches up. It distinguishes the echo of an own
 * write from a change by another client, by resource versions alone and without ordering them: a version that one of our
 * writes replaced is old news, and the one that our last write left is no news.
 */
export class Expectations<T extends KubeObject> implements EventFilter {
  /** What our last write left, until the watch shows it or something else. */
  #latest: T | undefined;
  /** Versions that our writes replaced since the watch last showed one of ours. */
  readonly #superseded = new Set<string>();
  /** The version that the watch showed last. */
  #seen: string | undefined;

  /**
   * Notes a write, which replaced the version `base` (undefined where it made the object) and left `result`; or a look
   * that found `result` where the watch still showed `base`.
   */
  record(base: string | undefined, result: T): void {
    // A write that changed nothing leaves the version, and there is no event about it.
    if (base === result.metadata.resourceVersion) return;
    if (base !== undefined) this.#superseded.add(base);
    if (this.#latest !== undefined) this.#superseded.add(this.#latest.metadata.resourceVersion);
    this.#latest = result;
    for (const version of this.#superseded) {
      if (this.#superseded.size <= maxSuperseded) break;
      this.#superseded.delete(version);
    }
  }

  /** Whether the watch has not shown our last write yet. */
  get isAhead(): boolean {
    return this.#latest !== undefined;
  }

  /** The newest that is known: what the watch shows, or our own write where the watch is still behind it. */
  current(watched: T | undefined): T | undefined {
    if (this.#latest === undefined) return watched;
    const isBehind = watched === undefined || this.#superseded.has(watched.metadata.resourceVersion);
    return isBehind ? this.#latest : watched;
  }

  take({ version, uid }: ControllerEvent): boolean {
    return version === undefined ? this.observeGone(uid) : this.observe(version);
  }

  /** Takes the version that the watch showed. Returns whether it is anything else than the echo of an own write. */
  observe(resourceVersion: string): boolean {
    if (this.#superseded.has(resourceVersion)) return false;
    const isOwn = resourceVersion === this.#latest?.metadata.resourceVersion;
    const isExternal = !isOwn && resourceVersion !== this.#seen;
    this.#forget();
    this.#seen = resourceVersion;
    return isExternal;
  }

  /** Takes that the watch showed an object's end; whether it is news. Another uid than our last write's is old news. */
  observeGone(uid: string | undefined): boolean {
    if (uid !== undefined && this.#latest !== undefined && this.#latest.metadata.uid !== uid) return false;
    this.#forget();
    this.#seen = undefined;
    return true;
  }

  /** Drops all expectations: what the watch shows next is news. */
  reset(): void {
    this.#forget();
    this.#seen = undefined;
  }

  #forget(): void {
    this.#latest = undefined;
    this.#superseded.clear();
  }
}
