import { DomainError } from '../../domain/errors/domain-error.ts';
import type { NamedVersion } from '../../domain/secret-states.ts';

const namesShown = 20;

/** DomainError version_destroyed for one or more wanted versions whose values were erased. */
export function versionsDestroyed(versions: readonly NamedVersion[]): DomainError {
  const [first] = versions;
  const shown = versions.slice(0, namesShown).map(({ key, version }) => `${key} (version ${version})`);
  const more = versions.length > namesShown ? ` and ${versions.length - namesShown} more` : '';
  const what =
    versions.length === 1 && first !== undefined
      ? `version ${first.version} of secret ${first.key} was destroyed`
      : `the values of ${shown.join(', ')}${more} were destroyed`;
  return new DomainError(
    'version_destroyed',
    `${what}: no value is left, and none comes back; take a version that was not destroyed, or set the key again`,
  );
}
