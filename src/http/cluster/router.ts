import { type Request, type RequestHandler, type Response, Router } from 'express';
import { limitsOwner } from '../../domain/cluster-principal.ts';
import type { ErrorCode } from '../../domain/errors/catalogue.ts';
import { errorFields, type Logger } from '../../observability/logger.ts';
import type { ClusterPorts } from '../../services/cluster/cluster-port.ts';
import { type ClusterMethod, type ClusterMethodName, clusterMethods } from '../../wire/cluster/methods.ts';
import { parseInput } from '../../wire/parse-input.ts';
import { type IdentifyClusterDeps, identifyCluster } from '../admission/identify-cluster.ts';
import { sourceAddress, sourceNetwork } from '../admission/source-address.ts';
import { readRoomOf, type Work, type WorkLimit } from '../admission/work-limit.ts';
import { inviteBody, readJson } from '../request/body.ts';
import { contextOf } from '../request-context.ts';
import { prepareResponse, sendResponse } from '../response/send-response.ts';
import { serveGet, servePost, unknownPath } from '../router.ts';
import { type EventsHandlerDeps, eventsHandler } from './events.ts';
import { answerOf } from './answers.ts';
import { type ClusterCall, clusterHandlers } from './handlers.ts';
import { processOf } from './process-of.ts';
import { RequestsUnderWay } from './under-way.ts';

export interface ClusterRouterDeps extends IdentifyClusterDeps {
  readonly services: EventsHandlerDeps['services'] & { readonly clusterPorts: Pick<ClusterPorts, 'of' | 'inShare'> };
  readonly workLimit: WorkLimit;
  readonly logger: Logger;
}

const clusterPrefix = '/api/v1/cluster';

/**
 * The port of controllers that are not in this process (docs/internals/cluster-protocol.md). What a cluster may do is judged
 * by the services, for the cluster that the request proves to come from.
 */
export function clusterRouter(deps: ClusterRouterDeps): RequestHandler {
  const router = Router({ caseSensitive: true, strict: true });
  const underWay = new RequestsUnderWay();
  for (const name of Object.keys(clusterMethods) as ClusterMethodName[]) {
    servePost(router, `${clusterPrefix}/${name}`, methodHandler(name, { ...deps, underWay }));
  }
  serveGet(router, `${clusterPrefix}/events`, eventsHandler(deps));
  // Also what a newer controller asks for.
  router.use(clusterPrefix, unknownPath);
  // Every request of the API passes here: none of them is to be compared with each of these paths.
  return (request, response, next) => {
    if (isBelow(clusterPrefix, request.path)) router(request, response, next);
    else next();
  };
}

function isBelow(prefix: string, path: string): boolean {
  return path === prefix || path.startsWith(`${prefix}/`);
}

interface MethodDeps extends ClusterRouterDeps {
  readonly underWay: RequestsUnderWay;
}

function methodHandler(name: ClusterMethodName, deps: MethodDeps): RequestHandler {
  const method = clusterMethods[name] as unknown as ClusterMethod<object, unknown>;
  const handle = clusterHandlers[name] as unknown as (call: ClusterCall, request: object) => Promise<unknown>;
  const { workLimit, underWay, rateLimits, logger } = deps;
  const { clusterPorts } = deps.services;
  const serve = async (request: Request, response: Response, work: Work): Promise<void> => {
    const cluster = await identifyCluster(request, deps, { isHello: name === 'hello' });
    const owner = limitsOwner(cluster);
    let bytes = 0;
    let items = 1;
    work.isOf(owner, (more) => void (bytes += more));
    const address = sourceAddress(request);
    const network = sourceNetwork(address ?? '');
    const starting = { owner, process: processOf(request), network, flight: method.flight };
    try {
      const { limits } = method;
      const body = await readJson({ request, limits, work, invite: () => inviteBody(request) });
      const asked = parseInput('body', method.request, body);
      items = itemsOf(asked);
      const call: ClusterCall = {
        port: clusterPorts.of(cluster.name, address),
        cluster,
        room: readRoomOf(work),
        gone: signalOfClose(response),
        onBug: (error) => {
          logger.error({ requestId: contextOf(request).id, ...errorFields(error) }, 'a read of a cluster failed');
        },
      };
      const run = async (): Promise<unknown> => await clusterPorts.inShare(cluster, () => handle(call, asked));
      const onError = (code: ErrorCode): void => void (contextOf(request).code = code);
      const prepared = await underWay.run(starting, async () => {
        const answer = await answerOf(method, { cluster, asked, run, onError });
        return await prepareResponse({ status: 200, body: answer }, work);
      });
      work.computed();
      await sendResponse(response, prepared, { work });
    } finally {
      // A request that is refused costs as much.
      await rateLimits.countCluster(address, cluster, { items, bytes });
    }
  };
  return (request, response) => workLimit.during(response, (work) => serve(request, response, work));
}

/** Aborted when the response is sent or its client is gone. */
function signalOfClose(response: Response): AbortSignal {
  const controller = new AbortController();
  response.once('close', () => controller.abort());
  return controller.signal;
}

function itemsOf(asked: object): number {
  return 'items' in asked && Array.isArray(asked.items) ? asked.items.length : 1;
}
