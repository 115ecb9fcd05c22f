import { secretNames } from '../config/variables.ts';
import { variableHelp, variableNameOf } from '../config/variable-text.ts';
import type { Role } from './role.ts';

const roleWidth = 12;
const optionWidth = 19;

/** What `keyframe-server --help` prints. */
export function helpText(roles: readonly Role[]): string {
  const optionTexts = roles.flatMap(({ name, options = [] }) =>
    options.length === 0 ? [] : [`Options of ${name}\n${options.map(optionText).join('\n')}\n\n`],
  );
  return `keyframe-server: stores versioned secrets and syncs them to Kubernetes

Usage: keyframe-server <role>

Roles
${roles.map(({ name, summary }) => columns(name, summary, roleWidth)).join('\n')}

${optionTexts.join('')}Options
  -h, --help     print this text
  -v, --version  print the release

Variables
${variableHelp()}
  A file may hold each of ${secretNames.map(variableNameOf).join(', ')}:
  append _FILE to the name and set it to the path of the file.

Exit codes
  0 success, 1 failure, 64 invalid arguments, 69 database, cluster or port unavailable, 78 invalid configuration
`;
}

function optionText({
  usage,
  description,
}: {
  readonly usage: string;
  readonly description: readonly string[];
}): string {
  return columns(usage, description, optionWidth);
}

/** The name and, in a second column, the lines. */
function columns(name: string, lines: readonly string[], width: number): string {
  return lines.map((line, index) => `  ${(index === 0 ? name : '').padEnd(width)}${line}`).join('\n');
}
