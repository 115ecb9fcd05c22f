import { type DotenvWarning, parseDotenv } from '../../wire/formats/dotenv.ts';
import { FormatError } from '../../wire/formats/format-error.ts';
import type { Versions } from './draft.ts';

/** A pasted file, and what it would change. Faults and warnings name lines and keys and hold nothing of a value. */
export interface ReadFile {
  /** Why nothing of it is read. */
  readonly fault: string | undefined;
  readonly secrets: ReadonlyMap<string, string>;
  /** Keys of the file that do not exist yet, and that do: in the order of the file. */
  readonly added: readonly string[];
  readonly present: readonly string[];
  /** Keys of the environment that the file does not have. */
  readonly missing: readonly string[];
  readonly warnings: readonly DotenvWarning[];
}

/** Reads a `.env` file as `keyframe push` does. */
export function readFile(text: string, versions: Versions): ReadFile {
  try {
    const { secrets, warnings } = parseDotenv(text);
    const keys = [...secrets.keys()];
    return {
      fault: undefined,
      secrets,
      added: keys.filter((key) => !versions.has(key)),
      present: keys.filter((key) => versions.has(key)),
      missing: [...versions.keys()].filter((key) => !secrets.has(key)),
      warnings,
    };
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    return { fault: error.message, secrets: new Map(), added: [], present: [], missing: [], warnings: [] };
  }
}
