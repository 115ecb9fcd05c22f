// Made from crds/keyframe.dev_secretenvironments.yaml by `npm run generate`: never edited by hand.
// What has a default there is always present here: the API server fills it in.

import type { ObjectMeta } from '../../kube/client/objects.ts';
import type { Condition } from './condition.ts';

/**
 * SecretEnvironment makes an environment of Keyframe, with its project and organization where they are missing. Whoever may create SecretEnvironments outranks every owner of an organization.
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
 * The environment that shall be.
 */
export interface SecretEnvironmentSpec {
  /**
   * The environment. It never changes.
   */
  environmentRef: {
    /**
     * Slug of the organization.
     */
    organization: string;
    /**
     * Slug of the project.
     */
    project: string;
    /**
     * Slug of the environment.
     */
    name: string;
  };
  /**
   * A name for people; the slug when it is absent.
   */
  displayName?: string;
  /**
   * What becomes of the environment when this resource is deleted. Retain: it stays. Delete: it is deleted as over the API (its slug stays taken until an instance admin purges it), if this resource made it.
   */
  deletionPolicy: 'Retain' | 'Delete';
  /**
   * While true, nothing is made or changed.
   */
  suspend: boolean;
}
/**
 * What was last seen and done. Written by the controller alone; it is told here and never read as authority.
 */
export interface SecretEnvironmentStatus {
  /**
   * The generation of the spec that this status tells about.
   */
  observedGeneration?: number;
  /**
   * UUID of the environment.
   */
  environmentId?: string;
  /**
   * Number of the environment's newest revision.
   */
  revision?: number;
  /**
   * Id of that revision. Compare this, not the number.
   */
  revisionId?: string;
  /**
   * How many secrets the environment holds.
   */
  secretCount?: number;
  /**
   * Ready: the environment is there. Reconciling: the controller is not done and goes on by itself. Stalled: it goes on only when this resource is changed.
   *
   * @maxItems 16
   *
   * Items: One condition.
   */
  conditions?: Condition[];
}
