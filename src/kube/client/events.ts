import type { KubeClient } from './client.ts';
import { microTime } from './micro-time.ts';
import type { KubeObject } from './objects.ts';
import type { ResourceKind } from './custom-resources.ts';

export interface EventDeps {
  readonly client: Pick<KubeClient, 'request'>;
  /** The controller that reports, such as `keyframe.dev/secretsync`. */
  readonly controller: string;
  /** The process that reports: the name of a host or a pod. */
  readonly instance: string;
}

export interface ObjectEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  /** The action: one word. */
  readonly action: string;
  /** The text for users. It contains names, never values. */
  readonly note: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

const maxNoteLength = 1024;
// The whole name has at most 253 characters, with a hyphen and five random characters of the server.
const maxBaseNameLength = 240;

/** Records an Event about an object. Throws ApiError. */
export async function recordEvent(
  deps: EventDeps,
  kind: ResourceKind,
  object: KubeObject,
  event: ObjectEvent,
): Promise<void> {
  const { name, namespace, uid, resourceVersion } = object.metadata;
  // kubectl expects Events about cluster-scoped objects in this namespace.
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
