import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { buildCli } from '../../scripts/build-cli.ts';

/** How a run of the command ended. */
export interface CliRun {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CliRunOptions {
  readonly input?: string | Uint8Array;
  /** Besides those of the runner. */
  readonly env?: Readonly<Record<string, string>>;
  /** Below the runner's folder. */
  readonly folder?: string;
}

export interface TerminalRun {
  /** What stood on the terminal, with `\r\n` at the end of its lines. */
  readonly shown: string;
  readonly exitCode: number | null;
}

export interface CliRunnerOptions {
  /** KEYFRAME_URL and KEYFRAME_TOKEN of each run; absent means unset. */
  readonly url?: string;
  readonly token?: { reveal(): string };
}

const terminalScript = new URL('terminal.py', import.meta.url).pathname;

/** Runs the built `keyframe` command as processes, in a folder and with settings of their own. */
export class CliRunner {
  /** The present folder of the runs. */
  readonly folder: string;
  /** Where the user's file lies. */
  readonly userFile: string;
  readonly #program: string;
  readonly #env: Readonly<Record<string, string>>;
  readonly #home: string;

  private constructor(program: string, { url, token }: CliRunnerOptions) {
    this.#program = program;
    this.#home = mkdtempSync(join(tmpdir(), 'keyframe-cli-'));
    this.folder = join(this.#home, 'work');
    this.userFile = join(this.#home, 'config', 'keyframe', 'config.json');
    mkdirSync(this.folder);
    const bin = join(this.#home, 'bin');
    mkdirSync(bin);
    symlinkSync(program, join(bin, 'keyframe'));
    this.#env = {
      HOME: this.#home,
      XDG_CONFIG_HOME: join(this.#home, 'config'),
      PATH: [bin, dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter),
      TERM: 'xterm',
      ...(url === undefined ? {} : { KEYFRAME_URL: url }),
      ...(token === undefined ? {} : { KEYFRAME_TOKEN: token.reveal() }),
    };
  }

  /** Builds the command if need be. */
  static async create(options: CliRunnerOptions = {}): Promise<CliRunner> {
    return new CliRunner(await buildCli(), options);
  }

  /** Runs it with pipes for its three streams. */
  async run(args: readonly string[], options: CliRunOptions = {}): Promise<CliRun> {
    return await this.#spawn(process.execPath, [this.#program, ...args], options);
  }

  /** Runs a script of bash, which finds the command as `keyframe`. */
  async bash(script: string, options: CliRunOptions = {}): Promise<CliRun> {
    return await this.#spawn('bash', ['-c', script], options);
  }

  /** Runs it, expects exit code 0, and answers what it wrote on standard output. */
  async output(args: readonly string[], options: CliRunOptions = {}): Promise<string> {
    const run = await this.run(args, options);
    if (run.exitCode !== 0) throw new Error(`keyframe ${args.join(' ')} ended with ${run.exitCode}: ${run.stderr}`);
    return run.stdout;
  }

  /** As `output` with --output json, parsed. */
  async json<Answer = unknown>(args: readonly string[], options: CliRunOptions = {}): Promise<Answer> {
    const [first = '', ...rest] = args;
    return JSON.parse(await this.output([first, ...rest, '--output', 'json'], options)) as Answer;
  }

  /** Runs it on a terminal where each text of `script`, once it is shown, is answered by typing the other. */
  async onTerminal(
    args: readonly string[],
    script: readonly (readonly [shown: string, typed: string])[] = [],
    options: CliRunOptions = {},
  ): Promise<TerminalRun> {
    const command = [process.execPath, this.#program, ...args];
    const run = await this.#spawn('python3', [terminalScript, JSON.stringify(script), ...command], options);
    if (run.stderr !== '') throw new Error(`the terminal failed: ${run.stderr}`);
    return { shown: run.stdout, exitCode: run.exitCode };
  }

  remove(): void {
    rmSync(this.#home, { recursive: true, force: true });
  }

  #spawn(program: string, args: readonly string[], { input = '', env, folder = '' }: CliRunOptions): Promise<CliRun> {
    const child = spawn(program, args, { cwd: join(this.folder, folder), env: { ...this.#env, ...env } });
    const [stdout, stderr]: [Buffer[], Buffer[]] = [[], []];
    child.stdout.on('data', (chunk: Buffer) => void stdout.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => void stderr.push(chunk));
    // A command that reads no input may be gone before it is written.
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
    return new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (exitCode, signal) => {
        resolve({
          exitCode,
          signal,
          stdout: Buffer.concat(stdout).toString('utf8'),
          stderr: Buffer.concat(stderr).toString('utf8'),
        });
      });
    });
  }
}
