import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { DomainError } from '../../../src/domain/errors/domain-error.ts';
import { Plaintext } from '../../../src/domain/plaintext.ts';
import { domainError } from '../../../src/wire/cluster/error.ts';
import { type ClusterMethod, type ClusterMethodName, clusterMethods } from '../../../src/wire/cluster/methods.ts';
import { encodeInput, parseInput } from '../../../src/wire/parse-input.ts';
import { samples } from './cluster-samples.ts';

/** What the port of controllers sends, in both directions. */

const names = Object.keys(clusterMethods) as ClusterMethodName[];

function methodOf(name: ClusterMethodName): ClusterMethod<unknown, unknown> {
  return clusterMethods[name];
}

/** As it arrives. */
function sent(json: unknown): unknown {
  return json === undefined ? undefined : JSON.parse(JSON.stringify(json));
}

/** Values become texts, because all instances of Plaintext are equal for Jest. */
function revealed(value: unknown): unknown {
  if (value instanceof Plaintext) return { revealed: value.reveal() };
  if (value instanceof Map) return new Map([...value].map(([key, item]: [unknown, unknown]) => [key, revealed(item)]));
  if (value instanceof Date || value instanceof Set || value instanceof Error) return value;
  if (Array.isArray(value)) return value.map(revealed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, revealed(member)]));
}

describe.each(names)('%s', (name) => {
  const method = methodOf(name);
  const { requests, results } = samples[name];

  test('gets each request as it was sent', () => {
    for (const request of requests as readonly unknown[]) {
      const json = sent(encodeInput('body', method.request, request));
      expect(revealed(parseInput('body', method.request, json))).toEqual(revealed(request));
    }
  });

  test('returns each result as it was', () => {
    for (const result of results as readonly unknown[]) {
      const json = sent(z.encode(method.result, result));
      expect(revealed(z.decode(method.result, json))).toEqual(revealed(result));
    }
  });

  test('refuses an unknown member at each level of a request', () => {
    for (const request of requests as readonly object[]) {
      const json = sent(encodeInput('body', method.request, request));
      for (const changed of withUnknownMember(json)) {
        expect(() => parseInput('body', method.request, changed)).toThrow(DomainError);
      }
    }
  });

  test('leaves out what a newer server adds to a result', () => {
    for (const result of results as readonly unknown[]) {
      const json = sent(z.encode(method.result, result));
      if (typeof json !== 'object' || json === null || Array.isArray(json)) continue;
      expect(revealed(z.decode(method.result, { ...json, addedLater: 1 }))).toEqual(revealed(result));
    }
  });

  test('does not send what a request has besides its members', () => {
    for (const request of requests as readonly object[]) {
      const json = sent(encodeInput('body', method.request, { ...request, more: 'misplaced' }));
      expect(JSON.stringify(json)).not.toContain('misplaced');
    }
  });
});

/** Copies of JSON, each with an unknown member in one of its objects. */
function* withUnknownMember(json: unknown): Generator {
  if (Array.isArray(json)) {
    for (const [index, item] of json.entries()) {
      for (const changed of withUnknownMember(item)) yield json.with(index, changed);
    }
  } else if (typeof json === 'object' && json !== null) {
    yield { ...json, unknown: 1 };
    for (const [name, member] of Object.entries(json)) {
      // Key material has any members.
      if (name === 'keys' && 'iss' in json) continue;
      for (const changed of withUnknownMember(member)) yield { ...json, [name]: changed };
    }
  }
}

