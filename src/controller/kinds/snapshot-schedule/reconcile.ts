import type { Asker } from '../../../domain/asker.ts';
import type { ScheduledChild, ScheduleRun } from '../../../domain/resources/schedules.ts';
import type { EnvironmentSlugs } from '../../../domain/slugs.ts';
import { isApiStatus } from '../../../kube/client/api-error.ts';
import { createResource, deleteResource, findResource } from '../../../kube/client/custom-resources.ts';
import { secretSnapshotKind, snapshotScheduleKind } from '../../../kube/client/keyframe-kinds.ts';
import { type KubeObject, objectKey } from '../../../kube/client/objects.ts';
import { CronError, type CronSchedule, parseCron } from '../../../lib/cron-schedule.ts';
import type { SchedulesBackend } from '../../backend/schedules.ts';
import { announce } from '../../frame/announce.ts';
import { kubeTime } from '../../frame/conditions.ts';
import { toDomainError } from '../../frame/failure.ts';
import type { SecretSnapshot } from '../../generated/secret-snapshot.ts';
import type { SnapshotSchedule, SnapshotScheduleSpec } from '../../generated/snapshot-schedule.ts';
import type { ReconcileContext } from '../../frame/kind-rules.ts';
import type { KindContext } from '../../frame/managed-kind.ts';
import { type Outcome, failureOutcome, isTransient } from '../../frame/outcome.ts';
import { type AskerDeps, askerOf } from '../asker-of.ts';
import type { SnapshotLookup } from '../secret-snapshot/lookup.ts';
import { slugsOf } from '../../environment-ref.ts';
import { bearsProof, childName, childProof, newChild, parseChildName } from './child.ts';
import {
  type DueTime,
  type PresentChild,
  dueTime,
  judgePruning,
  latestRun,
  newestRuns,
  nextTime,
  settledOutcome,
} from './judge.ts';
import { created, invalidTimes, nameTaken, pruned, prunedEvent, templateRefused } from './messages.ts';
import type { SnapshotReferences } from '../secret-snapshot/references.ts';
import type { Fingerprint } from '../../backend/fingerprint.ts';

export interface ScheduleReconcilerDeps extends AskerDeps {
  readonly context: Pick<KindContext, 'kube' | 'clock' | 'serverNow' | 'logger' | 'instance'>;
  readonly backend: { readonly schedules: SchedulesBackend };
  readonly fingerprint: Fingerprint;
  readonly snapshots: Pick<SnapshotLookup, 'find' | 'keys'>;
  readonly references: SnapshotReferences;
}

/** One reconcile of a SnapshotSchedule. */
interface ScheduleContext extends ReconcileContext<SnapshotSchedule> {
  readonly times: CronSchedule;
  readonly asker: Asker;
  /** The environment whose snapshots it schedules. */
  readonly slugs: EnvironmentSlugs;
}

// Each deletion causes another reconcile, which deletes the rest.
const maxDeletions = 50;
// The references to snapshots are not known yet.
const unsyncedDelayMs = 1000;

/** Creates one SecretSnapshot for each time of a SnapshotSchedule, and prunes them. */
export class ScheduleReconciler {
  readonly #deps: ScheduleReconcilerDeps;

  constructor(deps: ScheduleReconcilerDeps) {
    this.#deps = deps;
  }

  /** Throws DomainError as the backend does, and ApiError. */
  async reconcile(context: ReconcileContext<SnapshotSchedule>): Promise<Outcome<SnapshotSchedule>> {
    try {
      return await this.#converge(await this.#contextOf(context));
    } catch (error) {
      const failure = toDomainError(error);
      if (isTransient(failure)) throw error;
      // Until something changes, nothing is taken or pruned. So the status must not announce it.
      const outcome = failureOutcome<SnapshotSchedule>(failure, { nextTime: undefined, nextToPrune: undefined });
      // The creation of an environment causes no event for this resource, so it is polled.
      return failure.code === 'not_found' ? { ...outcome, next: { kind: 'retry' } } : outcome;
    }
  }

  async #contextOf(context: ReconcileContext<SnapshotSchedule>): Promise<ScheduleContext> {
    const { resource: schedule, seen } = context;
    const times = timesOf(schedule.spec);
    const asker = askerOf(this.#deps, 'SnapshotSchedule', context);
    const slugs = slugsOf(schedule.spec.template.spec.source);
    const { environmentId } = await this.#deps.backend.schedules.admit(asker, slugs);
    seen.note('environment history', environmentId);
    return { ...context, times, asker, slugs };
  }

