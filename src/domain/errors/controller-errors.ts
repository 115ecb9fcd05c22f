import type { ErrorDescription } from './description.ts';

/** Errors that only the controller reports. */
export const controllerErrors = {
  token_revoked: {
    title: 'Keyless token of the namespace was revoked',
    reason: 'TokenRevoked',
    effect: 'wait',
  },
  token_secret_not_found: {
    title: 'Token Secret not found',
    reason: 'TokenSecretNotFound',
    effect: 'wait',
    isTokenError: true,
  },
  service_token_not_found: {
    title: 'ServiceToken not found',
    reason: 'ServiceTokenNotFound',
    effect: 'wait',
  },
  service_token_not_ready: {
    title: 'ServiceToken has no valid token',
    reason: 'ServiceTokenNotReady',
    effect: 'wait',
  },
  service_token_denied: {
    title: 'No AccessGrant covers the ServiceToken',
    reason: 'AccessDenied',
    effect: 'wait',
  },
  service_token_place_not_found: {
    title: 'Organization, project or environment of the ServiceToken not found',
    reason: 'NotFound',
    effect: 'wait',
  },
  service_token_revoked: {
    title: 'Token of the ServiceToken was revoked',
    reason: 'TokenRevoked',
    effect: 'wait',
  },
  issuer_unknown: {
    title: "Issuer of the cluster's ServiceAccount tokens is not known yet",
    reason: 'IssuerUnknown',
    effect: 'wait',
  },
  target_not_owned: {
    title: 'Target Secret has another owner',
    reason: 'TargetNotOwned',
    effect: 'block',
  },
  target_claimed: {
    title: 'Another resource creates the target Secret',
    reason: 'TargetClaimed',
    effect: 'block',
  },
  target_not_found: { title: 'Target not found', reason: 'TargetNotFound', effect: 'wait' },
  merge_refused: { title: 'Merge into the target is not allowed', reason: 'MergeRefused', effect: 'block' },
  merge_conflict: {
    title: 'Another field manager owns keys of the target',
    reason: 'MergeConflict',
    effect: 'block',
  },
  target_too_large: { title: 'Data too large for a Secret', reason: 'TooLarge', effect: 'block' },
  target_type_unmet: {
    title: 'Values do not match the type of the Secret',
    reason: 'TypeUnmet',
    effect: 'block',
  },
  key_conflict: { title: 'Two keys map to the same name', reason: 'KeyConflict', effect: 'stall' },
  key_invalid: { title: 'A rewritten key is not valid in a Secret', reason: 'KeyInvalid', effect: 'block' },
  value_not_base64: { title: 'Value is not base64', reason: 'NotBase64', effect: 'block' },
  template_invalid: { title: 'Template is invalid', reason: 'TemplateInvalid', effect: 'stall' },
  template_key_missing: {
    title: 'Template refers to a key that is missing',
    reason: 'TemplateKeyMissing',
    effect: 'block',
  },
  template_field_missing: {
    title: 'Template takes a field that a value does not have',
    reason: 'TemplateFieldMissing',
    effect: 'block',
  },
  template_value_binary: {
    title: 'Template refers to a value that is not text',
    reason: 'TemplateValueBinary',
    effect: 'block',
  },
  source_replaced: {
    title: 'Source environment was replaced by another one',
    reason: 'SourceReplaced',
    effect: 'block',
  },
  deletion_blocked: {
    title: 'Sync would delete too many keys',
    reason: 'DeletionBlocked',
    effect: 'block',
  },
  revision_not_found: {
    title: 'Revision does not exist yet',
    reason: 'RevisionNotFound',
    effect: 'wait',
  },
  snapshot_not_found: { title: 'SecretSnapshot not found', reason: 'SnapshotNotFound', effect: 'wait' },
  snapshot_not_ready: {
    title: 'SecretSnapshot has no snapshot yet',
    reason: 'SnapshotNotReady',
    effect: 'wait',
  },
  snapshot_gone: { title: 'Snapshot was deleted', reason: 'SnapshotGone', effect: 'block' },
  snapshot_mismatch: {
    title: 'Snapshot belongs to another environment',
    reason: 'SnapshotMismatch',
    effect: 'block',
  },
  environment_deleted: {
    title: 'Environment was deleted',
    reason: 'EnvironmentDeleted',
    effect: 'stall',
  },
  already_restored: {
    title: 'Restore with this name was already carried out',
    reason: 'AlreadyRestored',
    effect: 'stall',
  },
  unplanned_refused: {
    title: 'Restore requires a plan',
    reason: 'UnplannedRefused',
    effect: 'stall',
  },
  restore_forgotten: {
    title: 'Restore in the status is missing from the database',
    reason: 'RestoreForgotten',
    effect: 'stall',
  },
  served_at_home_only: {
    title: 'Environments are made for home clusters only',
    reason: 'ServedAtHomeOnly',
    effect: 'stall',
  },
  target_refused: {
    title: 'The API server refused the target Secret',
    reason: 'TargetRefused',
    effect: 'retry',
  },
  cluster_unavailable: {
    title: 'Kubernetes API unavailable',
    reason: 'ClusterUnavailable',
    effect: 'retry',
  },
} as const satisfies Record<string, ErrorDescription & { readonly status?: never }>;
