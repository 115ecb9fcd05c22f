import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** One block of commands in a page of docs/, with what the page says that it prints. */
export interface DocumentedCommand {
  /** Of the page, counted from 1. */
  readonly line: number;
  readonly command: string;
  readonly answer?: { readonly language: string; readonly text: string };
  /** Variable → field of the answer, from a comment `<!-- keep: SNAPSHOT_ID=id -->` below the block: for the blocks that follow. */
  readonly kept: Readonly<Record<string, string>>;
}

const part = /^```(?<language>\w+)\n(?<text>.*?)^```$|^<!-- keep: (?<kept>.*?) -->$/gms;

/** The `sh` blocks of a page in Markdown, each with the `json` or `text` block that follows before the next one. */
export function documentedCommands(markdown: string): DocumentedCommand[] {
  const commands: {
    line: number;
    command: string;
    answer?: { language: string; text: string };
    kept: Record<string, string>;
  }[] = [];
  for (const match of markdown.matchAll(part)) {
    const { language = '', text = '', kept } = match.groups ?? {};
    const last = commands.at(-1);
    if (language === 'sh') {
      commands.push({ line: markdown.slice(0, match.index).split('\n').length, command: text, kept: {} });
    } else if (kept !== undefined && last !== undefined) {
      last.kept = Object.fromEntries(kept.split(' ').map((pair) => pair.split('=') as [string, string]));
    } else if (last !== undefined) last.answer ??= { language, text };
  }
  return commands;
}

/** Runs the blocks of a page one after the other, as a reader would who copies them. */
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
  async run({ command, answer, kept }: DocumentedCommand): Promise<string> {
    const output = await this.#output(command, isProblem(answer?.text));
    for (const [variable, field] of Object.entries(kept)) {
      const value = (JSON.parse(output) as Record<string, unknown>)[field];
      if (typeof value !== 'string') throw new Error(`the answer has no ${field}:\n${output}`);
      this.#env[variable] = value;
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
