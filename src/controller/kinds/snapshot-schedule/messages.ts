import { DomainError } from '../../../domain/errors/domain-error.ts';

/** Every sentence that conditions, Events and log lines about SnapshotSchedules contain. Times are texts of RFC 3339. */

export const suspended = 'spec.suspend is true: no snapshot is taken or pruned. Set spec.suspend to false to resume.';

/** `next` is undefined if the schedule has no further time, here and below. */
export function scheduled(next: string | undefined): string {
  return next === undefined ? 'spec.schedule has no further time.' : `The next snapshot is due at ${next}.`;
}

export interface UnchangedFacts {
  /** The SecretSnapshot that stands for the time `due`. */
  readonly name: string;
  readonly due: string;
  readonly next: string | undefined;
}

export function unchanged({ name, due, next }: UnchangedFacts): string {
  return `SecretSnapshot ${name} also stands for ${due}, because the environment has not changed.${afterwards(next)}`;
}

export interface MissedFacts {
  readonly due: string;
  /** spec.startingDeadlineSeconds. */
  readonly deadlineSeconds: number;
  readonly next: string | undefined;
}

export function missed({ due, deadlineSeconds, next }: MissedFacts): string {
  return `The snapshot of ${due} was not taken, because it could not start within ${deadlineSeconds} s.${afterwards(next)}`;
}

export interface FailedFacts {
  /** The SecretSnapshot. */
  readonly name: string;
  /** Of its condition Ready. */
  readonly reason: string;
  readonly next: string | undefined;
}

export function snapshotFailed({ name, reason, next }: FailedFacts): string {
  return (
    `SecretSnapshot ${name} took no snapshot (${reason}); see its conditions. ` +
    `Nothing is pruned until a snapshot is taken.${afterwards(next)}`
  );
}

/** A cron expression or a time zone that cannot be used; `problem` says why. */
export function invalidTimes(field: string, problem: string, cause: unknown): DomainError {
  return new DomainError('invalid_input', `change spec.${field}: ${problem}`, { cause });
}

/** The CRD accepts the template, but no object can have its metadata. */
export function templateRefused(cause: unknown): DomainError {
  const detail =
    'the API server refuses a SecretSnapshot from spec.template: check the names and values of its labels and annotations';
  return new DomainError('invalid_input', detail, { cause });
}

/** A SecretSnapshot of another origin has the name of the one that is due. */
export function nameTaken(name: string): DomainError {
  return new DomainError(
    'target_not_owned',
    `SecretSnapshot ${name} exists, but this schedule did not create it. No snapshot is taken for that time. ` +
      'Delete that SecretSnapshot if the name must be free',
  );
}

// Events about actions; a name is that of a SecretSnapshot.

export function created(name: string): string {
  return `Created SecretSnapshot ${name}.`;
}

const maxNamed = 5;

export function prunedEvent(names: readonly string[]): string {
  const more = names.length > maxNamed ? [`${names.length - maxNamed} more`] : [];
  return `Deleted SecretSnapshots that spec.retention does not keep: ${[...names.slice(0, maxNamed), ...more].join(', ')}.`;
}

// Log lines.

export const pruned = 'a schedule pruned a SecretSnapshot';

function afterwards(next: string | undefined): string {
  return next === undefined ? '' : ` The next one is due at ${next}.`;
}
