import { shownText } from '../../wire/shown-text.ts';
import type { Io } from './io.ts';
import { emptyCell, type TextTable, tableLines } from './table.ts';
import { type Time, relativeTime } from './time.ts';

export const outputFormats = ['table', 'json', 'yaml', 'name', 'token'] as const;
export type OutputFormat = (typeof outputFormats)[number];

/** A cell of a table; null and undefined are shown as «-». */
export type Cell = string | number | boolean | Time | null | undefined;

export interface Column<Row> {
  readonly title: string;
  cell(row: Row): Cell;
  /** May be cut where a terminal is too narrow for the table: texts for people, and no id or value. */
  readonly isCut?: boolean;
}

export interface ListView<Row> {
  /** What json and yaml print: a shape of output/shapes.ts. */
  readonly value: unknown;
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  /** What `--output name` prints of each row: a slug, key or id. */
  readonly name: (row: Row) => string;
  /** The rows that `--output name` prints; all by default. */
  readonly named?: readonly Row[];
  /** The note on standard error if a table has no rows. */
  readonly whenEmpty: string;
}

export interface ObjectView {
  readonly value: unknown;
  /** The lines of the table form. */
  readonly fields: readonly (readonly [title: string, cell: Cell])[];
  /** What `--output name` prints: one line for each name. */
  readonly name: string | readonly string[];
  /** What `--output token` prints, of a command that creates a token. */
  readonly token?: string;
}

/**
 * Prints results on standard output in the form that `--output` asks for. json and yaml print the shapes of
 * output/shapes.ts. name prints a line for each result, with the word by which other commands take it. In tables and names no text from the server can move the cursor or forge a line (`shownText`).
 */
export class Printer {
  readonly #io: Io;
  readonly #format: OutputFormat;

  constructor({ io, format }: { io: Io; format: OutputFormat }) {
    this.#io = io;
    this.#format = format;
  }

  get format(): OutputFormat {
    return this.#format;
  }

  async list<Row>({ value, rows, columns, name, named = rows, whenEmpty }: ListView<Row>): Promise<void> {
    if (this.#format === 'name') this.#lines(named.map((row) => shownText(name(row))));
    else if (this.#format !== 'table') await this.#document(value);
    else if (rows.length === 0) this.#io.note(whenEmpty);
    else
      this.#table({
        titles: columns.map(({ title }) => title),
        rows: rows.map((row) => columns.map((column) => this.#shownCell(column.cell(row)))),
        cut: columns.map(({ isCut }) => isCut === true),
      });
  }

  async object({ value, fields, name, token }: ObjectView): Promise<void> {
    if (this.#format === 'token' && token !== undefined) return this.#lines([token]);
    if (this.#format === 'name') return this.#lines([name].flat().map(shownText));
    if (this.#format !== 'table') return await this.#document(value);
    const width = Math.max(...fields.map(([title]) => title.length));
    this.#lines(
      fields.map(
        ([title, cell]) =>
          `${this.#io.bold(`${title}:`)}${' '.repeat(width - title.length + 1)}${this.#shownCell(cell)}`,
      ),
    );
  }

  /** A result that is a sentence for people, on standard error: what was deleted, or stored on this machine. */
  async done({ value, sentence, name }: { value: object; sentence: string; name: string }): Promise<void> {
    if (this.#format === 'table') return this.#io.note(sentence);
    await this.object({ value, fields: [], name });
  }

  /** One of several results that come over time: json prints each as one line, and yaml as one document. */
  async streamed({ value, line, name }: { value: object; line: string; name: string }): Promise<void> {
    if (this.#format === 'json') return this.#written(`${JSON.stringify(value)}\n`);
    if (this.#format === 'yaml') {
      this.#io.write('---\n');
      return await this.#document(value);
    }
    this.#lines([shownText(this.#format === 'name' ? name : line)]);
  }

  /** A result without a table, such as a list of keys: json and yaml as they are, else lines. */
  async lines(value: unknown, lines: readonly string[]): Promise<void> {
    if (this.#format === 'json' || this.#format === 'yaml') await this.#document(value);
    else this.#lines(lines.map(shownText));
  }

  async #document(value: unknown): Promise<void> {
    if (this.#format === 'json') return this.#written(`${JSON.stringify(value, undefined, 2)}\n`);
    const { yaml } = await import('../formats/yaml-library.ts');
    // Texts in quotes alone can hold escapes.
    const forTerminal = { defaultStringType: 'QUOTE_DOUBLE', defaultKeyType: 'PLAIN', lineWidth: 0 } as const;
    this.#written(yaml.stringify(value, this.#io.isOutputTerminal ? forTerminal : { lineWidth: 0 }));
  }

  /** The document; on a terminal with escapes, which mean the same to its readers, for all that could move the cursor. */
  #written(text: string): void {
    this.#io.write(this.#io.isOutputTerminal ? withEscapes(text) : text);
  }

  #table(table: TextTable): void {
    const [head = '', ...rows] = tableLines(table, this.#io.outputWidth);
    this.#lines([this.#io.bold(head), ...rows]);
  }

  #shownCell(cell: Cell): string {
    if (cell === null || cell === undefined || cell === '') return emptyCell;
    if (typeof cell !== 'object') return shownText(String(cell));
    return shownText(this.#io.isOutputTerminal ? relativeTime(cell, new Date()) : cell.iso);
  }

  #lines(lines: readonly string[]): void {
    if (lines.length > 0) this.#io.write(`${lines.join('\n')}\n`);
  }
}

/** A document in JSON or YAML with escapes for what both let stand as it is and a terminal may act on. */
function withEscapes(text: string): string {
  return text.replaceAll(new RegExp(String.raw`[\u007F-\u009F\p{Cf}\p{Zl}\p{Zp}]`, 'gu'), escaped);
}

/** As JSON and YAML write it in quotes, as two escapes if it needs two. */
function escaped(char: string): string {
  const units = Array.from({ length: char.length }, (_, index) => char.charCodeAt(index));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}
