import type { CommandContext } from '../../core/command.ts';
import { type SelectedKeys, selectionFlags } from '../../core/options.ts';

/**
 * Warns if --keys and --exclude select no secret, which without them looks like success: a name is probably mistyped.
 * `selected` are the lists of an answer, which together name each selected secret.
 */
export function warnIfNoneMatches(
  { io }: CommandContext,
  options: SelectedKeys,
  { place, selected }: { readonly place: string; readonly selected: readonly (readonly string[])[] },
): void {
  const flags = selectionFlags(options);
  if (flags === '' || selected.some((keys) => keys.length > 0)) return;
  io.warn(`no secret of ${place} matches${flags}`);
}
