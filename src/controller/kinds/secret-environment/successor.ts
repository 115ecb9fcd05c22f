import type { SecretEnvironment } from '../../generated/secret-environment.ts';
import { finalizer } from '../../annotations.ts';

/**
 * The SecretEnvironment that takes over the environment of a deleted one: another one that names the same environment and
 * is not being deleted. So the environment stays as long as any of them exists. `named` are all that name it.
 *
 * One with the policy Delete comes first, because its finalizer lets it hand the environment on. So the last one that is
 * deleted decides by its policy. Among several, the oldest one comes first.
 */
export function successorOf(
  deleted: SecretEnvironment,
  named: readonly SecretEnvironment[],
): SecretEnvironment | undefined {
  const [first] = named
    .filter(({ metadata }) => metadata.uid !== deleted.metadata.uid && metadata.deletionTimestamp === undefined)
    .toSorted((a, b) => (rankOf(a) < rankOf(b) ? -1 : 1));
  return first;
}

/** Whether it could be deleted without a cleanup, and its environment would then stay in spite of its policy. */
export function lacksFinalizer(resource: SecretEnvironment): boolean {
  return resource.spec.deletionPolicy === 'Delete' && !isHeld(resource);
}

function isHeld({ metadata }: SecretEnvironment): boolean {
  return metadata.finalizers?.includes(finalizer) ?? false;
}

function rankOf(resource: SecretEnvironment): string {
  const { name, creationTimestamp = '' } = resource.metadata;
  const group = resource.spec.deletionPolicy === 'Retain' ? 2 : isHeld(resource) ? 0 : 1;
  return `${group} ${creationTimestamp} ${name}`;
}
