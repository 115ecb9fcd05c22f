import type { DomainError } from '../../../domain/errors/domain-error.ts';
import type { EnsuredEnvironment, EnvironmentOrGone } from '../../../domain/resources/environments.ts';
import type { SecretEnvironment, SecretEnvironmentSpec } from '../../generated/secret-environment.ts';
import { type Outcome, failureOutcome } from '../../frame/outcome.ts';
import { environmentPath } from '../../environment-ref.ts';
import { available, availableAndKept, displayNameIgnored, environmentDeleted, slugTaken } from './messages.ts';

/** The outcome of a reconcile, from the facts that were gathered. Pure functions. */

/** The environment that a resource created; undefined if it created none, or if that was not looked up. */
export type MadeEnvironment = EnvironmentOrGone | undefined;

/** The environment exists. */
export interface Ensured extends Omit<EnsuredEnvironment, 'hasOwner' | 'created' | 'namer'> {
  /** Why its organization has no owner. */
  readonly refusal?: DomainError | undefined;
  /** The SecretEnvironment that gives it another display name than this one would. */
  readonly otherNamer?: string | undefined;
}

/** The outcome if the environment exists. `made` is used only if the policy is Delete. */
export function judgeEnsured(
  { environmentRef, deletionPolicy }: SecretEnvironmentSpec,
  { environmentId, revision, revisionId, secretCount, refusal, otherNamer }: Ensured,
  made: MadeEnvironment,
): Outcome<SecretEnvironment> {
  const fields = { environmentId, revision, revisionId, secretCount };
  // The creation of a user is not an event for this resource, so the reconcile is retried.
  if (refusal !== undefined) return { ...failureOutcome<SecretEnvironment>(refusal, fields), next: { kind: 'retry' } };
  const isOwn = made !== undefined && made !== 'gone' && made.environmentId === environmentId;
  const place = environmentPath({ environmentRef });
  const exists = deletionPolicy === 'Delete' && !isOwn ? availableAndKept(place) : available(place);
  const notices =
    otherNamer === undefined ? [] : [{ reason: 'DisplayNameIgnored', message: displayNameIgnored(otherNamer) }];
  const message = [exists, ...notices.map((notice) => notice.message)].join(' ');
  return { claim: { progress: 'done', reason: 'Available', message, notices }, fields };
}

// The purge or undeletion of an environment is an event, but that of an empty project or organization is not.
const purgeCheckMs = 60_000;

/** Something that was deleted still has a slug. The reconcile is retried until it is purged or undeleted. */
export function judgeConflict(
  { environmentRef }: SecretEnvironmentSpec,
  { detail }: DomainError,
  made: MadeEnvironment,
): Outcome<SecretEnvironment> {
  const next = { kind: 'retry', minDelayMs: purgeCheckMs } as const;
  if (made === 'gone') {
    const message = environmentDeleted(environmentPath({ environmentRef }), detail);
    return { claim: { progress: 'stalled', reason: 'EnvironmentDeleted', message }, next };
  }
  return { claim: { progress: 'stalled', reason: 'SlugTaken', message: slugTaken(detail) }, next };
}
