import type { CommandEntry, CommandGroup, CommandSection } from '../core/command-section.ts';
import { summaries } from '../generated/summaries.ts';
import type { CompletionKind } from '../core/options.ts';
import { shownText } from '../../wire/shown-text.ts';
import { type GivenInput, type Place, type Target, formsOf, optionsAt } from './line.ts';

export interface Candidate {
  readonly word: string;
  readonly description?: string;
}

/** What the server knows; each returns candidates that need not begin with the current word. */
export type Source = (given: GivenInput, current: string) => Promise<readonly Candidate[]>;
export type Sources = Readonly<Record<Exclude<CompletionKind, 'file' | 'command'>, Source>>;

/** Candidates, or what the shell is to complete by itself. */
export type Completions = readonly Candidate[] | 'files' | { readonly programAt: number };

export interface CompletionDeps {
  readonly sections: readonly CommandSection[];
  readonly sources: Sources;
}

/** What can stand in place of the last word. */
export async function completionsOf(target: Target, deps: CompletionDeps): Promise<Completions> {
  switch (target.kind) {
    case 'none':
      return [];
    case 'program':
      return { programAt: target.index };
    case 'commands':
      return matching(commandsAt(target.place), target.current);
    case 'flags':
      return matching(flagsAt(target.place), target.current);
    default:
      return await valuesOf(target, deps);
  }
}

async function valuesOf(
  { of, current, given }: Extract<Target, { kind: 'value' }>,
  { sections, sources }: CompletionDeps,
): Promise<Completions> {
  const { choices, completes } = of;
  if (choices !== undefined) {
    return matching(
      choices.map((word) => ({ word })),
      current,
    );
  }
  if (completes === undefined) return [];
  if (completes === 'file') return 'files';
  if (completes === 'command') return matching(commandsBelow(sections, given.args), current);
  // A shell inserts a word as it is: one that it would expand or run is not offered.
  const found = await sources[completes](given, current);
  return matching(
    found.filter(({ word }) => /^\w[\w.@/:+-]*$/.test(word)),
    current,
  );
}

function matching(candidates: readonly Candidate[], current: string): Candidate[] {
  return candidates.filter(({ word }) => word.startsWith(current));
}

function flagsAt(place: Place): Candidate[] {
  return optionsAt(place).flatMap(([, option]) =>
    formsOf(option).map((word) => ({ word, description: option.description })),
  );
}

function commandsAt({ words, entries }: Pick<Place, 'words' | 'entries'>): Candidate[] {
  return entries.map((entry) => ({ word: entry.name, description: summaryOf(entry, words) }));
}

function summaryOf(entry: CommandEntry | CommandGroup, words: readonly string[]): string {
  return 'commands' in entry ? entry.summary : (summaries[[...words, entry.name].join(' ')] ?? '');
}

/** The commands that can follow these words of `help`. */
function commandsBelow(sections: readonly CommandSection[], words: readonly string[]): Candidate[] {
  const top = sections.flatMap(({ entries }) => entries);
  const [first, ...more] = words;
  if (first === undefined) return commandsAt({ words: [], entries: top.filter(({ name }) => name !== 'help') });
  const group = top.find(({ name }) => name === first);
  if (more.length > 0 || group === undefined || !('commands' in group)) return [];
  return commandsAt({ words, entries: group.commands });
}

const maxDescriptionLength = 80;

/** What `keyframe __complete` prints: a line `word<TAB>description` for each candidate, and a line that begins with `:`. */
export function completionOutput(completions: Completions): string {
  if (completions === 'files') return ':files\n';
  if ('programAt' in completions) return `:program ${completions.programAt}\n`;
  const lines = completions.map(({ word, description = '' }) => {
    const shown = Array.from(shownText(description)).slice(0, maxDescriptionLength).join('');
    return shown === '' ? word : `${word}\t${shown}`;
  });
  return [...lines, ':words\n'].join('\n');
}
