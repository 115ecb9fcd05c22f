import { type RoleName, serverRoles } from './role-names.ts';
import { type VariableName, prefix, variableNames, variableOf } from './variables.ts';

/** The table of the variables as text: for `--help`, and in Markdown for docs/configuration.md. */

/** The lines of `--help`, one for each variable. */
export function variableHelp(): string {
  const width = Math.max(...variableNames.map((name) => name.length)) + prefix.length;
  return variableNames
    .map((name) => `  ${variableNameOf(name).padEnd(width)}  ${sentences(name).join(' ')}`)
    .join('\n');
}

/** The rows in Markdown; the first one is the head. */
export function variableRows(): readonly (readonly string[])[] {
  const head = ['variable', 'default', 'allowed', 'read by', 'meaning'];
  return [head, ...variableNames.map(rowOf)];
}

/** As it is set. */
export function variableNameOf(name: VariableName): string {
  return prefix + name;
}

function sentences(name: VariableName): string[] {
  const { description, required, roles } = variableOf(name);
  const isForServer = roles.length === serverRoles.length && serverRoles.every((role) => roles.includes(role));
  const unset = plain(defaultOf(name));
  return [
    plain(description),
    ...(required ? ['Required.'] : unset === 'none' ? [] : [`Default: ${unset}.`]),
    ...(isForServer ? [] : [`Roles: ${rolesOf(roles).join(', ')}.`]),
  ];
}

function rowOf(name: VariableName): readonly string[] {
  const { format, roles, description, details } = variableOf(name);
  const meaning = details === undefined ? description : `${description} See ${details}.`;
  const readers = rolesOf(roles).map((role) => (role === 'server' ? role : `\`${role}\``));
  return [`\`${variableNameOf(name)}\``, defaultOf(name), format, readers.join(', '), meaning];
}

function defaultOf(name: VariableName): string {
  const { required, default: text, unset = 'none' } = variableOf(name);
  if (required) return 'required';
  return text === undefined ? unset : `\`${text}\``;
}

/** `server` stands for all roles that serve. */
function rolesOf(roles: readonly RoleName[]): readonly string[] {
  if (!serverRoles.every((role) => roles.includes(role))) return roles;
  return ['server', ...roles.filter((role) => !serverRoles.some((known) => known === role))];
}

function plain(markdown: string): string {
  return markdown.replaceAll('`', '');
}
