// Made from crds/keyframe.dev_secretenvironments.yaml by `npm run generate`: never edited by hand.
// What has a default there is always present here: the API server fills it in.

import type { ObjectMeta } from '../../kube/client/objects.ts';
import type { Condition } from './condition.ts';

/**
 * SecretEnvironment creates an environment of Keyframe, and its project and organization if they are missing. Users who may create SecretEnvironments have more power than any owner of an organization.
 */
export interface SecretEnvironment {
  /**
   * The version of this resource's schema.
   */
  apiVersion: 'keyframe.dev/v1alpha1';
  /**
   * SecretEnvironment.
   */
  kind: 'SecretEnvironment';
  metadata: ObjectMeta;
  spec: SecretEnvironmentSpec;
  status?: SecretEnvironmentStatus;
}
/**
 * The environment to create.
 */
export interface SecretEnvironmentSpec {
  /**
   * The environment. Immutable.
   */
  environmentRef: {
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
   * The display name of the environment. Default: the slug.
   */
  displayName?: string;
  /**
   * The e-mail addresses of the users who become owners of the organization, as long as it has no owner. All of them must exist. Owners of an organization that has one are neither added nor removed. Default: none.
   *
   * @maxItems 20
   *
   * Items: The e-mail address of a user, in lower case.
   */
  owners?: string[];
  /**
   * What happens to the environment when this resource is deleted. Retain: it stays. Delete: it is deleted if this resource created it and no other SecretEnvironment names it; as after a deletion with the API, its slug stays taken until an instance admin purges it. If another one names it, that one takes it over. Default: Retain.
   */
  deletionPolicy: 'Retain' | 'Delete';
  /**
   * While true, nothing is created or changed. Default: false.
   */
  suspend: boolean;
}
/**
 * The observed state. Only the controller writes it, and it is never used to authorize anything.
 */
export interface SecretEnvironmentStatus {
  /**
   * The generation of the spec that the status is for.
   */
  observedGeneration?: number;
  /**
   * The UUID of the environment.
   */
  environmentId?: string;
  /**
   * The number of the environment's newest revision.
   */
  revision?: number;
  /**
   * The id of that revision. Compare this id, not the number.
   */
  revisionId?: string;
  /**
   * How many secrets the environment has.
   */
  secretCount?: number;
  /**
   * Ready: the environment exists. Reconciling: the resource may become ready without help. Stalled: a user must act, and the message says how.
   *
   * @maxItems 16
   *
   * Items: A condition.
   */
  conditions?: Condition[];
}
