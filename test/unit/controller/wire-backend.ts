import { connectBy } from '../../../src/agent/backend.ts';
import type { Transport } from '../../../src/agent/transport.ts';
import type { ConnectBackend } from '../../../src/controller/backend/backend.ts';
import type { Fingerprint } from '../../../src/controller/backend/fingerprint.ts';
import type { ClusterPrincipal } from '../../../src/domain/cluster-principal.ts';
import { Plaintext } from '../../../src/domain/plaintext.ts';
import { answerOf } from '../../../src/http/cluster/answers.ts';
import { type ClusterCall, clusterHandlers } from '../../../src/http/cluster/handlers.ts';
import type { Clock } from '../../../src/lib/clock.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { type ClusterMethod, type ClusterMethodName, clusterMethods } from '../../../src/wire/cluster/methods.ts';
import { parseInput } from '../../../src/wire/parse-input.ts';
import { fingerprintKeyFor } from './builders.ts';

export interface WireDeps {
  readonly clock: Clock;
  readonly isHome: () => boolean;
  readonly hasGreeted: () => boolean;
}

/**
 * A controller's way to a backend as over HTTPS, without a network: each call is JSON there and back, and each request has a
 * backend of its own. What needs no request comes directly: changes, because ids in memory are no UUIDs, and the key of
 * fingerprints if no controller says hello.
 */
export function overTheWire(connect: ConnectBackend, { clock, isHome, hasGreeted }: WireDeps): ConnectBackend {
  const ids = new WireIds();
  const serve = async (name: ClusterMethodName, body: string, cluster: string): Promise<unknown> => {
    const method = clusterMethods[name] as unknown as ClusterMethod<object, unknown>;
    const handle = clusterHandlers[name] as unknown as (call: ClusterCall, request: object) => Promise<unknown>;
    const principal = { name: cluster, isHome: isHome() } as ClusterPrincipal;
    const port = { ...connect(() => cluster), fingerprintKey: () => fingerprintKeyFor(cluster) };
    const call = {
      port,
      cluster: principal,
      room,
      onBug: () => undefined,
      gone: new AbortController().signal,
    } as unknown as ClusterCall;
    const asked = ids.restored(parseInput('body', method.request, JSON.parse(body)));
    return await answerOf(method, { cluster: principal, asked, run: () => handle(call, asked) });
  };
  const open = (cluster: () => string): Transport => ({
    post: async (path, body) => {
      const answer = await serve(path.slice(1) as ClusterMethodName, body, cluster());
      return JSON.parse(JSON.stringify(answer)) as Record<string, unknown>;
    },
    stream: () => Promise.reject(new Error('changes are subscribed to directly')),
  });
  const { connect: connectAgent } = connectBy(open, { clock, logger: createLogger('silent') });
  return (cluster) => {
    const agent = connectAgent(cluster);
    const direct = connect(cluster);
    const fingerprint: Fingerprint = (...given) => (hasGreeted() ? agent : direct).fingerprint(...given);
    const { subscribe } = direct.changes;
    return ids.disguising({ ...agent, fingerprint, changes: { ...agent.changes, subscribe } });
  };
}

const room = { enter: () => Promise.resolve(), take: () => Promise.resolve() };

/** Members of requests that must be UUIDs, as one or as a list. */
const idMembers = new Set([
  'uid',
  'uids',
  'requestId',
  'tokenId',
  'environmentId',
  'revisionId',
  'revision',
  'environmentIds',
  'credentialIds',
  'serviceTokenIds',
  'keptIds',
  'rulesOf',
]);

/** Ids in memory are words. On the way, each is a UUID. */
class WireIds {
  readonly #uuids = new Map<string, string>();
  readonly #words = new Map<string, string>();

  /** A backend whose calls send UUIDs. */
  disguising<T extends object>(backend: T): T {
    return new Proxy(backend, {
      get: (target, name: string) => {
        const member: unknown = target[name as keyof T];
        if (typeof member === 'function' && name !== 'subscribe' && name !== 'fingerprint') {
          return (...given: unknown[]): unknown =>
            (member as (...all: unknown[]) => unknown)(...given.map((one) => this.#sent(one)));
        }
        return typeof member === 'object' && member !== null ? this.disguising(member) : member;
      },
    });
  }

  /** A request with the words again. */
  restored<T>(request: T): T {
    return mapped(request, (uuid) => this.#words.get(uuid) ?? uuid) as T;
  }

  #sent(given: unknown): unknown {
    return mapped(given, (word) => this.#uuidOf(word));
  }

  #uuidOf(word: string): string {
    const uuid = this.#uuids.get(word) ?? `00000000-0000-4000-8000-${String(this.#uuids.size).padStart(12, '0')}`;
    this.#uuids.set(word, uuid);
    this.#words.set(uuid, word);
    return uuid;
  }
}

function mapped(value: unknown, convert: (id: string) => string, isId = false): unknown {
  if (typeof value === 'string') return isId ? convert(value) : value;
  if (Array.isArray(value)) return value.map((item) => mapped(item, convert, isId));
  if (typeof value !== 'object' || value === null || isLeaf(value)) return value;
  const copy: Record<string, unknown> = {};
  for (const [name, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(value))) {
    // Grants, which are those of the moment at which they are sent, have no ids.
    if (descriptor.get !== undefined) Object.defineProperty(copy, name, descriptor);
    else copy[name] = mapped(descriptor.value, convert, idMembers.has(name));
  }
  return copy;
}

function isLeaf(value: object): boolean {
  return [Plaintext, Date, Map, Set].some((type) => value instanceof type);
}
