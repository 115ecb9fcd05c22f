import type { CommandContext } from '../../core/command.ts';

/** Notes, after a new token was printed, that it cannot be shown again. */
export function noteShownOnce({ io, printer }: Pick<CommandContext, 'io' | 'printer'>): void {
  if (printer.format === 'name') io.warn('--output name does not print the token itself, and it cannot be shown again');
  else io.note('The token is shown only once. Store it where only its user can read it.');
}
