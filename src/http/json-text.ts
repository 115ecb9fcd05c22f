import { shownName } from '../wire/shown-name.ts';

/** What `JSON.parse` does not tell of a text, and what it should not be given. */
export interface JsonScan {
  /** More than `maxDepth` objects and arrays within each other; the rest was not looked at. */
  readonly isTooDeep: boolean;
  /** Path of the first name that stands twice in one object, as far as it may be repeated. */
  readonly repeated: string | undefined;
}

/** Objects and arrays within each other; no request needs more than three. */
export const maxDepth = 32;

/**
 * Looks through a JSON text, each of its characters once. A text that is not JSON gets some answer: whether it is JSON is
 * for `JSON.parse` to say.
 */
export function scanJson(text: string): JsonScan {
  const levels = new Levels();
  for (let at = 0; at < text.length; at += 1) {
    switch (text[at]) {
      case '"': {
        const end = endOfString(text, at);
        if (levels.isNameNext) levels.name(unescaped(text.slice(at, end)));
        at = end - 1;
        break;
      }
      case '{':
      case '[':
        if (levels.depth === maxDepth) return { isTooDeep: true, repeated: levels.repeated };
        levels.open(text[at] === '{');
        break;
      case '}':
      case ']':
        levels.close();
        break;
      case ',':
        levels.next();
    }
  }
  return { isTooDeep: false, repeated: levels.repeated };
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

  get depth(): number {
    return this.#levels.length;
  }

  open(isObject: boolean): void {
    this.isNameNext = isObject;
    this.#levels.push({ names: isObject ? new Set() : undefined, name: '' });
  }

  close(): void {
    this.isNameNext = false;
    this.#levels.pop();
  }

  next(): void {
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
function endOfString(text: string, start: number): number {
  let quote = text.indexOf('"', start + 1);
  while (quote !== -1 && isEscaped(text, quote)) quote = text.indexOf('"', quote + 1);
  return quote === -1 ? text.length : quote + 1;
}

/** Whether an odd number of backslashes stands before this character. */
function isEscaped(text: string, at: number): boolean {
  let first = at;
  while (text[first - 1] === '\\') first -= 1;
  return (at - first) % 2 === 1;
}

/** What a string of JSON stands for: one name can be written in many ways. */
function unescaped(literal: string): string {
  if (!literal.includes('\\')) return literal.slice(1, -1);
  try {
    return String(JSON.parse(literal));
  } catch {
    return literal;
  }
}
