/** What a variable or the output of a command stands for: a word that passes for a slug, a key and a number. */
const someWord = '1';
const keywords: ReadonlySet<string> = new Set([
  'do',
  'then',
  'else',
  'if',
  'while',
  'until',
  '!',
  '{',
  '}',
  'done',
  'fi',
]);

/**
 * The simple commands of a script of bash as their words, those in `$(…)` and `<(…)` included: quotes are taken off,
 * variables stand for some word, and redirections, assignments before a command and here-documents are left out.
 * It knows what our pages use, and not all of bash.
 */
export function shellCommands(script: string): string[][] {
  const withoutDocuments = script.replaceAll(/<<-?'?(\w+)'?(.*)\n[^]*?^\1$/gm, '$2');
  return new ShellReader(withoutDocuments).commands();
}

class ShellReader {
  readonly #text: string;
  #at = 0;
  readonly #found: string[][] = [];
  #words: string[] = [];
  /** Undefined between words. */
  #word: string | undefined;
  #isRedirected = false;

  constructor(text: string) {
    this.#text = text;
  }

  commands(): string[][] {
    while (this.#at < this.#text.length) this.#step();
    this.#endCommand();
    return this.#found;
  }

  // What may come next, the first that fits.
  readonly #rules: readonly (readonly [pattern: RegExp, read: (found: string) => void])[] = [
    [/^\\\n/, (found) => this.#skip(found)],
    [/^#[^\n]*/, (found) => (this.#word === undefined ? this.#skip(found) : this.#literal('#'))],
    [/^'[^']*'/, (found) => this.#quoted(found)],
    [/^'/, () => this.#unfinished()],
    [/^"/, () => this.#doubleQuoted()],
    [/^\$/, () => this.#expansion()],
    [/^[<>]\(/, () => this.#nested(1)],
    [/^\d?(?:<<<|>>|[<>])&?/, (found) => this.#redirection(found)],
    [/^[\s;|&()]/, (found) => this.#separator(found)],
    [/^\\?[^]/, (found) => this.#literal(found)],
  ];

  #step(): void {
    const rest = this.#text.slice(this.#at);
    for (const [pattern, read] of this.#rules) {
      const found = pattern.exec(rest)?.[0];
      if (found !== undefined) return read(found);
    }
  }

  #skip(found: string): void {
    this.#at += found.length;
  }

  #literal(found: string): void {
    this.#append(found.at(-1) ?? '');
    this.#skip(found);
  }

  #unfinished(): never {
    throw new Error(`a quote that does not end: ${this.#text.slice(this.#at)}`);
  }

  #append(text: string): void {
    this.#word = (this.#word ?? '') + text;
  }

  #quoted(found: string): void {
    this.#append(found.slice(1, -1));
    this.#skip(found);
  }

  #doubleQuoted(): void {
    this.#append('');
    this.#at += 1;
    while (this.#at < this.#text.length && this.#text[this.#at] !== '"') {
      if (this.#text[this.#at] === '$') this.#expansion();
      else {
        if (this.#text[this.#at] === '\\') this.#at += 1;
        this.#append(this.#text[this.#at] ?? '');
        this.#at += 1;
      }
    }
    this.#at += 1;
  }

  #expansion(): void {
    const rest = this.#text.slice(this.#at);
    if (rest.startsWith('$(')) return this.#nested(1);
    const [whole = '$', , alternative] = /^\$(?:\{([^}:]*)(:\+)?[^}]*\}|\w+|[@?!#])/.exec(rest) ?? [];
    // What exists only if a variable is set may be absent.
    if (alternative === undefined) this.#append(whole === '$' ? '$' : someWord);
    this.#at += whole.length;
  }

  /** A command within the command; `skip` is how many characters stand before its parenthesis. */
  #nested(skip: number): void {
    const from = this.#at + skip + 1;
    let depth = 1;
    let end = from;
    for (; depth > 0 && end < this.#text.length; end += 1) {
      if (this.#text[end] === '(') depth += 1;
      if (this.#text[end] === ')') depth -= 1;
    }
    this.#found.push(...new ShellReader(this.#text.slice(from, end - 1)).commands());
    this.#append(someWord);
    this.#at = end;
  }

  #redirection(found: string): void {
    this.#endWord();
    this.#isRedirected = true;
    this.#skip(found);
  }

  #separator(character: string): void {
    this.#endWord();
    if (!/[ \t]/.test(character)) this.#endCommand();
    this.#at += 1;
  }

  #endWord(): void {
    if (this.#word === undefined) return;
    if (this.#isRedirected) this.#isRedirected = false;
    else if (this.#words.length > 0 || !/^\w+=|^$/.test(this.#word)) {
      if (this.#words.length > 0 || !keywords.has(this.#word)) this.#words.push(this.#word);
    }
    this.#word = undefined;
  }

  #endCommand(): void {
    this.#endWord();
    if (this.#words.length > 0) this.#found.push(this.#words);
    this.#words = [];
    this.#isRedirected = false;
  }
}
