import type { DomainError } from '../../../domain/errors/domain-error.ts';
import type { ClaimedEnvironment, EnsuredEnvironment } from '../../../services/managed/environments.ts';
import type { SecretEnvironment, SecretEnvironmentSpec } from '../../generated/secret-environment.ts';
import type { Outcome } from '../../frame/outcome.ts';

/** What the status tells of an environment. Pure. */

/** What a resource made, as far as it was asked for. */
export type MadeEnvironment = Pick<ClaimedEnvironment, 'environmentId'> | 'gone' | undefined;

/** What a reconcile that found or made the environment comes to; `made` counts where the policy is Delete. */
export function judgeEnsured(
  { environmentRef, deletionPolicy }: SecretEnvironmentSpec,
  { environmentId, revision, revisionId, secretCount }: EnsuredEnvironment,
  made: MadeEnvironment,
): Outcome<SecretEnvironment> {
  const isOwn = made !== undefined && made !== 'gone' && made.environmentId === environmentId;
  const staying =
    deletionPolicy === 'Delete' && !isOwn
      ? ' This resource did not make it, so it stays when this resource is deleted, whatever spec.deletionPolicy says.'
      : '';
  const message = `Environment ${placeOf(environmentRef)} is there.${staying}`;
  const fields = { environmentId, revision, revisionId, secretCount };
  return { claim: { progress: 'done', reason: 'Available', message }, fields };
}

// A purge is told as well, where there was an environment to purge.
const purgeCheckMs = 60_000;

/** What a reconcile comes to where something deleted still has a slug: it goes on by itself after a purge. */
export function judgeConflict(
  { environmentRef }: SecretEnvironmentSpec,
  { detail }: DomainError,
  made: MadeEnvironment,
): Outcome<SecretEnvironment> {
  const next = { kind: 'retry', minDelayMs: purgeCheckMs } as const;
  if (made === 'gone') {
    const message =
      `Environment ${placeOf(environmentRef)}, which this resource made, was deleted in Keyframe, and its slug is taken until it is purged. ` +
      'Have an instance admin purge what was deleted, and the environment is made anew, empty; or delete this resource.';
    return { claim: { progress: 'reconciling', reason: 'EnvironmentDeleted', message }, next };
  }
  const message = `${detail.charAt(0).toUpperCase()}${detail.slice(1)}. After a purge the environment is made.`;
  return { claim: { progress: 'reconciling', reason: 'SlugTaken', message }, next };
}

function placeOf({ organization, project, name }: SecretEnvironmentSpec['environmentRef']): string {
  return `${organization}/${project}/${name}`;
}
