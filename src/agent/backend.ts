import { createSecretKey, type KeyObject } from 'node:crypto';
import type { Backend, ConnectBackend } from '../controller/backend/backend.ts';
import type { PresentState, StateQuestion } from '../domain/changes.ts';
import type { ClusterState } from '../domain/cluster-ceiling.ts';
import { stateRefusal } from '../domain/cluster-refusal.ts';
import { portProtocol } from '../domain/clusters.ts';
import { DomainError } from '../domain/errors/domain-error.ts';
import type { RefusedReports, SyncStateReport } from '../domain/fleet.ts';
import { limits } from '../domain/limits.ts';
import type { AdmittedSource } from '../domain/source-reads.ts';
import type { Clock } from '../lib/clock.ts';
import { ownRelease } from '../lib/release.ts';
import { fingerprintOfCluster } from '../lib/set-fingerprint.ts';
import type { Logger } from '../observability/logger.ts';
import { maxComparedIds } from '../wire/cluster/changes.ts';
import { maxForgotten, syncStateReport } from '../wire/cluster/fleet.ts';
import { clusterBodyLimits } from '../wire/cluster/methods.ts';
import { encodeInput } from '../wire/parse-input.ts';
import { Calls } from './calls.ts';
import { ServerEvents } from './events.ts';
import { packed, parcelOf } from './parcels.ts';
import { Reads } from './reads.ts';
import { HttpsTransport, type ServerAddress, type Transport } from './transport.ts';

export interface ConnectionDeps {
  readonly clock: Clock;
  readonly logger: Logger;
}

export type ServerConnectionDeps = ConnectionDeps & ServerAddress;

/** A controller's connection to a server in another process. */
export interface ServerConnection {
  readonly connect: ConnectBackend;
  /** Why this process cannot work: the server has not answered yet, or refuses it. Undefined after its first answer, also in outages. */
  fault(): string | undefined;
}

/** Connects a controller to a server over HTTPS (docs/internals/cluster-protocol.md). */
export function connectOverHttps({ clock, logger, ...address }: ServerConnectionDeps): ServerConnection {
  return connectBy((cluster) => new HttpsTransport({ ...address, cluster }), { clock, logger });
}

/** The same with another transport. */
export function connectBy(
  open: (cluster: () => string) => Transport,
  { clock, logger }: ConnectionDeps,
): ServerConnection {
  const greeting = new Greeting();
  return {
    fault: () => greeting.fault,
    connect: (cluster) => {
      const transport = open(cluster);
      const calls = new Calls(transport);
      const reads = new Reads(calls);
      const events = new ServerEvents({ transport, clock, logger });
      return {
        ...resourcesOf(calls),
        cluster: { hello: async (hello) => await greeting.say(calls, hello) },
        changes: {
          subscribe: (subscriber) => events.subscribe(subscriber),
          compare: async (question) => await compare(calls, question),
        },
        sources: {
          read: async (question) => await reads.read(question),
          find: async (question) => await calls.call('states', { ...question, source: sourceOf(question.source) }),
          values: async (question) => await calls.call('values', { ...question, source: sourceOf(question.source) }),
        },
        fleet: fleetOf(calls),
        fingerprint: fingerprintOfCluster((name) => greeting.fingerprintKeyOf(name), cluster),
      };
    },
  };
}

/** What this process knows of the server by its answers to hellos. */
class Greeting {
  #key: KeyObject | undefined;
  #state: ClusterState = 'enabled';
  #fault: string | undefined = 'the server of Keyframe has not answered yet';

  get fault(): string | undefined {
    return this.#fault;
  }

