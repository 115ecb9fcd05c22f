import { DomainError } from '../../domain/errors/domain-error.ts';
import type { ApiError } from '../../kube/client/api-error.ts';
import { keyframeApiVersion } from '../../kube/client/keyframe-kinds.ts';
import { forceFinalizeAnnotation } from '../annotations.ts';

/** Every sentence of the frame in conditions, readiness and log lines. */

/** The condition Ready of a suspended resource, if its kind has no message of its own. */
export const suspended = 'spec.suspend is true: nothing is done. Set spec.suspend to false to resume.';

export function unexpectedError(cause: unknown): DomainError {
  return new DomainError('internal', 'The controller failed with an unexpected error and retries. See its log.', {
    cause,
  });
}

export function clusterUnavailable(error: ApiError): DomainError {
  const detail = error.status === 0 ? 'cannot be reached' : `returned ${error.status} ${error.reason}`;
  const advice = error.status === 401 || error.status === 403 ? ' Check the RBAC of the controller.' : '';
  return new DomainError('cluster_unavailable', `The Kubernetes API ${detail}; the controller retries.${advice}`, {
    cause: error,
  });
}

/** `namespace` is the one whose uid identifies the cluster. */
export function clusterUnidentified(namespace: string): DomainError {
  return new DomainError(
    'cluster_unavailable',
    `The cluster has no namespace ${namespace} that identifies it. Set KEYFRAME_CLUSTER_NAME.`,
  );
}

/** Log lines about one resource. */
export const reconcileFailed = 'a reconcile failed';
export const workFailed = 'work on a key failed';
export const statusNotWritten = 'the status could not be written; the patch is retried';
export const eventNotRecorded = 'an Event was not recorded';

/** For watches that the API server denies, without a full stop, as the next one. */
export function watchDenied(names: readonly string[]): string {
  return `the API server does not let the controller list ${names.join(', ')}: apply the rules of charts/keyframe/files/ to its account`;
}

/** For kinds that the cluster does not know. */
export function definitionsMissing(kinds: readonly string[]): string {
  return `the cluster does not know ${kinds.join(', ')} (${keyframeApiVersion}): apply the custom resource definitions with \`kubectl apply -f crds/\``;
}

/** A warning for a controller that works without these watches. */
export function featuresDisabled(names: readonly string[]): string {
  return `${watchDenied(names)}; until then, features that need them are disabled`;
}

export function firstListMissing(name: string): string {
  return `the first list of ${name} has not come from the API server yet`;
}

export const firstListReceived = 'the controller has its first list of a kind';

// Leadership

/** `lease` is the name of the Lease, here and below. */
export function leaseForbidden(lease: string, namespace: string): string {
  return `the API server does not let the controller hold its Lease ${lease} in the namespace ${namespace}: apply the rules of charts/keyframe/files/lease-rules.yaml to its account, as a Role in that namespace`;
}

export function leaseNamespaceMissing(namespace: string): string {
  return `the controller cannot create its Lease: there is no namespace ${namespace}; create it, or set KEYFRAME_NAMESPACE to the namespace of the controller`;
}

export function leaseUnread(lease: string): string {
  return `the Lease ${lease} has not been read from the API server yet`;
}

export const leading = 'this controller leads';
export const standingBy = 'this controller stands by';
export const leadingNoLonger = 'this controller no longer leads';

/** Why a controller no longer leads. */
export const leaseTaken = 'another controller holds the Lease';
export const leaseExpired = 'the Lease could not be renewed in time';
export const leaseInterrupted = 'the Lease was taken and given back';
export const processStops = 'this process stops';
export const leaseLeft = 'the server of Keyframe does not let this controller work';

export const leaseAttemptFailed = 'the attempt to get the Lease failed and is retried';
export const leaseNotReleased = 'the Lease was not released; it will expire';

// The name of the cluster

/** `heldBy` is the uid of the other cluster's namespace kube-system. */
export function clusterNameTaken(name: string, heldBy: string): string {
  return (
    `the name ${name} belongs to another cluster in this database (the uid of its namespace kube-system is ${heldBy}), so ` +
    'this controller does no work; set another KEYFRAME_CLUSTER_NAME in one of the two clusters'
  );
}

export function clusterNameUnconfirmed(name: string): string {
  return `the database has not confirmed the cluster's name ${name} yet`;
}

/** `state`: why nothing is done for the cluster. */
export function clusterStopped(name: string, state: 'disabled' | 'forgotten'): string {
  return (
    `cluster ${name} ${state === 'disabled' ? 'is disabled' : 'was forgotten'}, so its resources are refused; if it should work ` +
    `again, an instance admin runs \`keyframe cluster enable ${name}\``
  );
}

/** `skewMs`: how far the clock of this process is ahead of the database's. */
export function clockSkewed(skewMs: number): string {
  const seconds = Math.round(Math.abs(skewMs) / 1000);
  return (
    `the clock of this process is ${seconds} seconds ${skewMs > 0 ? 'ahead of' : 'behind'} the database's; the controller ` +
    "uses the database's for expiries, schedules and statuses; synchronize both, for example with NTP"
  );
}

/** `fault`: what the API server answered. */
export function issuerUnknown(fault: string): string {
  return (
    `the API server does not say who signs the tokens of its ServiceAccounts (${fault}), so the cluster's issuer is unknown; ` +
    'allow the controller to get the URLs /.well-known/openid-configuration and /openid/v1/jwks'
  );
}

export const helloAccepted = 'the server accepts this controller now';
export const clusterAccepted = 'the name belongs to this cluster now';

// Finalizers

/** `message` says why the cleanup of a deleted resource failed. */
export function cleanupFailed(message: string): string {
  return `${message} The resource is deleted when its cleanup succeeds. To delete it without the cleanup, annotate it with ${forceFinalizeAnnotation}="true".`;
}

export const releasedByForce = 'a resource is released by force without its cleanup';

/** The rights in a namespace were deleted with it, before the finalizers of its resources. */
export function accessLost(plural: string, namespace: string): string {
  return (
    `the controller's rights in namespace ${namespace} were deleted before the finalizers of its ${plural} were removed. Their ` +
    `cleanup is done, but the namespace cannot be deleted until an admin runs \`kubectl get ${plural}.keyframe.dev --namespace ${namespace} --output name | ` +
    `xargs -n 1 kubectl patch --namespace ${namespace} --type=merge --patch '{"metadata":{"finalizers":null}}'\``
  );
}
