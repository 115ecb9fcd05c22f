import type { ChangeSubscriber } from '../../domain/changes.ts';
import { type ClusterPrincipal, limitsOwner } from '../../domain/cluster-principal.ts';
import { DomainError } from '../../domain/errors/domain-error.ts';
import { limits } from '../../domain/limits.ts';
import { type Clock, systemClock } from '../../lib/clock.ts';
import type { ChangeFeed } from '../changes/change-feed.ts';
import { ClusterStream, type ClusterStreamEvent, type StreamReader } from './cluster-stream.ts';

export interface ClusterStreamsDeps {
  readonly feed: Pick<ChangeFeed, 'subscribe' | 'ready'>;
  /** What each cluster may know of. */
  readonly ports: {
    of(cluster: string): { readonly changes: { subscribe(subscriber: ChangeSubscriber): () => void } };
  };
  readonly clock?: Clock | undefined;
  readonly random?: () => number;
}

/** Begins a stream that was opened. Call it once; it ends with the signal, and then frees its place. */
export type OpenClusterStream = (signal: AbortSignal) => AsyncIterable<readonly ClusterStreamEvent[]>;

/** What was committed, for the controllers of clusters as it is committed (docs/internals/change-feed.md). */
export class ClusterStreams {
  readonly #deps: ClusterStreamsDeps;
  /** The oldest first. */
  readonly #streams = new Set<ClusterStream>();
  #isDraining = false;

  constructor(deps: ClusterStreamsDeps) {
    this.#deps = deps;
    deps.feed.subscribe({ onEvent: () => {}, onReady: () => {}, onLost: () => this.#endAll() });
  }

  /** Streams that are open, for the metrics. */
  get open(): number {
    return this.#streams.size;
  }

  /**
   * Opens a stream for a process of a cluster. Its first event is `ready`. A process has two at a time, so that it can open
   * another one before the former one ends: the third ends the first. Beyond the streams of a cluster, it ends the oldest one
   * of the network that has most of them, so that a thief of its token does not keep the controller of the cluster out.
   * Throws DomainError overloaded beyond the limit of all streams, and store_unavailable while commits cannot be received.
   */
  start(cluster: ClusterPrincipal, reader: StreamReader): OpenClusterStream {
    this.#makeRoom(limitsOwner(cluster), reader);
    const { ports, clock = systemClock, random = Math.random } = this.#deps;
    const stream: ClusterStream = new ClusterStream(cluster, reader, { clock, random, leave: () => leave() });
    this.#streams.add(stream);
    const unsubscribe = ports.of(cluster.name).changes.subscribe(stream);
    const leave = (): void => {
      unsubscribe();
      this.#streams.delete(stream);
    };
    return (signal) => stream.events(signal);
  }

  /** Opens no more, and lets the readers connect to another server while they still have a stream of this one. */
  drain(): void {
    this.#isDraining = true;
    for (const stream of this.#streams) stream.renew();
  }

  /** Ends all streams, and opens no more. */
  close(): void {
    this.#isDraining = true;
    this.#endAll();
  }

  #endAll(): void {
    for (const stream of this.#streams) stream.end();
  }

  #makeRoom(owner: string, { processId }: StreamReader): void {
    if (this.#isDraining) throw new DomainError('overloaded', 'this server is shutting down; connect again');
    if (!this.#deps.feed.ready) {
      throw new DomainError('store_unavailable', 'commits cannot be heard at the moment; connect again in a second');
    }
    const ofOwner = [...this.#streams].filter((stream) => stream.owner === owner);
    const ofProcess = ofOwner.filter((stream) => stream.reader.processId === processId);
    // Its connection may be gone without a word.
    if (ofProcess.length >= limits.clusterStreamsPerProcess) return ofProcess[0]?.end();
    if (ofOwner.length >= limits.clusterStreamsPerCluster) return oldestOfLargest(ofOwner)?.end();
    if (this.#streams.size >= limits.clusterStreams) {
      throw new DomainError('overloaded', 'too many streams of clusters are open on this server; connect again later');
    }
  }
}

/** The oldest stream of the network that has most of them. */
function oldestOfLargest(streams: readonly ClusterStream[]): ClusterStream | undefined {
  const byNetwork = [...Map.groupBy(streams, ({ reader }) => reader.network).values()];
  return byNetwork.toSorted((one, other) => other.length - one.length)[0]?.[0];
}