  /** Throws DomainError cluster_unavailable before the first answer, and the refusal of a cluster that is not enabled. */
  fingerprintKeyOf(cluster: string): KeyObject {
    if (this.#key !== undefined) return this.#key;
    const unknown = this.#fault ?? 'another cluster has the name of this one';
    throw stateRefusal(cluster, { state: this.#state }) ?? new DomainError('cluster_unavailable', unknown);
  }

  say: (calls: Calls, ...hello: Parameters<Backend['cluster']['hello']>) => ReturnType<Backend['cluster']['hello']> =
    async (calls, hello) => {
      try {
        const program = { release: ownRelease(), protocol: portProtocol };
        const { fingerprintKey, ...answer } = await calls.call('hello', { ...hello, ...program });
        if (fingerprintKey !== undefined) this.#key = createSecretKey(Buffer.from(fingerprintKey, 'base64'));
        this.#fault = undefined;
        this.#state = answer.state;
        return answer;
      } catch (error) {
        if (error instanceof DomainError && (this.#fault !== undefined || !isPassing(error)))
          this.#fault = error.detail;
        throw error;
      }
    };
}

/** Whether the server may answer the same soon. */
function isPassing({ description: { effect, isOutage } }: DomainError): boolean {
  return isOutage === true || effect === 'retry';
}

/** Only keyless sources are judged by the grants of the namespace. */
function sourceOf(source: AdmittedSource): AdmittedSource {
  if (source.credential === 'keyless') return source;
  const { kind, namespace, name, uid, requestId } = source.asker;
  return { ...source, asker: { kind, namespace, name, uid, requestId, grants: [], ownGrant: undefined } };
}

/** With more ids than one request may have, the answers are of different moments. */
async function compare(calls: Calls, question: StateQuestion): Promise<PresentState> {
  const answers: PresentState[] = [];
  for (const part of partsOf(question)) answers.push(await calls.call('compare', part));
  const union = (set: (answer: PresentState) => ReadonlySet<string>): ReadonlySet<string> =>
    new Set(answers.flatMap((answer) => [...set(answer)]));
  return {
    environments: new Map(answers.flatMap(({ environments }) => [...environments])),
    liveCredentials: union(({ liveCredentials }) => liveCredentials),
    liveTokens: union(({ liveTokens }) => liveTokens),
    kept: union(({ kept }) => kept),
    clusterState: answers.at(-1)?.clusterState ?? 'enabled',
    clusterRules: new Map(answers.flatMap(({ clusterRules }) => [...clusterRules])),
  };
}

const questionLists = ['environmentIds', 'credentialIds', 'serviceTokenIds', 'keptIds', 'rulesOf'] as const;

function partsOf(question: StateQuestion): StateQuestion[] {
  const asked = questionLists.flatMap((list) => [...new Set(question[list])].map((id) => ({ list, id })));
  const parts = chunksOf(asked, maxComparedIds).map((chunk) => {
    const byList = Map.groupBy(chunk, ({ list }) => list);
    return Object.fromEntries([...byList].map(([list, ids]) => [list, ids.map(({ id }) => id)]));
  });
  return parts.length === 0 ? [{}] : parts;
}

type ResourceParts = Pick<Backend, 'tokens' | 'snapshots' | 'restores' | 'schedules' | 'environments'>;

/** What custom resources ask that act in their own name. */
function resourcesOf(calls: Calls): ResourceParts {
  return {
    tokens: {
      find: async (asker) => await calls.call('resources/service-tokens/find', { asker }),
      serialOf: async (asker, token) => await calls.call('resources/service-tokens/serial-of', { asker, token }),
      placeOf: async (asker, place) => await calls.call('resources/service-tokens/place-of', { asker, place }),
      mayMint: async (asker, place) => await calls.call('resources/service-tokens/may-mint', { asker, place }),
      mint: async (asker, place, input) => await calls.call('resources/service-tokens/mint', { asker, place, input }),
      federate: async (asker, place, input) =>
        await calls.call('resources/service-tokens/federate', { asker, place, input }),
      activate: async (asker, serial, token) =>
        await calls.call('resources/service-tokens/activate', { asker, serial, token }),
      revokeSerial: async (asker, serial) =>
        await calls.call('resources/service-tokens/revoke-serial', { asker, serial }),
      revoke: async (asker) => await calls.call('resources/service-tokens/revoke', { asker }),
      suspend: async (asker, cause) => await calls.call('resources/service-tokens/suspend', { asker, cause }),
      resume: async (asker, place) => await calls.call('resources/service-tokens/resume', { asker, place }),
      update: async (asker, place, expiries) =>
        await calls.call('resources/service-tokens/update', { asker, place, expiries }),
      live: async (asked) => await calls.call('resources/service-tokens/live', asked),
    },
    snapshots: {
      find: async (asker) => await calls.call('resources/snapshots/find', { asker }),
      take: async (asker, slugs, input) => await calls.call('resources/snapshots/take', { asker, slugs, input }),
      adopt: async (asker, snapshotId) => await calls.call('resources/snapshots/adopt', { asker, snapshotId }),
      delete: async (asker) => await calls.call('resources/snapshots/delete', { asker }),
    },
    restores: {
      find: async (asker) => await calls.call('resources/restores/find', { asker }),
      admit: async (asker, source) => await calls.call('resources/restores/admit', { asker, source }),
      plan: async (asker, source, options, hashes) =>
        await calls.call('resources/restores/plan', { asker, source, options, hashes }),
      restore: async (asker, source, options, planHash) =>
        await calls.call('resources/restores/restore', { asker, source, options, planHash }),
    },
    schedules: {
      list: async (asker) => await calls.call('resources/schedules/list', { asker }),
      admit: async (asker, slugs) => await calls.call('resources/schedules/admit', { asker, slugs }),
      record: async (asker, slugs, runs) => await calls.call('resources/schedules/record', { asker, slugs, runs }),
      extend: async (asker, slugs, child) => await calls.call('resources/schedules/extend', { asker, slugs, child }),
    },
    environments: {
      ensure: async (asker, input) => await calls.call('resources/environments/ensure', { asker, input }),
      appointOwners: async (asker, input) =>
        await calls.call('resources/environments/appoint-owners', { asker, input }),
      find: async (asker) => await calls.call('resources/environments/find', { asker }),
      delete: async (asker, slugs) => await calls.call('resources/environments/delete', { asker, slugs }),
      handOver: async (asker, input) => await calls.call('resources/environments/hand-over', { asker, input }),
    },
  };
}

function fleetOf(calls: Calls): Backend['fleet'] {
  return {
    syncStates: {
      report: async (reports) => await report(calls, reports),
      forget: async (uids) => {
        for (const some of chunksOf(uids, maxForgotten)) await calls.call('sync-states/forget', { uids: some });
      },
      reported: async (after) => await calls.call('sync-states/reported', { after }),
      seen: async () => await calls.call('sync-states/seen', {}),
    },
    waitingRestores: {
      forget: async (uids) => {
        for (const some of chunksOf(uids, maxForgotten)) await calls.call('waiting-restores/forget', { uids: some });
      },
      reported: async (after) => await calls.call('waiting-restores/reported', { after }),
    },
  };
}

/** All sources of a SecretSync go in one request. */
async function report(calls: Calls, reports: readonly SyncStateReport[]): Promise<readonly RefusedReports[]> {
  const groups = [...Map.groupBy(reports, ({ uid }) => uid).values()].map((ofSync) =>
    ofSync.map((one) => parcelOf(encodeInput('body', syncStateReport, one))),
  );
  const refused: RefusedReports[] = [];
  for (const parcels of packed(groups, clusterBodyLimits.reports, limits.reportedAtOnce)) {
    const body = `{"reports":[${parcels.map(({ text }) => text).join(',')}]}`;
    refused.push(...(await calls.send('sync-states/report', () => body)));
  }
  return refused;
}

function chunksOf<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}
