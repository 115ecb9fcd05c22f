import type { RequestListener } from 'node:http';
import type { Express, RequestHandler } from 'express';
import { bareApp, listenerOf } from './bare-app.ts';
import { clusterRouter } from './cluster/router.ts';
import { commandRouter } from './command-download.ts';
import { createDashboard } from './dashboard.ts';
import { documentationRouter } from './documentation.ts';
import { healthRouter } from './health/health-router.ts';
import { errorHandler } from './middleware/error-handler.ts';
import { requestTarget } from './middleware/request-target.ts';
import { type RequestLogDeps, requestLog } from './middleware/request-log.ts';
import { responseHeaders } from './middleware/response-headers.ts';
import type { IdentifyClusterDeps } from './admission/identify-cluster.ts';
import type { RouteHandlerDeps } from './middleware/route-handler.ts';
import type { UntrustedProxyWatch } from './admission/untrusted-proxy.ts';
import { type RateLimitOptions, RateLimits, noRateLimits } from './admission/rate-limits.ts';
import type { Readiness } from './health/readiness.ts';
import { publicContentSender } from './response/public-content.ts';
import { oidcRouter } from './sign-in/router.ts';
import { startPageRouter } from './start-page.ts';
import { referenceRouter } from './openapi/reference.ts';
import { createRouter, unknownPath } from './router.ts';
import { publicRouteTable, routeTable } from './routes/table.ts';
import { WorkLimit, type WorkLimits } from './admission/work-limit.ts';

export interface AppDeps
  extends
    Omit<RouteHandlerDeps, 'rateLimits' | 'workLimit'>,
    Pick<IdentifyClusterDeps, 'clusterAuthentication'>,
    RequestLogDeps {
  readonly readiness: Pick<Readiness, 'blocker'>;
  readonly untrustedProxies: Pick<UntrustedProxyWatch, 'middleware'>;
  readonly options?: AppOptions;
}

export interface AppOptions {
  /** Addresses and CIDR ranges of the proxies whose X-Forwarded-For is trusted; none by default. */
  readonly trustedProxies?: readonly string[];
  /** No limits by default. */
  readonly rateLimits?: RateLimitOptions;
  readonly workLimits?: WorkLimits;
  /** File of the built `keyframe` command, which /cli serves. Without it, /cli returns 404. */
  readonly commandFile?: string;
  /** Folder of the built dashboard. Without it, / is a page that links to the command and to the reference. */
  readonly dashboardFolder?: string;
  /** Folder of the built pages of the documentation. Without it, /docs leads to the reference. */
  readonly documentationFolder?: string;
}

/** What the listeners of a server serve. They share the limits of requests. */
export interface Apps {
  /**
   * The API: /api/v1, /healthz, /readyz, /openapi.json, /cli, the documentation at /docs, the dashboard at /, and sign-in with
   * OpenID Connect at /sign-in/oidc.
   */
  readonly api: RequestListener;
  /** Only /api/v1/cluster, for controllers. */
  readonly cluster: RequestListener;
}

export function createApps({ options = {}, ...rest }: AppDeps): Apps {
  const { rateLimits = noRateLimits, workLimits } = options;
  const deps = { ...rest, rateLimits: new RateLimits(rateLimits), workLimit: new WorkLimit(workLimits) };
  const cluster = clusterRouter(deps);
  return { api: listenerOf(apiApp({ ...deps, options }, cluster)), cluster: listenerOf(clusterApp(deps, cluster)) };
}

type Deps = Omit<AppDeps, 'options'> & RouteHandlerDeps;

function apiApp({ options, ...deps }: Deps & { readonly options: AppOptions }, cluster: RequestHandler): Express {
  const app = bareApp();
  app.set('trust proxy', [...(options.trustedProxies ?? [])]);
  app.use(requestLog(deps), responseHeaders, requestTarget, deps.untrustedProxies.middleware);
  app.use(healthRouter(deps.readiness));
  const sendPublic = publicContentSender(deps);
  const dashboard = createDashboard(options.dashboardFolder, sendPublic);
  app.use(dashboard.router);
  app.use(startPageRouter());
  app.use(referenceRouter(sendPublic));
  app.use(documentationRouter(options.documentationFolder, sendPublic));
  app.use(commandRouter(options.commandFile, sendPublic));
  app.use(oidcRouter(deps));
  app.use(cluster);
  app.use(createRouter('/api/v1', [...routeTable, ...publicRouteTable], deps));
  app.use(dashboard.unknownPage, unknownPath, errorHandler);
  return app;
}

/** Without a proxy before it. */
function clusterApp(deps: Deps, cluster: RequestHandler): Express {
  const app = bareApp();
  app.use(requestLog(deps), responseHeaders, requestTarget);
  app.use(cluster);
  app.use(unknownPath, errorHandler);
  return app;
}
