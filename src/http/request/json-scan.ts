import { TimeSlice } from '../../lib/time-slice.ts';
import { shownName } from '../../wire/shown-name.ts';

/** What `JSON.parse` does not report of a text, and what it must not be given. */
export interface JsonScan {
  /**
   * Why the text must not be parsed: more than `maxDepth` objects and arrays within each other, or more entries than
   * allowed. The rest was not looked at.
   */
  readonly excess: 'depth' | 'entries' | undefined;
  /** Path of the first name that stands twice in one object, as far as it may be repeated. */
  readonly repeated: string | undefined;
}

/** Objects and arrays within each other; no request needs more than three. */
export const maxDepth = 32;

// How many tokens are looked at between two looks at the clock.
const tokensPerLook = 256;

const token = /["{}[\],]/g;
// A part of a string that is looked through at once.
const stringPart = /(?:[^"\\]|\\[^]){0,16384}/y;
// No field and no key has a longer one, however it is escaped.
const maxNameLiteral = 2_048;

/**
 * Looks through a JSON text, each of its characters once, in time slices. `maxEntries` bounds the members of objects and
 * the elements of arrays together. A text that is not JSON gets some result: `JSON.parse` decides whether it is JSON.
 */
export async function scanJson(text: string, maxEntries: number, slice = new TimeSlice()): Promise<JsonScan> {
  const levels = new Levels();
  const tokens = new RegExp(token);
  for (let count = 0; levels.excess(maxEntries) === undefined && tokens.test(text); count += 1) {
    if (count % tokensPerLook === 0 && slice.isOver) await slice.next();
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

/** Where the scan is, from the outermost object or array to the innermost. */
class Levels {
  readonly #levels: Level[] = [];
  /** Whether a string that comes now is a name. */
  isNameNext = false;
  repeated: string | undefined;

  /** Members and elements so far, at most: each object and array has one more than commas. */
  #entries = 0;

  excess(maxEntries: number): JsonScan['excess'] {
    if (this.#levels.length > maxDepth) return 'depth';
    return this.#entries > maxEntries ? 'entries' : undefined;
  }

  /** Goes on by a bracket, a brace or a comma. */
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

/** The index behind the quote that ends the string which begins at `start`; that of the text where none does. */
async function endOfString(text: string, start: number, slice: TimeSlice): Promise<number> {
  let from = start + 1;
  for (;;) {
    const end = endOfPart(text, from);
    if (text[end] === '"') return end + 1;
    // Nothing follows but a backslash.
    if (end === from) return text.length;
    if (slice.isOver) await slice.next();
    from = end;
  }
}

/** Where a part of a string ends that begins at `start`: at the quote that ends the string, or before. */
function endOfPart(text: string, start: number): number {
  stringPart.lastIndex = start;
  stringPart.test(text);
  return stringPart.lastIndex;
}

/** What a string of JSON stands for: one name can be written in many ways. */
function unescaped(literal: string): string {
  if (literal.length > maxNameLiteral || !literal.includes('\\')) return literal.slice(1, -1);
  try {
    return String(JSON.parse(literal));
  } catch {
    return literal;
  }
}
