import { type IncomingMessage, request } from 'node:http';
import { once } from 'node:events';
import { afterAll, describe, expect, test } from '@jest/globals';
import { type TestApi, startTestApi } from '../../support/api/http.ts';
import { type World, createWorld } from '../../support/api/services.ts';
import { prismaOf } from '../../support/database/prisma.ts';

const open: TestApi[] = [];
afterAll(async () => {
  for (const api of open) await api.close();
});

interface Site {
  readonly api: TestApi;
  readonly world: World;
}

async function start(trustedProxies: readonly string[]): Promise<Site> {
  const api = await startTestApi({ trustedProxies });
  open.push(api);
  return { api, world: await createWorld(api.services) };
}

/** The source address that the audit has of a request with these headers. */
async function auditedAddress(
  { api, world }: Site,
  headers: Record<string, string | string[]>,
): Promise<string | null> {
  const { token, caller } = world.stranger;
  const outgoing = request({
    host: '127.0.0.1',
    port: api.port,
    path: `/api/v1/organizations/${world.slugs.organization}`,
    headers: { authorization: `Bearer ${token.reveal()}`, ...headers },
  });
  outgoing.end();
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  response.resume();
  expect(response.statusCode).toBe(404);
  const entry = await prismaOf(api.services.database).auditEntry.findFirstOrThrow({
    where: { actorId: caller.principal.id },
    orderBy: { id: 'desc' },
  });
  return entry.sourceAddress;
}

test('without trusted proxies what a request says of its way is not believed', async () => {
  const site = await start([]);
  const headers = {
    'x-forwarded-for': '198.51.100.1',
    forwarded: 'for=198.51.100.1',
    'x-real-ip': '198.51.100.1',
  };
  expect(await auditedAddress(site, {})).toBe('127.0.0.1');
  expect(await auditedAddress(site, headers)).toBe('127.0.0.1');
});

test('a peer that is no trusted proxy is not believed', async () => {
  const site = await start(['10.0.0.0/8', '2001:db8::/32']);
  expect(await auditedAddress(site, {})).toBe('127.0.0.1');
  expect(site.api.untrustedProxies.warning()).toBeUndefined();
  expect(await auditedAddress(site, { 'x-forwarded-for': '198.51.100.1' })).toBe('127.0.0.1');
  expect(site.api.untrustedProxies.warning()).toContain('KEYFRAME_TRUSTED_PROXIES');
  expect(JSON.stringify(site.api.logs)).not.toMatch(/198\.51|127\.0/);
  // Anyone may read this one, so it must not show how the limits can be turned against others.
  expect((await site.api.client().request('GET', '/readyz')).body).toEqual({ status: 'ok' });
});

describe('behind a trusted proxy', () => {
  let site: Site | undefined;
  const audited = async (forwardedFor: string | string[]): Promise<string | null> => {
    site ??= await start(['127.0.0.0/8', '10.1.2.3', '2001:db8:ff::/48']);
    return auditedAddress(site, { 'x-forwarded-for': forwardedFor });
  };

  test.each<[string, string | string[], string]>([
    ['the address it saw counts', '198.51.100.1', '198.51.100.1'],
    [
      'the last that no trusted proxy wrote counts, not what the client made up',
      '1.1.1.1, 198.51.100.1',
      '198.51.100.1',
    ],
    ['further trusted proxies are passed over', '1.1.1.1, 198.51.100.1, 10.1.2.3, 2001:db8:ff::7', '198.51.100.1'],
    ['a header that stands twice is one list', ['1.1.1.1', '198.51.100.1'], '198.51.100.1'],
    ['where all are trusted, the first counts', '10.1.2.3, 127.0.0.9', '10.1.2.3'],
    ['an address of IPv4 in the form of IPv6 is one of IPv4', '::ffff:198.51.100.1', '198.51.100.1'],
    ['a trusted one in the form of IPv6 is trusted', '198.51.100.1, ::ffff:10.1.2.3', '198.51.100.1'],
    ['an address of IPv6 gets its usual form', '2001:DB8:0:0::0001', '2001:db8::1'],
    ['a port is left out', '198.51.100.1:4711', '198.51.100.1'],
    ['what is no address is not kept, but the peer', 'canary-value', '127.0.0.1'],
    ['nothing is not kept, but the peer', ' ', '127.0.0.1'],
    ['a neighbour of a trusted one is not trusted', '198.51.100.1, 10.1.2.4', '10.1.2.4'],
  ])('%s', async (_case, forwardedFor, address) => {
    expect(await audited(forwardedFor)).toBe(address);
  });
});
