import { globTest, validateKeyGlob } from '../../wire/secret-rules.ts';
import { usageError } from '../core/cli-error.ts';

/** The variables that a program gets, and what names them. */
export interface VariableList {
  /** `--only`, `KEYFRAME_RUN_VARIABLES`, or the path of a folder file. */
  readonly source: string;
  /** Names, or globs of names. */
  readonly entries: readonly string[];
}

/** Why these are not names or globs, after the name of the list. An entry is not repeated: it may be a value. */
export function faultOfVariableList(entries: readonly string[]): string | undefined {
  if (entries.length === 0) return 'names no variable';
  const index = entries.findIndex((entry) => validateKeyGlob(entry) !== undefined);
  return index === -1 ? undefined : `has no name of a variable at place ${index + 1}`;
}

/** Parses names that commas or spaces separate. Throws CliError usage. */
export function parseVariableList(source: string, text: string): VariableList {
  const entries = text.split(/[\s,]+/).filter((entry) => entry !== '');
  const fault = faultOfVariableList(entries);
  if (fault !== undefined) throw usageError(`${source} ${fault}`, `For example: ${source}=DATABASE_URL,API_KEY`);
  return { source, entries };
}

/** The names of the list. A glob names nothing by itself: users of the environment choose what it matches. */
export function namesOf({ entries }: VariableList): ReadonlySet<string> {
  return new Set(entries.filter((entry) => !/[*?]/.test(entry)));
}

/** The test for the names that the list selects. */
export function listTest({ entries }: VariableList): (name: string) => boolean {
  return globTest(entries);
}
