import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** One block of commands in a page of docs/, with what the page says that it prints. */
export interface DocumentedCommand {
  /** Of the page, counted from 1. */
  readonly line: number;
  readonly command: string;
  readonly answer?: { readonly language: string; readonly text: string };
}

const part = /^```(?<language>\w+)\n(?<text>.*?)^```$/gms;

/** The `sh` blocks of a page in Markdown, each with the `json` or `text` block that follows before the next one. */
export function documentedCommands(markdown: string): DocumentedCommand[] {
  const commands: {
    line: number;
    command: string;
    answer?: { language: string; text: string };
  }[] = [];
  for (const match of markdown.matchAll(part)) {
    const { language = '', text = '' } = match.groups ?? {};
    const last = commands.at(-1);
    if (language === 'sh') {
      commands.push({ line: markdown.slice(0, match.index).split('\n').length, command: text });
    } else if (last !== undefined) last.answer ??= { language, text };
  }
  return commands;
}

/** Runs the blocks of a page one after the other, as a reader would who copies them into one shell. */
export class CommandReader {
  readonly #home: string;
  readonly #env: Record<string, string>;

  /** `env` is all they see beside PATH. */
  constructor(env: Readonly<Record<string, string>>) {
    this.#home = mkdtempSync(join(tmpdir(), 'keyframe-docs-'));
    // What a script wants and a reader does not need: no progress meter, and a failure for an error that is answered.
    writeFileSync(join(this.#home, '.curlrc'), 'silent\nshow-error\nfail-with-body\nconnect-timeout = 10\n');
    this.#env = { PATH: process.env['PATH'] ?? '', HOME: this.#home, CURL_HOME: this.#home, ...env };
  }

  /** What it prints. Throws with its output if it fails where the page does not show an error. */
  async run({ command, answer }: DocumentedCommand): Promise<string> {
    // Each block is a process of its own, so that it fails alone: the next one gets the variables that it sets.
    const names = Array.from(command.matchAll(/^([A-Z]\w*)=\$\(.*\)$/gm), ([, name = '']) => name);
    const file = join(this.#home, 'variables');
    const keep = names.map((name) => `printf '%s\\0' "$${name}" >>'${file}'\n`).join('');
    const output = await this.#output(`${command}\n${keep}`, isProblem(answer?.text));
    if (names.length === 0) return output;
    const values = readFileSync(file, 'utf8').split('\0');
    rmSync(file);
    for (const [index, name] of names.entries()) {
      const value = values[index] ?? '';
      if (value === '' || value === 'null') throw new Error(`${name} has no value:\n${output}`);
      this.#env[name] = value;
    }
    return output;
  }

  [Symbol.dispose](): void {
    rmSync(this.#home, { recursive: true, force: true });
  }

  async #output(command: string, mayFail: boolean): Promise<string> {
    const { stdout, fault } = await promisify(execFile)('bash', ['--norc', '-eu', '-c', command], {
      env: this.#env,
    }).then(
      (done) => ({ stdout: done.stdout, fault: undefined }),
      (error: Error & { stdout?: string }) => ({ stdout: error.stdout ?? '', fault: error }),
    );
    if (fault !== undefined && !mayFail) throw new Error(`${fault.message}\n${stdout}`, { cause: fault });
    return stdout;
  }
}

function isProblem(text: string | undefined): boolean {
  return text?.includes('"urn:keyframe:error:') === true;
}

/** What a JSON text is made of: names and kinds, without the values that differ from run to run. */
export function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) {
    const shapes = value.map((item) => JSON.stringify(shapeOf(item)));
    return [...new Set(shapes)].sort().map((shape) => JSON.parse(shape) as unknown);
  }
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [name, writtenLater.has(name) ? 'time or null' : shapeOf(inner)]),
    );
  }
  if (typeof value === 'string') return kinds.find(([, pattern]) => pattern.test(value))?.[0] ?? 'text';
  return value === null ? null : typeof value;
}

// The server notes it some time after the use.
const writtenLater: ReadonlySet<string> = new Set(['lastUsedAt']);

const kinds: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['UUID', /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/],
  ['time', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/],
  ['personal token', /^kf_pat_/],
  ['service token', /^kf_svc_/],
];

/** Text that is printed, without the ids and numbers that differ from run to run. */
export function printedForm(text: string): string {
  return text.replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<id>').replaceAll(/\d+/g, '<number>');
}
