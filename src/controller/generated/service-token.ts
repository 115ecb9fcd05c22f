// Made from crds/keyframe.dev_servicetokens.yaml by `npm run generate`: never edited by hand.
// What has a default there is always present here: the API server fills it in.

import type { ObjectMeta } from '../../kube/client/objects.ts';
import type { Condition } from './condition.ts';

/**
 * ServiceToken keeps one service token of Keyframe. It writes the token's value to a Secret in its namespace, or lets pods of ServiceAccounts prove the token without a value. An AccessGrant must allow it.
 */
export interface ServiceToken {
  /**
   * The version of this resource's schema.
   */
  apiVersion: 'keyframe.dev/v1alpha1';
  /**
   * ServiceToken.
   */
  kind: 'ServiceToken';
  metadata: ObjectMeta;
  spec: ServiceTokenSpec;
  status?: ServiceTokenStatus;
}
/**
 * What the token gives access to, and where its value is written or who proves it.
 */
export interface ServiceTokenSpec {
  /**
   * What the token gives access to. It decides which of organization, projectRef and environmentRef is required. Immutable.
   */
  scope: 'Organization' | 'Project' | 'Environment';
  /**
   * The slug of the organization. Required for scope Organization, and not allowed for another scope. Immutable.
   */
  organization?: string;
  /**
   * The project. Required for scope Project, and not allowed for another scope. Immutable.
   */
  projectRef?: {
    /**
     * The slug of the organization.
     */
    organization: string;
    /**
     * The slug of the project.
     */
    name: string;
  };
  /**
   * The environment. Required for scope Environment, and not allowed for another scope. Immutable.
   */
  environmentRef?: {
    /**
     * The slug of the organization.
     */
    organization: string;
    /**
     * The slug of the project.
     */
    project: string;
    /**
     * The slug of the environment.
     */
    name: string;
  };
  /**
   * The permission of the token. A change takes effect immediately. Default: Read.
   */
  permission: 'Read' | 'ReadWrite';
  /**
   * The lifetime of each value of the token from its creation, such as 720h; with serviceAccountNames that of the token. Default: no expiry.
   */
  expiresIn?: string;
  /**
   * Replaces the value at regular intervals. The previous value stays valid for a while, so that its users are not interrupted. Not allowed with serviceAccountNames. Default: no rotation.
   */
  rotation?: {
    /**
     * How long after a value was created the next one replaces it, such as 168h; at least 1m.
     */
    interval: string;
    /**
     * The previous value is revoked when it has not been used for this long. Default: 10m.
     */
    overlap: string;
    /**
     * The previous value is revoked after this long, even if it is in use. It must be shorter than interval. Default: 1h.
     */
    maxOverlap: string;
  };
  /**
   * The name of the Secret that holds the value, under the key token. Not allowed with serviceAccountNames. Immutable. Default: the name of the ServiceToken.
   */
  secretName?: string;
  /**
   * ServiceAccounts of this namespace that prove the token instead of a value, with JWTs of the API server whose only audience is that of status.audience. No Secret is written. Immutable. Default: the token has a value.
   *
   * @minItems 1
   * @maxItems 10
   *
   * Items: The name of a ServiceAccount.
   */
  serviceAccountNames?: string[];
  /**
   * While true, nothing is created, rotated or written. The token stays valid while an AccessGrant covers it. Delete the ServiceToken to revoke the token. Default: false.
   */
  suspend: boolean;
}
/**
 * The observed state. Only the controller writes it, and it is never used to authorize anything.
 */
export interface ServiceTokenStatus {
  /**
   * The generation of the spec that the status is for.
   */
  observedGeneration?: number;
  /**
   * The UUID of the service token in the API and in the audit log.
   */
  tokenId?: string;
  /**
   * The only audience of the JWTs that prove the token; absent for a token with a value.
   */
  audience?: string;
  /**
   * The serial of the value that the Secret holds, starting with 1; absent with serviceAccountNames.
   */
  serial?: number;
  /**
   * The Secret that holds the value; absent with serviceAccountNames.
   */
  secretName?: string;
  /**
   * When the current value was created, or the token of serviceAccountNames.
   */
  issuedAt?: string;
  /**
   * When the current value expires, or the token of serviceAccountNames; absent if it never does.
   */
  expiresAt?: string;
  /**
   * When the next value replaces the current one; absent without rotation.
   */
  rotatesAt?: string;
  /**
   * The serial of the previous value while it is valid; absent after it is revoked.
   */
  previousSerial?: number;
  /**
   * Ready: the Secret holds a valid token, or JWTs of the ServiceAccounts prove one. Reconciling: the resource may become ready without help. Stalled: a user must act, and the message says how. Expiring: the current value or the token expires soon, and nothing will replace it.
   *
   * @maxItems 16
   *
   * Items: A condition.
   */
  conditions?: Condition[];
}
