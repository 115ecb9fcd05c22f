import type { KubeClient } from './client.ts';
import { microTime } from './micro-time.ts';
import type { KubeObject } from './objects.ts';
import type { ResourceKind } from './custom-resources.ts';

export interface EventDeps {
  readonly client: Pick<KubeClient, 'request'>;
  /** The controller that reports, such as `keyframe.dev/secretsync`. */
  readonly controller: string;
  /** The process that reports: a host's or pod's name. */
  readonly instance: string;
}

export interface ObjectEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  /** What was done: one word. */
  readonly action: string;
  /** For people, in names; never a value. */
  readonly note: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

const maxNoteLength = 1024;
// 253 for the whole name, less the hyphen and the server's random part of five; it may not end in a dot, so no dot before
// that hyphen.
const maxBaseNameLength = 240;

/** Records an Event about an object. Throws ApiError. */
export async function recordEvent(
  deps: EventDeps,
  kind: ResourceKind,
  object: KubeObject,
  event: ObjectEvent,
): Promise<void> {
  const { name, namespace, uid, resourceVersion } = object.metadata;
  // Where kubectl looks for the Events about what belongs to no namespace.
  const place = namespace ?? 'default';
  await deps.client.request({
    method: 'POST',
    path: `/apis/events.k8s.io/v1/namespaces/${encodeURIComponent(place)}/events`,
    body: {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { generateName: `${name.slice(0, maxBaseNameLength).replace(/[.]$/, '')}-`, namespace: place },
      eventTime: microTime(event.at),
      type: event.type,
      reason: event.reason,
      action: event.action,
      note: event.note.slice(0, maxNoteLength),
      reportingController: deps.controller,
      reportingInstance: deps.instance.slice(0, 128),
      regarding: {
        apiVersion: `${kind.group}/${kind.version}`,
        kind: kind.kind,
        name,
        ...(namespace === undefined ? {} : { namespace }),
        uid,
        resourceVersion,
      },
    },
  });
}
