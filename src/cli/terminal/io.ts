import { shownText } from '../../wire/shown-text.ts';

/** The three standard streams, as far as the command uses them. */
export interface Streams {
  readonly stdin: AsyncIterable<unknown> & { readonly isTTY?: boolean };
  readonly stdout: { readonly isTTY?: boolean; readonly columns?: number; write(text: string): unknown };
  readonly stderr: { readonly isTTY?: boolean; write(text: string): unknown };
}

export interface IoOptions {
  readonly streams: Streams;
  /** Colours are allowed; they are used on terminals alone. */
  readonly hasColor: boolean;
  /** --output json: errors are JSON objects, and so is each line of standard error unless it is a terminal. */
  readonly isJson?: boolean;
}

/** Results go to standard output, messages for the user to standard error. */
export class Io {
  readonly #streams: Streams;
  readonly #hasColor: boolean;
  readonly #isJson: boolean;

  constructor({ streams, hasColor, isJson = false }: IoOptions) {
    this.#streams = streams;
    this.#hasColor = hasColor;
    this.#isJson = isJson;
  }

  get isOutputTerminal(): boolean {
    return this.#streams.stdout.isTTY === true;
  }

  /** The columns of the terminal; undefined for a pipe or file, and for a terminal that does not say. */
  get outputWidth(): number | undefined {
    const { isTTY, columns = 0 } = this.#streams.stdout;
    return isTTY === true && columns > 0 ? columns : undefined;
  }

  get isInputTerminal(): boolean {
    return this.#streams.stdin.isTTY === true;
  }

  get isErrorTerminal(): boolean {
    return this.#streams.stderr.isTTY === true;
  }

  /** The user can be asked: standard error and standard input are a terminal. */
  get canAsk(): boolean {
    return this.isInputTerminal && this.#streams.stderr.isTTY === true;
  }

  /** Writes a result as it is. */
  write(text: string): void {
    this.#streams.stdout.write(text);
  }

  /** Writes one line for the user to standard error. A program gets none: the result contains the same. */
  note(line: string): void {
    if (this.#isReadByProgram) return;
    this.#streams.stderr.write(`${shownText(line)}\n`);
  }

  warn(line: string): void {
    if (this.#isReadByProgram) return this.#writeJson({ warning: line });
    this.#streams.stderr.write(`${this.#errorStyle('33', 'warning:')} ${shownText(line)}\n`);
  }

  /** Writes an error with the next steps; with --output json the problem in their place, on one line. */
  error(line: string, next: readonly string[] = [], problem?: object): void {
    if (this.#isJson && problem !== undefined) return this.#writeJson(problem);
    this.#streams.stderr.write(`${this.#errorStyle('31', 'error:')} ${shownText(line)}\n`);
    for (const step of next) this.#streams.stderr.write(`  ${shownText(step)}\n`);
  }

  /** Bold on a terminal with colours; for standard output. */
  bold(text: string): string {
    return this.isOutputTerminal && this.#hasColor ? `\u001B[1m${text}\u001B[22m` : text;
  }

  /** A colour by its number (31 red, 32 green, 33 yellow) on a terminal with colours; for standard output. */
  colored(text: string, color: 31 | 32 | 33): string {
    return this.isOutputTerminal && this.#hasColor ? `\u001B[${color}m${text}\u001B[39m` : text;
  }

  /** All bytes of standard input: for `-` as a file. */
  async readInput(): Promise<Buffer> {
    const chunks: Buffer[] = [];
    for await (const chunk of this.#streams.stdin) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks);
  }

  /** Asks for one line at the terminal (`canAsk`); undefined if it is closed. Ctrl-C throws CliError 130. */
  async ask(question: string): Promise<string | undefined> {
    const { askLine } = await import('./ask.ts');
    return await askLine(question, { isHidden: false });
  }

  /** Asks at the terminal; anything but `y` and `yes` is no. */
  async askYes(question: string): Promise<boolean> {
    const answer = (await this.ask(`${question} [y/N]`)) ?? '';
    return /^y(?:es)?$/i.test(answer.trim());
  }

  /** As `ask`, without showing what is typed. */
  async askHidden(question: string): Promise<string | undefined> {
    const { askLine } = await import('./ask.ts');
    return await askLine(question, { isHidden: true });
  }

  get #isReadByProgram(): boolean {
    return this.#isJson && !this.isErrorTerminal;
  }

  #writeJson(line: object): void {
    this.#streams.stderr.write(`${JSON.stringify(line)}\n`);
  }

  #errorStyle(color: string, text: string): string {
    const isShown = this.#streams.stderr.isTTY === true && this.#hasColor;
    return isShown ? `\u001B[1;${color}m${text}\u001B[0m` : text;
  }
}
