import type { KubeObject } from '../../../kube/client/objects.ts';
import type { SecretSnapshot } from '../../generated/secret-snapshot.ts';
import type { SnapshotSchedule } from '../../generated/snapshot-schedule.ts';
import { scheduleLabel, scheduleProofAnnotation } from '../../annotations.ts';
import type { Fingerprint } from '../../backend/fingerprint.ts';

/** The SecretSnapshots that schedules create: their names, and the proof of their origin. */

// No namespace can have this name, so no digest of a Secret's data has this context.
const proofContext = 'keyframe.dev/schedule';
const childPattern = /^(.+)-(\d{4})(\d{2})(\d{2})(\d{2})(\d{2})$/;

/** The name of a schedule's SecretSnapshot for a time: the time in UTC, to the minute. */
export function childName(schedule: string, dueMs: number): string {
  return `${schedule}-${new Date(dueMs).toISOString().slice(0, 16).replaceAll(/[-:T]/g, '')}`;
}

/** The schedule and the time in the name of a SecretSnapshot; undefined for other names. */
export function parseChildName(name: string): { readonly schedule: string; readonly dueMs: number } | undefined {
  const [, schedule, year, month, day, hour, minute] = childPattern.exec(name) ?? [];
  if (schedule === undefined) return undefined;
  const dueMs = Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute));
  return childName(schedule, dueMs) === name ? { schedule, dueMs } : undefined;
}

/** The proof that a schedule created a SecretSnapshot. A schedule that was deleted and created again has other proofs. */
export function childProof(
  fingerprint: Fingerprint,
  { scheduleUid, name }: { readonly scheduleUid: string; readonly name: string },
): string {
  const parts = Object.entries({ scheduleUid, name });
  return fingerprint(
    proofContext,
    parts.map(([part, text]) => [part, Buffer.from(text)]),
  ).toString('base64url');
}

/** Whether an object has this proof. */
export function bearsProof({ metadata: { annotations } }: KubeObject, proof: string): boolean {
  return annotations?.[scheduleProofAnnotation] === proof;
}

/** The SecretSnapshot to create for a time. It has no owner: deleting the schedule deletes no snapshot. */
export function newChild(
  { metadata: { name: schedule, namespace = '' }, spec: { template } }: SnapshotSchedule,
  name: string,
  proof: string,
): {
  readonly metadata: {
    readonly namespace: string;
    readonly name: string;
    readonly labels: Record<string, string>;
    readonly annotations: Record<string, string>;
  };
  readonly spec: Omit<SecretSnapshot['spec'], 'suspend'>;
} {
  const { labels, annotations } = template.metadata ?? {};
  return {
    metadata: {
      namespace,
      name,
      labels: { ...labels, [scheduleLabel]: schedule },
      annotations: { ...annotations, [scheduleProofAnnotation]: proof },
    },
    spec: { name, ...template.spec },
  };
}
