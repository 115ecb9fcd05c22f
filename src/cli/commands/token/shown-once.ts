import type { CommandContext } from '../../command.ts';

/** Says after a new token was printed that it will not be printed again. */
export function tellShownOnce({ io, printer }: Pick<CommandContext, 'io' | 'printer'>): void {
  if (printer.format === 'name') io.warn('--output name does not print the token itself, and it cannot be shown again');
  else io.note('The token is shown this once. Keep it where only its user can read it.');
}
