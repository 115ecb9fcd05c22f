import { finalizer } from '../../annotations.ts';

/** Every sentence that the condition Ready of a SecretEnvironment contains. Its Events repeat these. */

export const suspended =
  'spec.suspend is true: nothing is created or changed, and the status does not follow the environment. ' +
  'Set spec.suspend to false to resume.';

/** `place` is `organization/project/environment`, here and below. */
export function available(place: string): string {
  return `Environment ${place} exists.`;
}

/** The environment exists, but the deletion policy does not apply to it. */
export function availableAndKept(place: string): string {
  return (
    `${available(place)} This resource did not create it, so it stays when this resource is deleted, ` +
    'although spec.deletionPolicy is Delete.'
  );
}

/** Another SecretEnvironment decides the display name. */
export function displayNameIgnored(namer: string): string {
  return (
    `spec.displayName is not used, because SecretEnvironment ${namer} decides the display name of the environment. ` +
    'Remove spec.displayName from one of them.'
  );
}

/** The environment that the resource created was deleted, but not purged; `detail` is the refusal of the backend. */
export function environmentDeleted(place: string, detail: string): string {
  return (
    `Environment ${place}, which this resource created, was deleted in Keyframe. ${sentence(detail)} ` +
    'An undelete gives its secrets back; after a purge, a new environment is empty.'
  );
}

/** Something else that was deleted has a slug; `detail` is the refusal of the backend. */
export function slugTaken(detail: string): string {
  return `${sentence(detail)} This resource then uses the environment, or creates it.`;
}

/** Another resource must get its finalizer before it takes over the environment of this one, which is deleted. */
export function awaitsFinalizer(place: string, successor: string): string {
  return (
    `SecretEnvironment ${successor} names environment ${place} too and takes it over, ` +
    `as soon as it has the finalizer ${finalizer}`
  );
}

function sentence(detail: string): string {
  return `${detail.charAt(0).toUpperCase()}${detail.slice(1)}.`;
}
