import { type IncomingMessage, type Server, createServer, request } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { bareApp } from '../../../src/http/bare-app.ts';
import { createMetricsApp } from '../../../src/http/metrics-app.ts';
import { UntrustedProxyWatch } from '../../../src/http/admission/untrusted-proxy.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { Metrics } from '../../../src/observability/metrics.ts';

const open: Server[] = [];
afterEach(() => {
  for (const server of open.splice(0)) server.close();
});

interface Site {
  readonly watch: UntrustedProxyWatch;
  readonly lines: string[];
  readonly passHours: (hours: number) => void;
  readonly ask: (headers?: Record<string, string>) => Promise<void>;
}

async function start(trusted: readonly string[]): Promise<Site> {
  let now = 0;
  const lines: string[] = [];
  const logger = { warn: (line: string) => void lines.push(line) } as never;
  const watch = new UntrustedProxyWatch({ clock: { now: () => now }, logger });
  const app = bareApp();
  app.set('trust proxy', [...trusted]);
  app.use(watch.middleware, (_request, response) => void response.end());
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  open.push(server);
  const { port } = server.address() as AddressInfo;
  return {
    watch,
    lines,
    passHours: (hours) => void (now += hours * 3_600_000),
    ask: async (headers = {}) => {
      const [response] = (await once(request({ port, host: '127.0.0.1', headers }).end(), 'response')) as [
        IncomingMessage,
      ];
      response.resume();
    },
  };
}

const forwarded = { 'x-forwarded-for': '198.51.100.7' };

test('a request forwarded by a peer that is not trusted leads to one warning an hour, without an address', async () => {
  const { watch, lines, ask, passHours } = await start(['10.0.0.0/8']);
  await ask();
  expect([watch.warning(), lines.length]).toEqual([undefined, 0]);
  for (let count = 0; count < 5; count += 1) await ask(forwarded);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain('KEYFRAME_TRUSTED_PROXIES');
  expect(lines[0]).not.toMatch(/198\.51|127\.0/);
  expect(watch.warning()).toBe(lines[0]);
  passHours(0.9);
  await ask(forwarded);
  expect(lines).toHaveLength(1);
  passHours(0.2);
  await ask(forwarded);
  expect(lines).toHaveLength(2);
});

test('the warning ends an hour after the last such request', async () => {
  const { watch, ask, passHours } = await start([]);
  await ask(forwarded);
  passHours(0.9);
  expect(watch.warning()).toBeDefined();
  passHours(0.2);
  expect(watch.warning()).toBeUndefined();
});

test('a trusted proxy leads to no warning', async () => {
  const { watch, lines, ask } = await start(['127.0.0.0/8']);
  await ask(forwarded);
  expect([watch.warning(), lines]).toEqual([undefined, []]);
});

test('/readyz of the metrics port reports warnings, ready or not', async () => {
  let blocker: string | undefined;
  const app = createMetricsApp({
    logger: createLogger('silent'),
    metrics: new Metrics(),
    readiness: { blocker: () => Promise.resolve(blocker) },
    warnings: () => ['look at this'],
  });
  const server = createServer(app).listen(0, '127.0.0.1');
  open.push(server);
  await once(server, 'listening');
  const ask = async (): Promise<unknown> => {
    const { port } = server.address() as AddressInfo;
    return (await fetch(`http://127.0.0.1:${port}/readyz`)).json();
  };
  expect(await ask()).toEqual({ status: 'ok', warnings: ['look at this'] });
  blocker = 'it waits';
  expect(await ask()).toEqual({ status: 'unavailable', reason: 'it waits', warnings: ['look at this'] });
});
