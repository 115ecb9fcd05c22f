/** What the reasons of the conditions Ready and Converged of a SecretSync mean, and what to do about them. */

const passing = 'The controller could not reach what it needs, and retries. Its log says more.';

const meanings: Readonly<Record<string, string>> = {
  AccessDenied:
    'No AccessGrant allows it to read the environment, or its token may not. Apply the grant of the message.',
  AuthenticationFailed: 'Its token was refused: revoked, expired or suspended. Put a valid one into the Secret.',
  ClusterDisabled: 'An instance admin disabled the cluster. Have it enabled again if it should work.',
  ClusterNotAllowed:
    'The organization does not allow it to the cluster. An admin of the organization can, as the message says.',
  ClusterUnavailable: passing,
  ClusterUnknown: 'An instance admin forgot the cluster. Have it enabled again if it should work.',
  Conflict: 'Other programs keep changing the Secret. The controller retries.',
  Converged: 'All pods run with the data of the Secret.',
  DeletionBlocked: 'The environment lost more keys at once than maxDeletedKeys. Restore the keys, or allow the loss.',
  InternalError: passing,
  InvalidSpec: 'The spec asks for something that the controller does not allow. Follow the message.',
  KeyConflict: 'Two keys get the same name in the Secret. Exclude, hide or rename one of them.',
  KeyInvalid: 'keys.rewrite makes a name that no Secret can have. Exclude the key, or change the rule.',
  KeyUnavailable: passing,
  MergeConflict: 'Other managers hold some of the keys with other values. Remove them there, or rename them here.',
  MergeRefused: 'The Secret cannot be merged into. Merge into another one.',
  NotBase64: 'A value in keys.decodeBase64 is not base64. Correct the value, or remove the key from the list.',
  NotFound: 'The environment does not exist, or the token may not see it. Check environmentRef.',
  Overloaded: passing,
  RateLimited: 'A limit of the server was reached. It continues by itself.',
  RevisionNotFound: 'The environment does not have the revision of the pin yet. Name one that exists, or wait.',
  RollbackImpossible: 'A workload failed because of the data, and the Secret cannot be rolled back.',
  RolledBack:
    'Workloads failed with the newest data, so the Secret holds earlier data. Write a revision that fixes it.',
  RollingOut: 'Pods are being replaced.',
  RolloutBlocked: 'A workload waits, because another one failed or has not converged yet.',
  RolloutHeld: 'The workload keeps old pods by its own strategy, or is paused. Resume it, or delete the pods.',
  RolloutPending: 'A workload is about to be restarted.',
  RolloutStuck: 'New pods did not become ready in time. Find out why; the next change restarts the workload.',
  RolloutUndone: 'Another tool removes the annotation of the restart. Stop that tool.',
  RolloutsDisabled:
    'This installation does not restart workloads. Set the chart value rollouts, or remove spec.rollout.',
  RolloutsForbidden: 'The controller may not change the workload. Grant its account the rules for it.',
  SecretNotSynced: 'What the Secret holds is unknown since the controller started.',
  ServiceTokenNotFound: 'The ServiceToken of tokenRef does not exist. Create it, or name another one.',
  ServiceTokenNotReady: 'The ServiceToken has no working token. Its own message says why.',
  SnapshotGone: 'The snapshot of the pin was deleted. Name another one, or remove the pin.',
  SnapshotMismatch: 'The snapshot of the pin is of another environment.',
  SnapshotNotFound: 'The SecretSnapshot of the pin does not exist. Create it, or name another one.',
  SnapshotNotReady: 'The SecretSnapshot of the pin has taken nothing yet.',
  SourceReplaced: 'The environment was purged and created again. Consent to the new data as the message says.',
  StoreUnavailable: passing,
  Suspended: 'spec.suspend is true. Set it to false to resume.',
  Synced: 'The Secret holds what it should.',
  TargetClaimed: 'Another resource of the namespace creates this Secret. Rename the target, or hand the Secret over.',
  TargetNotFound: 'The Secret to merge into does not exist. Create it with the annotation.',
  TargetNotOwned: 'A Secret of this name belongs to something else. Rename the target, or hand the Secret over.',
  TargetRefused: 'The API server rejected the Secret. Check quotas and admission policies.',
  TemplateFieldMissing: 'A template takes a field that a value does not have. Correct the value, or add a default.',
  TemplateInvalid: 'A template is not valid. Correct it.',
  TemplateKeyMissing: 'A template refers to keys that do not exist. Set them, or add a default.',
  TemplateValueBinary: 'A template refers to a value that is not text.',
  TokenRevoked: 'An admin revoked the token. Run the keyframe token reinstate of the message.',
  TokenSecretNotFound: 'The Secret with the token does not exist, or has no token in it. Create it.',
  TooLarge: 'The values are larger than a Secret may be. Exclude keys, or split the environment.',
  TypeUnmet: 'The values do not fit the type of the Secret. Add or rename keys, or change the type.',
  VersionDestroyed: 'Values of the pinned state were destroyed. Pin to another state, or exclude the keys.',
  WorkloadNotFound: 'The workload does not exist. Create it, or remove it from the spec.',
};

/** One or two sentences about a reason; undefined for one of another release. */
export function meaningOf(reason: string): string | undefined {
  return Object.hasOwn(meanings, reason) ? meanings[reason] : undefined;
}

/** The command that shows the message of a SecretSync. Without the namespace, it shows in which ones it is. */
export function helpfulCommand({ namespace, name }: { namespace: string | null; name: string }): string {
  return namespace === null
    ? `kubectl get secretsyncs.keyframe.dev -A --field-selector metadata.name=${name}`
    : `kubectl describe secretsyncs.keyframe.dev ${name} -n ${namespace}`;
}
