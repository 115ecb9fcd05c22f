// Made from crds/keyframe.dev_servicetokens.yaml by `npm run generate`: never edited by hand.
// What has a default there is always present here: the API server fills it in.

import type { ObjectMeta } from '../../kube/client/objects.ts';
import type { Condition } from './condition.ts';

/**
 * ServiceToken keeps one service token of Keyframe and puts its value into a Secret in its own namespace. An AccessGrant must allow it.
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
 * What the token shall open, and where its value goes.
 */
export interface ServiceTokenSpec {
  /**
   * How far the token reaches. It never changes.
   */
  scope: 'Organization' | 'Project' | 'Environment';
  /**
   * Slug of the organization. It never changes.
   */
  organization: string;
  /**
   * Slug of the project, for the scopes Project and Environment. It never changes.
   */
  project?: string;
  /**
   * Slug of the environment, for the scope Environment. It never changes.
   */
  environment?: string;
  /**
   * What the token may do. A change holds at once.
   */
  permission: 'Read' | 'ReadWrite';
  /**
   * How long each value of the token is good from the moment it is made, such as 720h. Without it a value does not end by itself.
   */
  expiresIn?: string;
  /**
   * Replaces the value again and again. The value before stays good for a while, so that nothing that uses it is cut off.
   */
  rotation?: {
    /**
     * How long after a value was made the next one takes its place; at least 1m.
     */
    interval: string;
    /**
     * The value before is revoked when it has not been used for this long.
     */
    overlap: string;
    /**
     * The value before is revoked after this long even if it is still in use; shorter than interval.
     */
    maxOverlap: string;
  };
  /**
   * Name of the Secret that gets the value, under the key token; the ServiceToken's own name when it is absent. It never changes.
   */
  secretName?: string;
  /**
   * While true, nothing is made, rotated or written. The token keeps working while an AccessGrant covers it; delete the ServiceToken to revoke it.
   */
  suspend: boolean;
}
/**
 * What was last seen and done. Written by the controller alone; it is told here and never read as authority.
 */
export interface ServiceTokenStatus {
  /**
   * The generation of the spec that this status tells about.
   */
  observedGeneration?: number;
  /**
   * UUID of the service token, as the API and the audit know it.
   */
  tokenId?: string;
  /**
   * Which value of the token the Secret holds; counts from 1.
   */
  serial?: number;
  /**
   * The Secret that holds the value.
   */
  secretName?: string;
  /**
   * When the present value was made.
   */
  issuedAt?: string;
  /**
   * When the present value ends; absent where it does not.
   */
  expiresAt?: string;
  /**
   * When the next value takes its place; absent without rotation.
   */
  rotatesAt?: string;
  /**
   * The value before, while it still works; absent once it is revoked.
   */
  previousSerial?: number;
  /**
   * Ready: the Secret holds a token that works. Expiring: the present value ends soon and nothing will replace it. Reconciling: the controller is not done and goes on by itself. Stalled: it goes on only when this resource is changed.
   *
   * @maxItems 16
   *
   * Items: One condition.
   */
  conditions?: Condition[];
}
