import type { DomainError } from '../../../domain/errors/domain-error.ts';
import type { EnsuredEnvironment, EnvironmentOrGone } from '../../../domain/resources/environments.ts';
import type { SecretEnvironment, SecretEnvironmentSpec } from '../../generated/secret-environment.ts';
import { type Outcome, failureOutcome } from '../../frame/outcome.ts';
import { available, availableAndKept, environmentDeleted, slugTaken } from './messages.ts';

/** The outcome of a reconcile, from the facts that were gathered. Pure functions. */

/** The environment that a resource created; undefined if it created none, or if that was not looked up. */
export type MadeEnvironment = EnvironmentOrGone | undefined;

/** The environment exists. `refusal` says why its organization has no owner. */
export interface Ensured extends Omit<EnsuredEnvironment, 'hasOwner' | 'created'> {
  readonly refusal?: DomainError | undefined;
}

/** The outcome if the environment exists. `made` is used only if the policy is Delete. */
export function judgeEnsured(
  { environmentRef, deletionPolicy }: SecretEnvironmentSpec,
  { environmentId, revision, revisionId, secretCount, refusal }: Ensured,
  made: MadeEnvironment,
): Outcome<SecretEnvironment> {
  const fields = { environmentId, revision, revisionId, secretCount };
  // The creation of a user is not an event for this resource, so the reconcile is retried.
  if (refusal !== undefined) return { ...failureOutcome<SecretEnvironment>(refusal, fields), next: { kind: 'retry' } };
  const isOwn = made !== undefined && made !== 'gone' && made.environmentId === environmentId;
  const place = placeOf(environmentRef);
  const message = deletionPolicy === 'Delete' && !isOwn ? availableAndKept(place) : available(place);
  return { claim: { progress: 'done', reason: 'Available', message }, fields };
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
    const message = environmentDeleted(placeOf(environmentRef), detail);
    return { claim: { progress: 'stalled', reason: 'EnvironmentDeleted', message }, next };
  }
  return { claim: { progress: 'stalled', reason: 'SlugTaken', message: slugTaken(detail) }, next };
}

/** `organization/project/environment`, which names an environment. */
export function placeOf({ organization, project, name }: SecretEnvironmentSpec['environmentRef']): string {
  return `${organization}/${project}/${name}`;
}
