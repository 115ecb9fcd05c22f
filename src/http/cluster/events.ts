import type { Request, RequestHandler, Response } from 'express';
import { limitsOwner } from '../../domain/cluster-principal.ts';
import type { ClusterStreamEvent } from '../../services/cluster/cluster-stream.ts';
import type { ClusterStreams, OpenClusterStream } from '../../services/cluster/cluster-streams.ts';
import { clusterEventNames } from '../../wire/cluster/events.ts';
import { type IdentifyClusterDeps, identifyCluster } from '../admission/identify-cluster.ts';
import { sourceAddress, sourceNetwork } from '../admission/source-address.ts';
import type { Work, WorkLimit } from '../admission/work-limit.ts';
import { refuseBody } from '../request/body.ts';
import { sendResponse } from '../response/send-response.ts';
import { comment, eventText } from '../response/server-sent-events.ts';
import type { EventStream } from '../route.ts';
import { processOf } from './process-of.ts';

export interface EventsHandlerDeps extends IdentifyClusterDeps {
  readonly services: { readonly clusterStreams: Pick<ClusterStreams, 'start'> };
  readonly workLimit: WorkLimit;
}

// Proxies must not buffer events.
const headers = { 'X-Accel-Buffering': 'no' };

/** `GET /api/v1/cluster/events` (docs/internals/change-feed.md). */
export function eventsHandler(deps: EventsHandlerDeps): RequestHandler {
  const serve = async (request: Request, response: Response, work: Work): Promise<void> => {
    const cluster = await identifyCluster(request, deps);
    work.isOf(limitsOwner(cluster));
    const processId = processOf(request);
    refuseBody(request);
    const address = sourceAddress(request);
    const reader = { processId, network: sourceNetwork(address ?? '') };
    await deps.rateLimits.countCluster(address, cluster, { items: 1 });
    const stream = textOf(deps.services.clusterStreams.start(cluster, reader));
    // It stays open for an hour, and streams have limits of their own.
    work.leave();
    await sendResponse(response, { status: 200, headers, content: stream }, { work });
  };
  return (request, response) => deps.workLimit.during(response, (work) => serve(request, response, work));
}

function textOf(open: OpenClusterStream): EventStream {
  return async function* text(signal) {
    for await (const events of open(signal)) yield events.map(textOfEvent).join('');
  };
}

function textOfEvent(event: ClusterStreamEvent): string {
  if (event.kind === 'idle') return comment;
  return eventText({ event: clusterEventNames[event.kind], data: event.kind === 'change' ? event.change : {} });
}
