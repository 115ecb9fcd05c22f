import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ClusterIssuerReader } from '../../../src/controller/frame/cluster-issuer.ts';
import { ApiError } from '../../../src/kube/client/api-error.ts';
import type { ApiCall, KubeClient } from '../../../src/kube/client/client.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { Harness } from './controller-harness.ts';
import { settled } from './fake-clock.ts';

const iss = 'https://kubernetes.default.svc';
const key = { kty: 'RSA', alg: 'RS256', use: 'sig', kid: 'one', n: 'modulus', e: 'AQAB' };

describe('the issuer of a cluster', () => {
  let discovery: unknown;
  let keySet: unknown;
  let calls: ApiCall[];
  let warnings: string[];
  let reader: ClusterIssuerReader;

  beforeEach(() => {
    [discovery, keySet, calls, warnings] = [{ issuer: iss }, { keys: [key] }, [], []];
    const request = async (call: ApiCall): Promise<unknown> => {
      calls.push(call);
      const answer = await Promise.resolve(call.path === '/openid/v1/jwks' ? keySet : discovery);
      if (answer instanceof Error) throw answer;
      return answer;
    };
    const write = (line: string): void => void warnings.push((JSON.parse(line) as { msg: string }).msg);
    const kube = { request } as unknown as Pick<KubeClient, 'request'>;
    reader = new ClusterIssuerReader({ kube, logger: createLogger('warn', { write }) });
  });

  test('is read with bounds, and a second read finds nothing new', async () => {
    expect(await reader.refresh()).toBe(true);
    expect(reader.known).toEqual({ iss, keys: [key] });
    expect(calls.map(({ path }) => path)).toEqual(['/.well-known/openid-configuration', '/openid/v1/jwks']);
    for (const call of calls) expect(call).toMatchObject({ method: 'GET', maxBytes: 262_144, timeoutMs: 5_000 });
    expect(await reader.refresh()).toBe(false);
  });

  test('has another key after the API server got one', async () => {
    await reader.refresh();
    keySet = { keys: [key, { ...key, kid: 'two' }] };
    expect(await reader.refresh()).toBe(true);
    expect(reader.known?.keys.map(({ kid }) => kid)).toEqual(['one', 'two']);
  });

  test('has only members of public keys that are texts', async () => {
    keySet = { keys: [{ ...key, d: 'private', x5c: ['certificate'], x: 1, n: 'n'.repeat(2_049) }] };
    await reader.refresh();
    const { n: _n, ...rest } = key;
    expect(reader.known?.keys).toEqual([rest]);
  });

  test.each([
    ['403', new ApiError('GET /openid/v1/jwks', 403, 'Forbidden')],
    ['404', new ApiError('GET /openid/v1/jwks', 404, 'NotFound')],
    ['a long answer', new ApiError('GET /openid/v1/jwks', 0, 'TooLarge')],
    ['no keys', { keys: [] }],
    ['21 keys', { keys: Array.from({ length: 21 }, () => key) }],
    ['a text', 'keys'],
  ])('is unknown after %s, which the log says once', async (_, answer) => {
    await reader.refresh();
    keySet = answer;
    expect([await reader.refresh(), await reader.refresh()]).toEqual([true, false]);
    expect(reader.known).toBeUndefined();
    expect(warnings).toEqual([expect.stringContaining("so the cluster's issuer is unknown")]);
    keySet = { keys: [key] };
    expect(await reader.refresh()).toBe(true);
  });

  test.each([
    new ApiError('GET /openid/v1/jwks', 0, 'Timeout'),
    new ApiError('GET /openid/v1/jwks', 503, 'Unavailable'),
    new ApiError('GET /openid/v1/jwks', 429, 'TooManyRequests'),
  ])('stays known after $message', async (outage) => {
    await reader.refresh();
    keySet = outage;
    expect(await reader.refresh()).toBe(false);
    expect([reader.known?.iss, warnings]).toEqual([iss, []]);
  });
});

describe('a controller', () => {
  let current: Harness;

  beforeEach(() => {
    current = new Harness();
    current.cluster.put('/api/v1/namespaces', 'kube-system', () => {});
    current.cluster.issuer = { iss, keys: [key] };
  });

  afterEach(() => current.controller.stop());

  const reported = (): unknown[] => current.hellos.map(({ issuer }) => issuer?.keys.length);

  test('says its issuer as soon as it works, and a new key within a minute', async () => {
    await current.synced();
    expect(reported().at(-1)).toBe(1);
    current.cluster.issuer = { iss, keys: [key, { ...key, kid: 'two' }] };
    await current.clock.advance(60_000);
    await settled();
    expect(reported().at(-1)).toBe(2);
  });

  test('says none as a standby', async () => {
    await current.synced();
    current.lease.isTaken = true;
    await current.clock.advance(20_000);
    current.hellos.splice(0);
    await current.clock.advance(120_000);
    expect(current.hellos.length).toBeGreaterThan(0);
    expect(new Set(reported())).toEqual(new Set([undefined]));
  });
});