  async #converge(context: ScheduleContext): Promise<Outcome<SnapshotSchedule>> {
    const { resource: schedule, times } = context;
    const { serverNow } = this.#deps.context;
    let runs = await this.#recovered(context, await this.#list(context));
    const due = dueTime(schedule, { times, nowMs: serverNow(), runs });
    if (due.state === 'due') {
      const standing = this.#standing(context, runs);
      if (standing !== undefined) await this.#extend(context, due.dueMs, standing);
      else if ((await this.#run(context, due.dueMs, runs)) === 'name-taken')
        return nameTakenOutcome(context, due.dueMs, serverNow());
      runs = await this.#list(context);
    }
    return await this.#settle(context, due, runs);
  }

  async #list({ asker }: ScheduleContext): Promise<readonly ScheduleRun[]> {
    return await this.#deps.backend.schedules.list(asker);
  }

  /** Records existing SecretSnapshots that are missing in the database, after a crash or a recovery from a backup. */
  async #recovered(context: ScheduleContext, runs: readonly ScheduleRun[]): Promise<readonly ScheduleRun[]> {
    const known = new Set(runs.map(({ dueAt }) => dueAt.getTime()));
    const made = this.#ownChildren(context).filter(({ dueAt }) => !known.has(dueAt.getTime()));
    if (made.length === 0) return runs;
    await this.#deps.backend.schedules.record(context.asker, context.slugs, { made, gone: [] });
    return await this.#list(context);
  }

  /** The SecretSnapshots with the schedule's proof. */
  #ownChildren({ resource: schedule }: ScheduleContext): ScheduledChild[] {
    const { name: wanted, uid: scheduleUid, namespace = '' } = schedule.metadata;
    const prefix = objectKey({ namespace, name: `${wanted}-` });
    return [...this.#deps.snapshots.keys()].flatMap((key) => {
      const child = key.startsWith(prefix) ? this.#deps.snapshots.find(key) : undefined;
      const named = child === undefined ? undefined : parseChildName(child.metadata.name);
      if (child === undefined || named?.schedule !== wanted) return [];
      const { name, uid } = child.metadata;
      const proof = childProof(this.#deps.fingerprint, { scheduleUid, name });
      return bearsProof(child, proof) ? [{ dueAt: new Date(named.dueMs), uid, name }] : [];
    });
  }

  /** With spec.skipUnchanged, the latest run if its snapshot holds what another one would hold. */
  #standing({ resource: schedule }: ScheduleContext, runs: readonly ScheduleRun[]): ScheduleRun | undefined {
    if (!schedule.spec.skipUnchanged) return undefined;
    const latest = latestRun(runs, this.#deps.context.serverNow());
    if (latest === undefined || !latest.isNewest) return undefined;
    const child = this.#childOf(schedule, latest);
    return child === undefined || child.metadata.deletionTimestamp !== undefined ? undefined : latest;
  }

  /** Has a SecretSnapshot stand for one more time. */
  async #extend({ asker, slugs }: ScheduleContext, dueMs: number, { uid, name }: ScheduleRun): Promise<void> {
    await this.#deps.backend.schedules.extend(asker, slugs, { dueAt: new Date(dueMs), uid, name });
  }

  /** Creates the SecretSnapshot for a time. Its name ensures that there is only one. */
  async #run(context: ScheduleContext, dueMs: number, runs: readonly ScheduleRun[]): Promise<'made' | 'name-taken'> {
    const { resource: schedule, asker, slugs } = context;
    const { name: scheduleName, uid: scheduleUid } = schedule.metadata;
    const name = childName(scheduleName, dueMs);
    const proof = childProof(this.#deps.fingerprint, { scheduleUid, name });
    const uid = await this.#makeChild(schedule, name, proof);
    if (uid === undefined) return 'name-taken';
    const made = [{ dueAt: new Date(dueMs), uid, name }];
    await this.#deps.backend.schedules.record(asker, slugs, { made, gone: await this.#goneOf(context, runs) });
    return 'made';
  }

  /** Returns the uid of the SecretSnapshot, also if it existed before; undefined if another one has the name. */
  async #makeChild(schedule: SnapshotSchedule, name: string, proof: string): Promise<string | undefined> {
    const { kube } = this.#deps.context;
    try {
      const { uid } = await createResource(kube, secretSnapshotKind, newChild(schedule, name, proof));
      this.#announce(schedule, 'SnapshotCreated', created(name));
      return uid;
    } catch (error) {
      if (isApiStatus(error, 422)) throw templateRefused(error);
      if (!isApiStatus(error, 409)) throw error;
      const present = await this.#findChild(schedule, name);
      return present !== undefined && bearsProof(present, proof) ? present.metadata.uid : undefined;
    }
  }

  /** The uids of deleted SecretSnapshots that the schedule created. */
  async #goneOf({ resource: schedule }: ScheduleContext, runs: readonly ScheduleRun[]): Promise<string[]> {
    const gone: string[] = [];
    for (const { name, uid } of runs.filter((run) => this.#childOf(schedule, run) === undefined)) {
      if (gone.length >= maxDeletions) break;
      // The watch may be behind.
      if ((await this.#findChild(schedule, name))?.metadata.uid !== uid) gone.push(uid);
    }
    return gone;
  }

  async #findChild({ metadata: { namespace } }: SnapshotSchedule, name: string): Promise<KubeObject | undefined> {
    return await findResource(this.#deps.context.kube, secretSnapshotKind, { namespace, name });
  }

  /** The SecretSnapshot of a run, from the watch; undefined if it is gone, or if another one has its name. */
  #childOf({ metadata: { namespace = '' } }: SnapshotSchedule, { name, uid }: ScheduleRun): SecretSnapshot | undefined {
    const child = this.#deps.snapshots.find(objectKey({ namespace, name }));
    return child?.metadata.uid === uid ? child : undefined;
  }

  async #settle(
    { resource: schedule, times }: ScheduleContext,
    due: DueTime,
    runs: readonly ScheduleRun[],
  ): Promise<Outcome<SnapshotSchedule>> {
    const moment = { times, nowMs: this.#deps.context.serverNow(), runs };
    const children = this.#childrenOf(schedule, runs);
    const { isSynced } = this.#deps.references;
    const pruning = isSynced ? judgePruning(schedule, moment, children) : { now: [], next: [] };
    const deleted: string[] = [];
    for (const child of pruning.now.slice(0, maxDeletions)) {
      if (await this.#prune(child)) deleted.push(child.run.name);
    }
    if (deleted.length > 0) this.#announce(schedule, 'SnapshotsPruned', prunedEvent(deleted));
    const latest = latestRun(runs, moment.nowMs);
    const outcome = settledOutcome(schedule.spec, {
      moment,
      due,
      latestChild: latest === undefined ? undefined : this.#childOf(schedule, latest),
      children: children.length - pruning.now.length,
      nextToPrune: pruning.next,
    });
    return isSynced ? outcome : { ...outcome, next: { kind: 'after', delayMs: unsyncedDelayMs } };
  }

  /** The existing SecretSnapshots that the schedule created, without those that are being deleted. */
  #childrenOf(schedule: SnapshotSchedule, runs: readonly ScheduleRun[]): PresentChild[] {
    const referrersOf = this.#deps.references.referrersIn(schedule.metadata.namespace ?? '');
    return newestRuns(runs).flatMap((run) => {
      const child = this.#childOf(schedule, run);
      if (child === undefined || child.metadata.deletionTimestamp !== undefined) return [];
      return [{ run, child, references: referrersOf(objectKey(child.metadata), run.snapshotId) }];
    });
  }

  /**
   * Deletes a SecretSnapshot if it has not changed, and returns whether it did. Its deletion policy decides about its
   * snapshot.
   */
  async #prune({ child: { metadata } }: PresentChild): Promise<boolean> {
    const { kube, logger } = this.#deps.context;
    const { namespace, name, uid, resourceVersion } = metadata;
    try {
      await deleteResource(kube, secretSnapshotKind, { resource: { namespace, name }, uid, resourceVersion });
      logger.info({ namespace, name }, pruned);
      return true;
    } catch (error) {
      // Changed or gone: its event causes another reconcile.
      if (!isApiStatus(error, 409) && !isApiStatus(error, 404)) throw error;
      return false;
    }
  }

  #announce(schedule: SnapshotSchedule, reason: string, note: string): void {
    const { kube: client, clock, logger, instance } = this.#deps.context;
    const event = { type: 'Normal', reason, action: 'Schedule', note } as const;
    announce({ client, clock, logger, instance }, snapshotScheduleKind, schedule, event);
  }
}

function timesOf({ schedule, timeZone }: SnapshotScheduleSpec): CronSchedule {
  try {
    return parseCron(schedule, timeZone);
  } catch (error) {
    if (!(error instanceof CronError)) throw error;
    throw invalidTimes(error.of, error.message, error);
  }
}

/** The outcome if another SecretSnapshot has the name of the one that is due. */
function nameTakenOutcome(
  { resource: schedule, times }: ScheduleContext,
  dueMs: number,
  nowMs: number,
): Outcome<SnapshotSchedule> {
  const name = childName(schedule.metadata.name, dueMs);
  const nextMs = nextTime({ times, nowMs, runs: [] });
  const outcome = failureOutcome<SnapshotSchedule>(nameTaken(name), {
    nextTime: nextMs === undefined ? undefined : kubeTime(nextMs),
  });
  return nextMs === undefined ? outcome : { ...outcome, next: { kind: 'after', delayMs: nextMs - nowMs } };
}
