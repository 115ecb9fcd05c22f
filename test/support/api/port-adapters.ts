import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectOverHttps } from '../../../src/agent/backend.ts';
import { composeMetrics, openApi } from '../../../src/compose/edge.ts';
import { connectLocally } from '../../../src/compose/local-backend.ts';
import type { ConnectBackend } from '../../../src/controller/backend/backend.ts';
import { Readiness } from '../../../src/http/health/readiness.ts';
import { UntrustedProxyWatch } from '../../../src/http/admission/untrusted-proxy.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { createLogger, type Logger } from '../../../src/observability/logger.ts';
import { newHomeToken } from '../database/cluster-credentials.ts';
import type { PortAdapter } from './adapters.ts';
import type { TestServices } from './services.ts';

export interface ConnectedPort extends AsyncDisposable {
  readonly connect: ConnectBackend;
}

/** Connects to services, with a server in between for one of the ways. It is a home cluster, whatever its name. */
export async function connectThrough(adapter: PortAdapter, services: TestServices): Promise<ConnectedPort> {
  if (adapter === 'in process') {
    return { connect: connectLocally(services), [Symbol.asyncDispose]: () => Promise.resolve() };
  }
  const token = await newHomeToken(services.database.pool);
  return await serveOverHttp(services, { token });
}

export interface ServedOverHttp extends ConnectedPort {
  readonly url: string;
  readonly tokenFile: string;
}

/** An API server of these services, and a connection that presents this token. */
export async function serveOverHttp(
  services: TestServices,
  { token, logger = createLogger('silent') }: { readonly token: string; readonly logger?: Logger },
): Promise<ServedOverHttp> {
  const open = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), 'keyframe-port-'));
  open.defer(() => rmSync(folder, { recursive: true }));
  const tokenFile = join(folder, 'token');
  writeFileSync(tokenFile, token);
  const edge = {
    services,
    logger,
    metrics: composeMetrics(services),
    readiness: new Readiness({ clock: systemClock, checks: [] }),
    untrustedProxies: new UntrustedProxyWatch({ clock: systemClock, logger }),
  };
  const address = { host: '127.0.0.1', port: 0 };
  const { api } = await openApi(edge, { address, options: {}, graceMs: 1_000 }, open);
  const url = `http://127.0.0.1:${api.port}`;
  const { connect } = connectOverHttps({ url, caFile: undefined, tokenFile, clock: systemClock, logger });
  return { url, tokenFile, connect, [Symbol.asyncDispose]: () => open.disposeAsync() };
}
