import { ClientError } from '../../client/client-error.ts';
import type { CommandDefinition } from './command.ts';

/**
 * An error of the server with the names that the user knows: `--id must be a UUID` for the field `id`. The field of an
 * option or argument is the name in its definition, or its `field`; that of an entry of a list ends in its index. A name in a
 * map follows the option of the map: `--claim sub`. Other errors stay as they are.
 */
export function withFlagNames(error: unknown, definition: Pick<CommandDefinition, 'arguments' | 'options'>): unknown {
  if (!(error instanceof ClientError) || error.problem?.errors === undefined) return error;
  const { errors } = error.problem;
  if (errors.length === 0) return error;
  const names = namesOf(definition);
  const shown = errors.map(({ field, message }) => `${shownField(field, names)} ${message}`);
  return error.withMessage(shown.join('; '));
}

function namesOf({
  arguments: args = {},
  options = {},
}: Pick<CommandDefinition, 'arguments' | 'options'>): ReadonlyMap<string, string> {
  const flags = Object.entries(options).map(([name, { field = name, flags: forms }]) => {
    const long = /--[a-z][a-z-]*/.exec(forms)?.[0] ?? forms;
    return [field, long] as const;
  });
  const words = Object.entries(args).map(([name, { form }]) => [name, form.replaceAll('...', '')] as const);
  return new Map([...words, ...flags]);
}

function shownField(field: string, names: ReadonlyMap<string, string>): string {
  const option = names.get(field.replace(/\.[0-9]+$/, ''));
  if (option !== undefined) return option;
  for (const [map, flag] of names) {
    if (map.includes('.') && field.startsWith(`${map}.`)) return `${flag} ${field.slice(map.length + 1)}`;
  }
  // Without an option of its own, `set.API_KEY` is the secret API_KEY.
  return field.replace(/^(?:set|generate|delete)\./, '');
}
