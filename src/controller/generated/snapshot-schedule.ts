// Made from crds/keyframe.dev_snapshotschedules.yaml by `npm run generate`: never edited by hand.
// What has a default there is always present here: the API server fills it in.

import type { ObjectMeta } from '../../kube/client/objects.ts';
import type { Condition } from './condition.ts';

/**
 * SnapshotSchedule has snapshots of an environment of Keyframe taken at set times, each by a SecretSnapshot that it makes, and prunes the old ones of them. An AccessGrant must allow it.
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
 * When to take snapshots of what, and which of them to keep.
 */
export interface SnapshotScheduleSpec {
  /**
   * When snapshots are taken: five fields as in crontab(5) (minute, hour, day of the month, month, day of the week), or @hourly, @daily, @weekly, @monthly or @yearly.
   */
  schedule: string;
  /**
   * The IANA time zone by whose clocks and calendar the schedule and the retention go, such as Europe/Berlin.
   */
  timeZone: string;
  /**
   * How late a snapshot may be begun, such as after the controller was away. Absent: however late. Of several times that were missed only the latest counts.
   */
  startingDeadlineSeconds?: number;
  /**
   * While true, no snapshot is taken and none is pruned.
   */
  suspend: boolean;
  /**
   * What the SecretSnapshots are made of.
   */
  template: {
    /**
     * Labels and annotations of the SecretSnapshots.
     */
    metadata?: {
      /**
       * Labels. Those under keyframe.dev/ are the controller's own.
       */
      labels?: {
        /**
         * A value.
         */
        [k: string]: string;
      };
      /**
       * Annotations. Those under keyframe.dev/ are the controller's own.
       */
      annotations?: {
        /**
         * A value.
         */
        [k: string]: string;
      };
    };
    /**
     * As the spec of a SecretSnapshot.
     */
    spec: {
      /**
       * What to capture.
       */
      source: {
        /**
         * The environment of which snapshots are taken. It never changes; another one needs a schedule of its own.
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
      };
      /**
       * Name of the snapshots, for people, on one line. The name of the SecretSnapshot if it is left out.
       */
      name?: string;
      /**
       * What the snapshots are for, on one line.
       */
      description?: string;
      /**
       * What becomes of a snapshot when its SecretSnapshot is deleted, be it by pruning or by hand. Delete: it is deleted. Retain: it stays in Keyframe, and pruning takes the SecretSnapshot alone.
       */
      deletionPolicy: 'Retain' | 'Delete';
    };
  };
  /**
   * Which of the schedule's snapshots are kept; all if it is left out. What one of these keeps is kept.
   */
  retention?: {
    /**
     * How many of the newest to keep.
     */
    keepLast?: number;
    /**
     * For how many hours that have one to keep the newest of the hour.
     */
    keepHourly?: number;
    /**
     * For how many days that have one to keep the newest of the day.
     */
    keepDaily?: number;
    /**
     * For how many weeks that have one to keep the newest of the week, which begins on Monday.
     */
    keepWeekly?: number;
    /**
     * For how many months that have one to keep the newest of the month.
     */
    keepMonthly?: number;
  };
}
/**
 * What was last seen and done. Written by the controller alone; it is told here and never read as authority.
 */
export interface SnapshotScheduleStatus {
  /**
   * The generation of the spec that this status tells about.
   */
  observedGeneration?: number;
  /**
   * The SecretSnapshot that was made last.
   */
  lastSnapshot?: {
    /**
     * Its name.
     */
    name: string;
    /**
     * UUID of the snapshot that it took; absent until then.
     */
    snapshotId?: string;
    /**
     * The time of the schedule that it was made for.
     */
    time: string;
  };
  /**
   * When the newest snapshot of the schedule that is there was taken.
   */
  lastSuccessfulTime?: string;
  /**
   * When the next one is due; absent while none is to be taken.
   */
  nextTime?: string;
  /**
   * How many snapshots of the schedule are there.
   */
  snapshotCount?: number;
  /**
   * SecretSnapshots that will be pruned once the next snapshot was taken, the oldest last; 100 at most are named.
   *
   * @maxItems 100
   *
   * Items: The name of one.
   */
  nextToPrune?: string[];
  /**
   * Ready: the last snapshot was taken, and the next one is scheduled. Reconciling: the controller is not done and goes on by itself. Stalled: it goes on only when the spec changes.
   *
   * @maxItems 16
   *
   * Items: One condition.
   */
  conditions?: Condition[];
}
