import type { ResourceKind } from '../../kube/client/custom-resources.ts';
import { type EventDeps, type ObjectEvent, recordEvent } from '../../kube/client/events.ts';
import { type KubeObject, objectKey } from '../../kube/client/objects.ts';
import type { Clock } from '../../lib/clock.ts';
import { type Logger, errorFields } from '../../observability/logger.ts';
import { eventNotRecorded } from './messages.ts';

export interface AnnounceDeps extends Omit<EventDeps, 'controller'> {
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Records an Event that no condition reports, such as one about an action. Best effort: nothing waits for it. */
export function announce(
  { clock, logger, ...deps }: AnnounceDeps,
  kind: ResourceKind,
  resource: KubeObject,
  event: Omit<ObjectEvent, 'at'>,
): void {
  const controller = `${kind.group}/${kind.kind.toLowerCase()}`;
  recordEvent({ ...deps, controller }, kind, resource, { ...event, at: clock.now() }).catch((error: unknown) => {
    logger.debug({ key: objectKey(resource.metadata), ...errorFields(error) }, eventNotRecorded);
  });
}
