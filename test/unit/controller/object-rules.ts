import { isDeepStrictEqual } from 'node:util';
import { ApiError, type ErrorCause } from '../../../src/kube/client/api-error.ts';
import type { ApiCall } from '../../../src/kube/client/client.ts';
import type { ObjectMeta } from '../../../src/kube/client/objects.ts';
import type { AnyObject } from './fake-cluster.ts';

/** Fails a call as the API server does. */
export function refuse(
  call: Pick<ApiCall, 'method' | 'path'>,
  status: number,
  reason: string,
  causes: readonly ErrorCause[] = [],
): never {
  throw new ApiError(`${call.method} ${call.path}`, status, reason, { causes });
}

/** Refuses a call for another uid or another version than the object has. A patch of a status may name any uid. */
export function checkPrecondition(call: ApiCall, { metadata }: AnyObject, wanted: Partial<ObjectMeta> = {}): void {
  const isOther = (field: 'uid' | 'resourceVersion'): boolean =>
    wanted[field] !== undefined && wanted[field] !== metadata[field];
  if (isOther('resourceVersion')) refuse(call, 409, 'Conflict');
  if (!isOther('uid') || call.path.endsWith('/status')) return;
  // To a patch, the uid is a field that never changes.
  if (call.method === 'PATCH') refuse(call, 422, 'Invalid', [invalid('metadata.uid')]);
  refuse(call, 409, 'Conflict');
}

function invalid(field: string): ErrorCause {
  return { reason: 'FieldValueInvalid', field, manager: undefined };
}

/**
 * What becomes of an object if a call writes `next` over it: some metadata stays as it was, a status changes only through its
 * own path, and nothing else changes through that one. Refuses what may not change.
 */
export function changed(call: ApiCall, before: AnyObject, next: AnyObject): AnyObject {
  if (call.path.endsWith('/status')) return { ...before, status: next['status'] };
  const { name, namespace, uid, creationTimestamp, deletionTimestamp, managedFields } = before.metadata;
  const fixed = { name, namespace, uid, creationTimestamp, deletionTimestamp };
  // An apply brings the new owners of the fields with it.
  const owners = next.metadata.managedFields ?? managedFields;
  const metadata = { ...next.metadata, ...fixed, managedFields: owners } as ObjectMeta;
  const status = hasSpec(call.path) ? { status: before['status'] } : {};
  const object = { ...next, metadata, ...status };
  if (isSecret(call.path)) checkSecret(call, before, object);
  const { finalizers = [] } = before.metadata;
  const isHeldAnew = metadata.finalizers?.some((finalizer) => !finalizers.includes(finalizer)) === true;
  if (deletionTimestamp !== undefined && isHeldAnew) refuse(call, 422, 'Invalid');
  return object;
}

/** The type of a Secret never changes, and nothing but the metadata of an immutable one. */
function checkSecret(call: ApiCall, before: AnyObject, next: AnyObject): void {
  const isOther = (field: string): boolean => !isDeepStrictEqual(before[field] ?? {}, next[field] ?? {});
  const isOtherType = before['type'] !== (next['type'] ?? 'Opaque');
  const isOtherContent = before['immutable'] === true && (next['immutable'] !== true || isOther('data'));
  if (isOtherType || isOtherContent) refuse(call, 422, 'Invalid');
}

/** An object as it is stored: without what is empty, with what the server fills in. Another spec is another generation. */
export function asStored(path: string, next: AnyObject, before: AnyObject | undefined): AnyObject {
  const { generation: _, ...given } = next.metadata;
  const generation = hasSpec(path) ? { generation: generationAfter(before, next) } : {};
  const metadata = { ...withoutEmpty(given), ...generation } as ObjectMeta;
  if (!isSecret(path)) return { ...next, metadata };
  return { ...(withoutEmpty({ ...next }) as AnyObject), type: next['type'] ?? 'Opaque', metadata };
}

function generationAfter(before: AnyObject | undefined, next: AnyObject): number {
  if (before === undefined) return 1;
  const { generation = 0, deletionTimestamp } = before.metadata;
  const isDeletedNow = deletionTimestamp === undefined && next.metadata.deletionTimestamp !== undefined;
  return isDeletedNow || !isDeepStrictEqual(before['spec'], next['spec']) ? generation + 1 : generation;
}

/** An object that was deleted and has finalizers. */
export function deleting(object: AnyObject): AnyObject {
  return { ...object, metadata: { ...object.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
}

/** Whether a write takes the last finalizer off an object that is being deleted: the object is gone then. */
export function isLetGo(before: AnyObject, next: AnyObject): boolean {
  const isHeld = ({ metadata: { finalizers = [] } }: AnyObject): boolean => finalizers.length > 0;
  return before.metadata.deletionTimestamp !== undefined && isHeld(before) && !isHeld(next);
}

/** Refuses an Event that lacks something, or has more of it than an Event may. */
export function checkEvent(call: ApiCall): void {
  const event = call.body as Readonly<Record<string, string | undefined>>;
  const isText = (field: string, max: number): boolean => {
    const { length } = event[field] ?? '';
    return length > 0 && length <= max;
  };
  const isComplete =
    isText('reason', 128) &&
    isText('action', 128) &&
    isText('reportingController', 253) &&
    isText('reportingInstance', 128) &&
    isText('eventTime', 64);
  const isKnownType = event['type'] === 'Normal' || event['type'] === 'Warning';
  if (!isComplete || !isKnownType || (event['note'] ?? '').length > 1024) refuse(call, 422, 'Invalid');
}

/** Whether objects of a path have a spec and a status, each with a path of its own, and generations. */
function hasSpec(path: string): boolean {
  return /^\/apis\/(?:keyframe\.dev|apps)\//.test(path);
}

/** Whether a path is that of a Secret. */
export function isSecret(path: string): boolean {
  return path.startsWith('/api/v1/') && path.includes('/secrets/');
}

/** The API server leaves out maps and lists without entries. */
function withoutEmpty(map: object): object {
  const isEmpty = (value: unknown): boolean =>
    typeof value === 'object' && value !== null && Object.keys(value).length === 0;
  return Object.fromEntries(Object.entries(map).filter(([, value]) => !isEmpty(value)));
}
