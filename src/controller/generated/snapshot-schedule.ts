// Made from crds/keyframe.dev_snapshotschedules.yaml by `npm run generate`: never edited by hand.
// What has a default there is always present here: the API server fills it in.

import type { ObjectMeta } from '../../kube/client/objects.ts';
import type { Condition } from './condition.ts';

/**
 * SnapshotSchedule takes snapshots of an environment of Keyframe at scheduled times. It creates a SecretSnapshot for each of them and prunes old ones. An AccessGrant must allow it.
 */
export interface SnapshotSchedule {
  /**
   * The version of this resource's schema.
   */
  apiVersion: 'keyframe.dev/v1alpha1';
  /**
   * SnapshotSchedule.
   */
  kind: 'SnapshotSchedule';
  metadata: ObjectMeta;
  spec: SnapshotScheduleSpec;
  status?: SnapshotScheduleStatus;
}
/**
 * When to take snapshots, of which environment, and which of them to keep.
 */
export interface SnapshotScheduleSpec {
  /**
   * When snapshots are taken: five fields as in crontab(5) (minute, hour, day of the month, month, day of the week), or @hourly, @daily, @weekly, @monthly or @yearly.
   */
  schedule: string;
  /**
   * The IANA time zone of the schedule and the retention, such as Europe/Berlin. Default: UTC.
   */
  timeZone: string;
  /**
   * How late a snapshot may start, for example after the controller was down. Of several missed times only the latest counts. Default: no limit.
   */
  startingDeadlineSeconds?: number;
  /**
   * While true, no snapshot is taken or pruned. Default: false.
   */
  suspend: boolean;
  /**
   * While true, no snapshot is taken if the environment has had no new revision since the newest snapshot of the schedule. That snapshot then also stands for the later time, and fills one place in the retention. Default: false.
   */
  skipUnchanged: boolean;
  /**
   * What the SecretSnapshots contain.
   */
  template: {
    /**
     * Labels and annotations of the SecretSnapshots. Default: none.
     */
    metadata?: {
      /**
       * Labels of the SecretSnapshots. Labels under keyframe.dev/ are reserved for the controller. Default: none.
       */
      labels?: {
        /**
         * A value.
         */
        [k: string]: string;
      };
      /**
       * Annotations of the SecretSnapshots. Annotations under keyframe.dev/ are reserved for the controller. Default: none.
       */
      annotations?: {
        /**
         * A value.
         */
        [k: string]: string;
      };
    };
    /**
     * The spec of the SecretSnapshots.
     */
    spec: {
      /**
       * What to capture. Immutable: create another schedule for another environment.
       */
      source: {
        /**
         * The environment to take snapshots of.
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
      };
      /**
       * The name of the snapshots, on one line. Default: the name of the SecretSnapshot.
       */
      name?: string;
      /**
       * What the snapshots are for, on one line. Default: none.
       */
      description?: string;
      /**
       * What happens to a snapshot when its SecretSnapshot is deleted, by pruning or by a user. Delete: it is deleted. Retain: it stays in Keyframe, and pruning deletes only the SecretSnapshot. Default: Delete.
       */
      deletionPolicy: 'Retain' | 'Delete';
    };
  };
  /**
   * Which snapshots of the schedule are kept. A snapshot that any of these rules keeps is kept. Default: all.
   */
  retention?: {
    /**
     * How many of the newest snapshots to keep. Default: none.
     */
    keepLast?: number;
    /**
     * For how many hours with snapshots to keep the newest snapshot of the hour. Default: none.
     */
    keepHourly?: number;
    /**
     * For how many days with snapshots to keep the newest snapshot of the day. Default: none.
     */
    keepDaily?: number;
    /**
     * For how many weeks with snapshots to keep the newest snapshot of the week, which starts on Monday. Default: none.
     */
    keepWeekly?: number;
    /**
     * For how many months with snapshots to keep the newest snapshot of the month. Default: none.
     */
    keepMonthly?: number;
  };
}
/**
 * The observed state. Only the controller writes it, and it is never used to authorize anything.
 */
export interface SnapshotScheduleStatus {
  /**
   * The generation of the spec that the status is for.
   */
  observedGeneration?: number;
  /**
   * The SecretSnapshot that was created last.
   */
  lastSnapshot?: {
    /**
     * The name of the SecretSnapshot.
     */
    name: string;
    /**
     * The UUID of its snapshot; absent until it is taken.
     */
    snapshotId?: string;
    /**
     * The latest time of the schedule that the SecretSnapshot stands for. It was created for this time, or for an earlier one if spec.skipUnchanged is true.
     */
    time: string;
  };
  /**
   * When the newest existing snapshot of the schedule was taken.
   */
  lastSuccessfulTime?: string;
  /**
   * When the next snapshot is due; absent if none is due.
   */
  nextTime?: string;
  /**
   * How many snapshots of the schedule exist.
   */
  snapshotCount?: number;
  /**
   * SecretSnapshots that will be pruned after the next snapshot is taken, sorted from the newest to the oldest; at most 100.
   *
   * @maxItems 100
   *
   * Items: The name of a SecretSnapshot.
   */
  nextToPrune?: string[];
  /**
   * Ready: the last snapshot was taken, and the next one is scheduled. Reconciling: the resource may become ready without help. Stalled: a user must act, and the message says how.
   *
   * @maxItems 16
   *
   * Items: A condition.
   */
  conditions?: Condition[];
}
