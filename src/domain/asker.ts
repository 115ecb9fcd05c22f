import type { GrantRule } from './grants.ts';
import type { GrantedKindName, ResourceKindName } from './kinds.ts';

/** The custom resource on whose behalf a controller asks. Its cluster vouches for all of it. */
export interface Asker<K extends GrantedKindName = ResourceKindName> {
  readonly kind: K;
  /** Null for cluster-scoped kinds. */
  readonly namespace: string | null;
  readonly name: string;
  /** A UUID. */
  readonly uid: string;
  /** The request id of the reconcile in the audit. */
  readonly requestId: string;
  /** The grants of its namespace. They are read again for each decision: a getter reports a withdrawal in between. */
  readonly grants: readonly GrantRule[];
  /** Name of an AccessGrant that covers only its namespace and has room for another rule, if any. For messages. */
  readonly ownGrant: string | undefined;
}
