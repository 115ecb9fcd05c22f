import { LRUCache } from 'lru-cache';
import { sha256 } from '../../lib/digest.ts';

// Far more sources than a cluster has that are denied for long. Beyond it, the oldest denial may be audited a second time.
const maxOfCluster = 5_000;
// More than are registered. Beyond it, the denials of the cluster that was quiet for longest may be audited a second time.
const maxClusters = 100;

/** What a denial is about. */
export interface DeniedSource {
  readonly cluster: string;
  /** Of the SecretSync. */
  readonly uid: string;
  /** The name of the source. */
  readonly source: string | undefined;
}

/**
 * Remembers which denials were audited, so that retries of the same do not fill the audit. Each cluster has a share of its
 * own: no other one can push out what is remembered of it.
 */
export class ReportedDenials {
  /** Digests of verdicts by subject, by cluster. */
  readonly #clusters = new LRUCache<string, LRUCache<string, string>>({ max: maxClusters });

  isReported(source: DeniedSource, verdict: string): boolean {
    return this.#clusters.get(source.cluster)?.peek(subjectOf(source)) === sha256(verdict);
  }

  /** Replaces what was reported of the source before. */
  report(source: DeniedSource, verdict: string): void {
    const own = this.#clusters.get(source.cluster) ?? new LRUCache<string, string>({ max: maxOfCluster });
    this.#clusters.set(source.cluster, own);
    own.set(subjectOf(source), sha256(verdict));
  }

  /** The next denial of the source is reported again. */
  forget(source: DeniedSource): void {
    this.#clusters.get(source.cluster)?.delete(subjectOf(source));
  }
}

function subjectOf({ uid, source }: DeniedSource): string {
  return JSON.stringify([uid, source]);
}
