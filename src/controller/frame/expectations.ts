import type { KubeObject } from '../../kube/client/objects.ts';
import type { ControllerEvent, EventFilter } from './dependencies.ts';

// If there are more writes before the watch shows one of them, the watch is far behind.
const maxSuperseded = 64;

/**
 * The newest known version of an object that the controller itself writes, until the watch shows it. Distinguishes the echo
 * of an own write from a change by another client. It compares resource versions without ordering them: a version that an
 * own write replaced is old, and the version that the last own write created is its echo.
 */
export class Expectations<T extends KubeObject> implements EventFilter {
  /** The result of the last own write, until the watch shows it or another change. */
  #latest: T | undefined;
  /** Versions that own writes replaced since the watch last showed one of these writes. */
  readonly #superseded = new Set<string>();
  /** The version that the watch showed last. */
  #seen: string | undefined;

  /**
   * Records a write that replaced the version `base` (undefined for a creation) by `result`, or a read that returned `result`
   * while the watch showed `base`.
   */
  record(base: string | undefined, result: T): void {
    // A write without a change keeps the version and causes no event.
    if (base === result.metadata.resourceVersion) return;
    if (base !== undefined) this.#superseded.add(base);
    // The answer came after that of a later own write, which replaced this result.
    if (this.#superseded.has(result.metadata.resourceVersion)) return;
    if (this.#latest !== undefined) this.#superseded.add(this.#latest.metadata.resourceVersion);
    this.#latest = result;
    for (const version of this.#superseded) {
      if (this.#superseded.size <= maxSuperseded) break;
      this.#superseded.delete(version);
    }
  }

  /** Whether the watch has not shown the last own write yet. */
  get isAhead(): boolean {
    return this.#latest !== undefined;
  }

  /** The newest known version: from the watch, or from an own write that the watch has not shown yet. */
  current(watched: T | undefined): T | undefined {
    if (this.#latest === undefined) return watched;
    const isBehind = watched === undefined || this.#superseded.has(watched.metadata.resourceVersion);
    return isBehind ? this.#latest : watched;
  }

  take({ version, uid }: ControllerEvent): boolean {
    return version === undefined ? this.observeGone(uid) : this.observe(version);
  }

  /** Call it with the version that the watch shows. Returns false for the echo of an own write. */
  observe(resourceVersion: string): boolean {
    if (this.#superseded.has(resourceVersion)) return false;
    const isOwn = resourceVersion === this.#latest?.metadata.resourceVersion;
    const isExternal = !isOwn && resourceVersion !== this.#seen;
    this.#forget();
    this.#seen = resourceVersion;
    return isExternal;
  }

  /** Call it when the watch shows a deletion. Returns whether it counts: a uid other than that of the last own write is old. */
  observeGone(uid: string | undefined): boolean {
    if (uid !== undefined && this.#latest !== undefined && this.#latest.metadata.uid !== uid) return false;
    this.#forget();
    this.#seen = undefined;
    return true;
  }

  /** Drops all expectations: the next event of the watch counts as a change. */
  reset(): void {
    this.#forget();
    this.#seen = undefined;
  }

  #forget(): void {
    this.#latest = undefined;
    this.#superseded.clear();
  }
}
