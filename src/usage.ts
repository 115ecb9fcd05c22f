import { type VariableName, prefix, secretVariables, variables } from './environment-reader.ts';

const width = Math.max(...Object.keys(variables).map((name) => name.length)) + prefix.length;
const descriptions = Object.entries(variables).map(([name, text]) => `  ${(prefix + name).padEnd(width)}  ${text}`);

/** What `keyframe-server --help` prints. */
export const usage = `keyframe-server: secrets with a memory

Usage: keyframe-server <role>

Roles
  all         the API and the controller
  api         the API: /api/v1, /healthz, /readyz
  controller  the controller: from environments to Kubernetes Secrets
  migrate     brings the database to the schema of this release, and ends
  init        makes the Secrets of a new installation that are not there yet, and ends
  pre-delete  takes Keyframe's finalizers off all resources, before the controller goes, and ends
  smoke-test  writes a secret, sees it arrive in a Kubernetes Secret, removes both, and ends
  recovered   once after a restore from a backup, before the server starts: revokes
              every credential that the backup brought back, makes one for an
              instance admin, and ends

Options of recovered
  --token-file FILE  the file that will be made (0600) to hold the new token. Required.
  --admin EMAIL      whose token it is. Default: the instance admin of longest standing.
  --before TIME      revoke only what was made before, such as 2027-01-31T12:00:00Z.
                     Default: everything.

Options
  -h, --help     this text
  -v, --version  the release

Variables
${descriptions.join('\n')}
  ${fileForms(secretVariables)} may each be given as a file instead:
  the variable with _FILE at its end names it.

Exit codes
  0 done, 1 failed, 64 wrong usage, 69 database, cluster or port not to be had, 78 wrong configuration
`;

function fileForms(names: readonly VariableName[]): string {
  return names.map((name) => prefix + name).join(', ');
}
