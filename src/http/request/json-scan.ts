import { TimeSlice } from '../../lib/time-slice.ts';
import { shownName } from '../../wire/shown-name.ts';

/** Problems of a JSON text that `JSON.parse` does not report, or that it must not be called with. */
export interface JsonScan {
  /**
   * Why the text must not be parsed: objects and arrays nested deeper than `maxDepth`, or more entries than allowed. The
   * scan stopped there.
   */
  readonly excess: 'depth' | 'entries' | undefined;
  /** Path of the first name that an object repeats, in a form that errors may show. */
  readonly repeated: string | undefined;
}

/** Nested objects and arrays; no request needs more than three. */
export const maxDepth = 32;

// Tokens between two checks of the clock.
const tokensPerCheck = 256;

const token = /["{}[\],]/g;
// A part of a string that is scanned at once.
const stringPart = /(?:[^"\\]|\\[^]){0,16384}/y;
// No valid field or key is longer, however it is escaped.
const maxNameLiteral = 2_048;

/**
 * Scans a JSON text once, in time slices. `maxEntries` limits the members of objects and the elements of arrays together.
 * The result for invalid JSON is unspecified: `JSON.parse` reports that.
 */
export async function scanJson(text: string, maxEntries: number, slice = new TimeSlice()): Promise<JsonScan> {
  const levels = new Levels();
  const tokens = new RegExp(token);
  for (let count = 0; levels.excess(maxEntries) === undefined && tokens.test(text); count += 1) {
    if (count % tokensPerCheck === 0 && slice.isOver) await slice.next();
    const at = tokens.lastIndex - 1;
    if (text[at] === '"') {
      tokens.lastIndex = await endOfString(text, at, slice);
      if (levels.isNameNext) levels.name(unescaped(text.slice(at, tokens.lastIndex)));
    } else levels.take(text.charAt(at));
  }
  return { excess: levels.excess(maxEntries), repeated: levels.repeated };
}

/** An object or array that the scan is in. */
interface Level {
  /** Undefined in an array. */
  readonly names: Set<string> | undefined;
  /** The name that the scan is at. */
  name: string;
}

/** The open objects and arrays, outermost first. */
class Levels {
  readonly #levels: Level[] = [];
  /** Whether the next string is a name. */
  isNameNext = false;
  repeated: string | undefined;

  /** Upper bound of the members and elements so far: each object and array has at most one more than commas. */
  #entries = 0;

  excess(maxEntries: number): JsonScan['excess'] {
    if (this.#levels.length > maxDepth) return 'depth';
    return this.#entries > maxEntries ? 'entries' : undefined;
  }

  /** Handles a bracket, a brace or a comma. */
  take(character: string): void {
    if (character === '}' || character === ']') {
      this.isNameNext = false;
      this.#levels.pop();
      return;
    }
    this.#entries += 1;
    if (character !== ',') this.#levels.push({ names: character === '{' ? new Set() : undefined, name: '' });
    this.isNameNext = this.#levels.at(-1)?.names !== undefined;
  }

  name(name: string): void {
    this.isNameNext = false;
    const level = this.#levels.at(-1);
    if (level?.names === undefined) return;
    level.name = name;
    if (level.names.has(name)) this.repeated ??= this.#path();
    level.names.add(name);
  }

  #path(): string {
    const named = this.#levels.filter(({ names }) => names !== undefined);
    return named.map(({ name }) => shownName(name)).join('.');
  }
}

/** The index after the closing quote of the string that begins at `start`, or the length of the text if it has none. */
async function endOfString(text: string, start: number, slice: TimeSlice): Promise<number> {
  let from = start + 1;
  for (;;) {
    const end = endOfPart(text, from);
    if (text[end] === '"') return end + 1;
    // Only a backslash follows.
    if (end === from) return text.length;
    if (slice.isOver) await slice.next();
    from = end;
  }
}

/** The end of the part of a string that begins at `start`: the closing quote, or before it. */
function endOfPart(text: string, start: number): number {
  stringPart.lastIndex = start;
  stringPart.test(text);
  return stringPart.lastIndex;
}

/** The value of a JSON string literal. Escapes allow several spellings of one name. */
function unescaped(literal: string): string {
  if (literal.length > maxNameLiteral || !literal.includes('\\')) return literal.slice(1, -1);
  try {
    return String(JSON.parse(literal));
  } catch {
    return literal;
  }
}
