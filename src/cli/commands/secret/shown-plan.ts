import type { CommandContext } from '../../core/command.ts';
import type { Scope } from '../../settings/scope.ts';
import { type Difference, differenceLines } from './difference.ts';
import { scopeFlags } from './secrets-api.ts';

/** How commands show the plan of a change of secrets before they make it. */

/** One line for each key that changes, by key; `noteOf` returns what follows the key. */
export function changeLines(keys: Omit<Difference, 'unchanged'>, noteOf = (_key: string): string => ''): string[] {
  return differenceLines(keys).map(({ sign, key }) => `  ${sign} ${key}${noteOf(key)}`);
}

/** Shows the lines of a plan on standard error, under its title; a plan without lines is not shown. */
export function notePlan({ io }: CommandContext, title: string, lines: readonly string[]): void {
  if (lines.length > 0) io.note(`${title}:`);
  for (const line of lines) io.note(line);
}

/** The sentence of every plan that is not applied. */
export function nothingChanged(place: string, summary: string): string {
  return `Nothing was changed in ${place} (--plan): ${summary}`;
}

/** The hash with which exactly this plan can be applied. */
export function planHashLine(planHash: string | undefined): string {
  return `Plan hash: ${planHash ?? '-'}`;
}

/** A plan that is the result of the command. */
export interface PrintedPlan {
  /** What json and yaml print. */
  readonly value: object;
  /** The keys that change, sorted: what `--output name` prints. */
  readonly keys: readonly string[];
  readonly lines: readonly string[];
  /** What a table says besides, on standard error. */
  readonly notes: readonly string[];
}

export async function printPlan({ io, printer }: CommandContext, plan: PrintedPlan): Promise<void> {
  const { value, keys, lines, notes } = plan;
  await printer.lines(value, printer.format === 'name' ? keys : lines);
  if (printer.format !== 'table') return;
  for (const note of notes) io.note(note);
}

/** Says after a change how to take it back, unless a program reads the result. */
export function noteUndo({ io, printer }: CommandContext, revision: number, scope: Scope): void {
  if (printer.format === 'table') io.note(`To take this back: keyframe undo ${revision} ${scopeFlags(scope)}`);
}

const maxShownNames = 20;

/** Names in a sentence; not all of a long list. */
export function shownNames(names: readonly string[]): string {
  const rest = names.length - maxShownNames;
  return `${names.slice(0, maxShownNames).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}

/** How many keys were changed, and which: a cell of the result. */
export function listedKeys(keys: readonly string[]): string {
  return keys.length === 0 ? '0' : `${keys.length}: ${keys.join(', ')}`;
}