describe('a request is refused', () => {
  const refused = (name: ClusterMethodName, change: (request: never) => unknown): DomainError => {
    const { requests } = samples[name];
    const json = sent(encodeInput('body', methodOf(name).request, requests[0]));
    try {
      parseInput('body', methodOf(name).request, change(json as never));
    } catch (error) {
      return error as DomainError;
    }
    throw new Error('it was not refused');
  };
  interface Asked {
    readonly asker: object;
  }

  test.each<[what: string, name: ClusterMethodName, change: (request: never) => unknown]>([
    [
      'for a uid that is no UUID',
      'resources/snapshots/find',
      ({ asker }: Asked) => ({ asker: { ...asker, uid: 'x' } }),
    ],
    [
      'for a request id that is no UUID',
      'resources/snapshots/find',
      ({ asker }: Asked) => ({ asker: { ...asker, requestId: 'x' } }),
    ],
    [
      'for a namespace that Kubernetes refuses',
      'resources/snapshots/find',
      ({ asker }: Asked) => ({ asker: { ...asker, namespace: 'No' } }),
    ],
    [
      'for a name that Kubernetes refuses',
      'resources/snapshots/find',
      ({ asker }: Asked) => ({ asker: { ...asker, name: 'a/b' } }),
    ],
    [
      'for a kind that asks for nothing',
      'resources/snapshots/find',
      ({ asker }: Asked) => ({ asker: { ...asker, kind: 'AccessGrant' } }),
    ],
    [
      'for a resource without the namespace of its kind',
      'resources/snapshots/find',
      ({ asker }: Asked) => ({ asker: { ...asker, namespace: null } }),
    ],
    [
      'for a SecretEnvironment in a namespace',
      'resources/snapshots/find',
      ({ asker }: Asked) => ({ asker: { ...asker, kind: 'SecretEnvironment' } }),
    ],
    [
      'for too many grants',
      'resources/snapshots/adopt',
      ({ asker, ...more }: Asked & { asker: { grants: unknown[] } }) => ({
        ...more,
        asker: { ...asker, grants: Array(2_001).fill(asker.grants[0]) },
      }),
    ],
    [
      'for too many items',
      'reads',
      ({ items, ...more }: { items: unknown[] }) => ({ ...more, items: Array(251).fill(items[0]) }),
    ],
    ['without items', 'reads', (request: object) => ({ ...request, items: [] })],
    [
      'for too many ids',
      'compare',
      ({ keptIds }: { keptIds: string[] }) => ({ keptIds: Array(10_001).fill(keptIds[0]) }),
    ],
    ['for too many keys', 'values', (request: object) => ({ ...request, keys: Array(10_001).fill('K') })],
    ['for more keys than an environment has', 'states', (request: object) => ({ ...request, maxKeys: 10_001 })],
    [
      'for a long name',
      'resources/snapshots/take',
      (request: object) => ({ ...request, input: { name: 'n'.repeat(1_001) } }),
    ],
    [
      'for a revision that is neither number nor id',
      'states',
      (request: object) => ({ ...request, state: { revision: 'HEAD' } }),
    ],
    [
      'for a number that the database does not have',
      'resources/service-tokens/revoke-serial',
      (request: object) => ({ ...request, serial: 2 ** 31 }),
    ],
    [
      'for a time without its zone',
      'resources/schedules/extend',
      ({ child, ...more }: { child: object }) => ({ ...more, child: { ...child, dueAt: '2026-01-01T00:00:00' } }),
    ],
    [
      'for too many uids',
      'sync-states/forget',
      ({ uids }: { uids: string[] }) => ({ uids: Array(10_001).fill(uids[0]) }),
    ],
    [
      'for too many workloads',
      'sync-states/report',
      ({ reports }: { reports: { rollout: { workloads: unknown[] } }[] }) => ({
        reports: [
          {
            ...reports[1],
            rollout: {
              ...reports[1]?.rollout,
              workloads: Array.from({ length: 17 }, () => ({ kind: 'Job', name: 'j' })),
            },
          },
        ],
      }),
    ],
  ])('%s', (_what, name, change) => {
    expect(refused(name, change)).toMatchObject({ code: 'invalid_input' });
  });

  test('without a word of what it has', () => {
    const error = refused('resources/service-tokens/activate', ({ asker }: Asked) => ({
      asker,
      serial: 'kf_svc_secret',
      token: ['kf_svc_secret'],
    }));
    expect(JSON.stringify([error.detail, error.fields])).not.toContain('secret');
  });
});

describe('an error', () => {
  test('keeps its code, detail, fields and the time until a retry', () => {
    const error = new DomainError('invalid_input', 'name: must not be empty', {
      fields: [{ field: 'name', message: 'must not be empty' }],
      retryAfterSeconds: 3,
      cause: new Error('kept by the server'),
    });
    const back = z.decode(domainError, sent(z.encode(domainError, error)) as never);
    const { code, detail, fields, retryAfterSeconds } = error;
    expect(back).toMatchObject({ code, detail, fields, retryAfterSeconds });
    expect(back.cause).toBeUndefined();
  });

  test('of a newer server with an unknown code is an internal one', () => {
    expect(z.decode(domainError, { code: 'made_later', detail: 'what it is' })).toMatchObject({
      code: 'internal',
      detail: 'what it is',
    });
  });
});
