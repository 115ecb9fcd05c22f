/**
 * Every error Keyframe tells anyone about, as data: its HTTP status, the reason it gives a condition, and what the
 * controller does next. HTTP, the controller and docs/errors.md all read this one table, so they cannot differ.
 */

/** What the controller does after the error: give up until the object changes, wait for an event, or try again with backoff. */
export type ErrorEffect = 'stall' | 'wait' | 'retry';

export interface ErrorDescription {
  /** HTTP status; null where the error can only arise in the controller. */
  readonly status: number | null;
  readonly title: string;
  /** Reason of the condition Ready=False (CamelCase). */
  readonly reason: string;
  readonly effect: ErrorEffect;
}

export const errorCatalogue = {
  malformed_request: { status: 400, title: 'Malformed request', reason: 'InvalidSpec', effect: 'stall' },
  invalid_input: { status: 422, title: 'Invalid input', reason: 'InvalidSpec', effect: 'stall' },
  unauthenticated: { status: 401, title: 'Not authenticated', reason: 'AuthenticationFailed', effect: 'wait' },
  forbidden: { status: 403, title: 'Not allowed', reason: 'AccessDenied', effect: 'wait' },
  not_found: { status: 404, title: 'Not found', reason: 'NotFound', effect: 'wait' },
  method_not_allowed: { status: 405, title: 'Method not allowed', reason: 'InternalError', effect: 'stall' },
  conflict: { status: 409, title: 'Conflict', reason: 'Conflict', effect: 'retry' },
  secret_deleted: { status: 409, title: 'Secret is deleted', reason: 'Conflict', effect: 'retry' },
  version_current: { status: 409, title: 'Version is the current one', reason: 'Conflict', effect: 'retry' },
  value_in_other_versions: {
    status: 409,
    title: 'Other versions hold the same value',
    reason: 'Conflict',
    effect: 'retry',
  },
  version_destroyed: { status: 410, title: 'Version was destroyed', reason: 'VersionDestroyed', effect: 'wait' },
  quota_exceeded: { status: 409, title: 'Quota exceeded', reason: 'QuotaExceeded', effect: 'wait' },
  version_mismatch: { status: 412, title: 'Version mismatch', reason: 'Conflict', effect: 'retry' },
  payload_too_large: { status: 413, title: 'Request body too large', reason: 'InvalidSpec', effect: 'stall' },
  unsupported_media_type: { status: 415, title: 'Unsupported media type', reason: 'InvalidSpec', effect: 'stall' },
  idempotency_key_reused: {
    status: 422,
    title: 'Idempotency key used for another request',
    reason: 'InvalidSpec',
    effect: 'stall',
  },
  plan_outdated: { status: 412, title: 'Plan is outdated', reason: 'PlanOutdated', effect: 'stall' },
  limit_exceeded: { status: 429, title: 'Too many requests', reason: 'RateLimited', effect: 'wait' },
  token_revoked: {
    status: null,
    title: 'The token that the SecretSyncs of the namespace read with was revoked',
    reason: 'TokenRevoked',
    effect: 'wait',
  },
  token_secret_not_found: {
    status: null,
    title: 'Token Secret not found',
    reason: 'TokenSecretNotFound',
    effect: 'wait',
  },
  service_token_not_found: {
    status: null,
    title: 'ServiceToken not found',
    reason: 'ServiceTokenNotFound',
    effect: 'wait',
  },
  service_token_not_ready: {
    status: null,
    title: 'ServiceToken has no token that works',
    reason: 'ServiceTokenNotReady',
    effect: 'wait',
  },
  service_token_denied: {
    status: null,
    title: 'No AccessGrant covers the ServiceToken',
    reason: 'AccessDenied',
    effect: 'wait',
  },
  service_token_place_not_found: {
    status: null,
    title: 'What the ServiceToken is for does not exist',
    reason: 'NotFound',
    effect: 'wait',
  },
  service_token_revoked: {
    status: null,
    title: 'The token of the ServiceToken was revoked for good',
    reason: 'TokenRevoked',
    effect: 'wait',
  },
  target_not_owned: {
    status: null,
    title: 'Target belongs to something else',
    reason: 'TargetNotOwned',
    effect: 'wait',
  },
  target_not_found: { status: null, title: 'Target not found', reason: 'TargetNotFound', effect: 'wait' },
  merge_refused: { status: null, title: 'Target is not to be merged into', reason: 'MergeRefused', effect: 'wait' },
  merge_conflict: {
    status: null,
    title: 'Keys of the target are held by others',
    reason: 'MergeConflict',
    effect: 'wait',
  },
  target_too_large: { status: null, title: 'Too large for a Secret', reason: 'TooLarge', effect: 'wait' },
  target_type_unmet: {
    status: null,
    title: "Values do not fit the Secret's type",
    reason: 'TypeUnmet',
    effect: 'wait',
  },
  key_conflict: { status: null, title: 'Two keys would get one name', reason: 'KeyConflict', effect: 'stall' },
  value_not_base64: { status: null, title: 'Value is not base64', reason: 'NotBase64', effect: 'wait' },
  template_invalid: { status: null, title: 'Template is wrong', reason: 'TemplateInvalid', effect: 'stall' },
  template_key_missing: {
    status: null,
    title: 'Template refers to a key that is missing',
    reason: 'TemplateKeyMissing',
    effect: 'wait',
  },
  template_value_binary: {
    status: null,
    title: 'Template refers to a value that is not text',
    reason: 'TemplateValueBinary',
    effect: 'wait',
  },
  source_replaced: {
    status: null,
    title: 'Another environment has taken the place of the one that was synced',
    reason: 'SourceReplaced',
    effect: 'wait',
  },
  deletion_blocked: {
    status: null,
    title: 'Too many keys would vanish at once',
    reason: 'DeletionBlocked',
    effect: 'wait',
  },
  revision_not_found: {
    status: null,
    title: 'The environment has no such revision yet',
    reason: 'RevisionNotFound',
    effect: 'wait',
  },
  snapshot_not_found: { status: null, title: 'SecretSnapshot not found', reason: 'SnapshotNotFound', effect: 'wait' },
  snapshot_not_ready: {
    status: null,
    title: 'SecretSnapshot has no snapshot yet',
    reason: 'SnapshotNotReady',
    effect: 'wait',
  },
  snapshot_gone: { status: null, title: 'Snapshot was deleted', reason: 'SnapshotGone', effect: 'wait' },
  snapshot_mismatch: {
    status: null,
    title: 'Snapshot is of another environment',
    reason: 'SnapshotMismatch',
    effect: 'wait',
  },
  environment_deleted: {
    status: null,
    title: 'Environment was deleted',
    reason: 'EnvironmentDeleted',
    effect: 'stall',
  },
  already_restored: {
    status: null,
    title: 'A restore of this name was carried out before',
    reason: 'AlreadyRestored',
    effect: 'stall',
  },
  unplanned_refused: {
    status: null,
    title: 'A restore without a plan does not say all that it does, or would have to wait',
    reason: 'UnplannedRefused',
    effect: 'stall',
  },
  restore_forgotten: {
    status: null,
    title: 'The database does not know the restore that the status reports',
    reason: 'RestoreForgotten',
    effect: 'stall',
  },
  target_refused: {
    status: null,
    title: 'The API server refused the target Secret',
    reason: 'TargetRefused',
    effect: 'retry',
  },
  key_unavailable: { status: 503, title: 'Encryption key unavailable', reason: 'KeyUnavailable', effect: 'retry' },
  store_unavailable: { status: 503, title: 'Database unavailable', reason: 'StoreUnavailable', effect: 'retry' },
  overloaded: { status: 503, title: 'Overloaded', reason: 'Overloaded', effect: 'retry' },
  cluster_unavailable: {
    status: null,
    title: 'Kubernetes API unavailable',
    reason: 'ClusterUnavailable',
    effect: 'retry',
  },
  internal: { status: 500, title: 'Internal error', reason: 'InternalError', effect: 'retry' },
} as const satisfies Record<string, ErrorDescription>;

export type ErrorCode = keyof typeof errorCatalogue;

/** Codes that HTTP can answer with. */
export type HttpErrorCode = {
  [Code in ErrorCode]: (typeof errorCatalogue)[Code]['status'] extends number ? Code : never;
}[ErrorCode];
