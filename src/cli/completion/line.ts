import type { CommandDefinition } from '../core/command.ts';
import type { CommandEntry, CommandGroup, CommandSection } from '../core/command-section.ts';
import { globalOptions } from '../core/global-options.ts';
import { type Argument, type Option, flag } from '../core/options.ts';

/** Finds what the last word of a command line can be. It reads the words as the command itself does. */

/** A command or a group of commands; `words` is its path, empty for the program itself. */
export interface Place {
  readonly words: readonly string[];
  readonly entries: readonly (CommandEntry | CommandGroup)[];
  readonly definition: CommandDefinition | undefined;
}

/** What was given before the last word. */
export interface GivenInput {
  /** The values of options, under the names of their definitions. */
  readonly options: ReadonlyMap<string, string>;
  readonly args: readonly string[];
}

/** What the last word can be, and its text. */
export type Target =
  | { readonly kind: 'none' }
  /** `index` is the position of the program that `run` starts, counted in the words of the shell. */
  | { readonly kind: 'program'; readonly index: number }
  | { readonly kind: 'commands' | 'flags'; readonly place: Place; readonly current: string }
  | {
      readonly kind: 'value';
      readonly place: Place;
      readonly current: string;
      readonly given: GivenInput;
      readonly of: Option<unknown> | Argument<unknown>;
    };

interface Word {
  readonly text: string;
  /** Among the words of the shell. */
  readonly index: number;
}

const none: Target = { kind: 'none' };

/** Options that commander has by itself. */
const helpOption = flag('-h, --help', 'Show this help');
const versionOption = flag('-V, --version', 'Print the version');

/** The options that can be given at a place, by the names of their definitions. */
export function optionsAt({ words, definition }: Place): [name: string, option: Option<unknown>][] {
  const own = Object.entries(definition?.options ?? {});
  const fixed: [string, Option<unknown>][] = [['help', helpOption]];
  if (words.length === 0) fixed.unshift(['version', versionOption]);
  return [...own, ...Object.entries<Option<unknown>>(globalOptions), ...fixed];
}

/** All forms of an option, such as `-o` and `--org`. */
export function formsOf({ flags }: Option<unknown>): string[] {
  return Array.from(flags.matchAll(/(?<![\w-])--?[A-Za-z][\w-]*/g), ([form]) => form);
}

/** What the last of these words can be; the words exclude the name of the program. */
export async function targetOf(words: readonly string[], sections: readonly CommandSection[]): Promise<Target> {
  const joined = joinedWords(words);
  const line = new Line(sections);
  for (const word of joined.slice(0, -1)) {
    const end = await line.take(word);
    if (end !== undefined) return end;
  }
  return line.targetAt(joined.at(-1) ?? { text: '', index: words.length });
}

/** Readline takes `--output=json` and `http://host` for several words; they are joined again. */
function joinedWords(words: readonly string[]): Word[] {
  const joined: Word[] = [];
  let isOpen = false;
  for (const [index, text] of words.entries()) {
    const isBreak = /^[=:]+$/.test(text);
    const last = joined.at(-1);
    if (last !== undefined && (isBreak || isOpen)) joined[joined.length - 1] = { ...last, text: last.text + text };
    else joined.push({ text, index: index + 1 });
    isOpen = isBreak;
  }
  return joined;
}

/** Takes the words of a line one by one. */
class Line {
  #place: Place;
  readonly #options = new Map<string, string>();
  readonly #args: string[] = [];
  /** The option whose value comes next. */
  #expected: [name: string, option: Option<unknown>] | undefined;
  /** `--` was given: options no longer count. */
  #hasEnded = false;

  constructor(sections: readonly CommandSection[]) {
    this.#place = { words: [], entries: sections.flatMap(({ entries }) => entries), definition: undefined };
  }

  /** Takes a word before the last one. Returns the target if it is already decided. */
  async take({ text, index }: Word): Promise<Target | undefined> {
    if (this.#expected !== undefined) {
      this.#options.set(this.#expected[0], text);
      this.#expected = undefined;
    } else if (!this.#hasEnded && text.startsWith('-') && text !== '-') this.#takeFlag(text);
    else if (this.#place.definition === undefined) return await this.#enter(text);
    else if (this.#place.definition.passThrough === true) return { kind: 'program', index };
    else this.#args.push(text);
    return undefined;
  }

  targetAt({ text, index }: Word): Target {
    const place = this.#place;
    if (this.#expected !== undefined) return this.#valueOf(this.#expected[1], text);
    if (!this.#hasEnded && text.startsWith('-')) return this.#flagAt(text);
    if (place.definition === undefined) return { kind: 'commands', place, current: text };
    if (place.definition.passThrough === true) return { kind: 'program', index };
    const argument = this.#argumentOf(place.definition);
    return argument === undefined ? none : this.#valueOf(argument, text);
  }

  #flagAt(text: string): Target {
    const sign = text.startsWith('--') ? text.indexOf('=') : -1;
    if (sign === -1) return { kind: 'flags', place: this.#place, current: text };
    const found = this.#find(text.slice(0, sign));
    return found === undefined || !takesValue(found[1]) ? none : this.#valueOf(found[1], text.slice(sign + 1));
  }

  /** The argument that comes next; the last one may take several words. */
  #argumentOf({ arguments: args = {} }: CommandDefinition): Argument<unknown> | undefined {
    const all = Object.values(args);
    const last = all.at(-1);
    return all[this.#args.length] ?? (last?.form.includes('...') === true ? last : undefined);
  }

  #valueOf(of: Option<unknown> | Argument<unknown>, current: string): Target {
    const given = { options: this.#options, args: this.#args };
    return { kind: 'value', place: this.#place, current, given, of };
  }

  #takeFlag(text: string): void {
    if (text === '--') {
      this.#hasEnded = true;
      return;
    }
    const sign = text.indexOf('=');
    const found = this.#find(sign === -1 ? text : text.slice(0, sign));
    if (found === undefined) return;
    if (!takesValue(found[1])) this.#options.set(found[0], 'true');
    else if (sign === -1) this.#expected = found;
    else this.#options.set(found[0], text.slice(sign + 1));
  }

  #find(form: string): [string, Option<unknown>] | undefined {
    return optionsAt(this.#place).find(([, option]) => formsOf(option).includes(form));
  }

  /** Goes into the command of this name. */
  async #enter(name: string): Promise<Target | undefined> {
    const entry = this.#place.entries.find((one) => one.name === name);
    if (entry === undefined) return none;
    const words = [...this.#place.words, name];
    this.#place =
      'commands' in entry
        ? { words, entries: entry.commands, definition: undefined }
        : { words, entries: [], definition: await entry.load() };
    return undefined;
  }
}

function takesValue({ flags }: Option<unknown>): boolean {
  return flags.includes('<');
}
