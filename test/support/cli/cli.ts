import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { buildCli } from '../../../tools/build/cli.ts';
import { TrustedFolders } from '../../../src/cli/settings/trusted-folders.ts';
import { type CommandEnd, RunningCommand } from './running-command.ts';

export interface CommandOptions {
  /** Standard input; none by default. */
  readonly input?: string | Uint8Array;
  /** Besides those of the runner; one that is undefined is not set. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Below the runner's folder. */
  readonly folder?: string;
  /** When it is killed. */
  readonly limitMs?: number;
}

export interface TerminalRun {
  /** What stood on the terminal, with `\r\n` at the end of its lines. */
  readonly shown: string;
  readonly code: number | null;
}

export interface CliRunnerOptions {
  /** KEYFRAME_URL and KEYFRAME_TOKEN of each run; absent means unset. */
  readonly url?: string;
  readonly token?: { reveal(): string };
  /** The Node.js that runs it; by default the one of the tests. */
  readonly node?: string | undefined;
}

const terminal = new URL('terminal.py', import.meta.url).pathname;

/** Runs the built `keyframe` command as processes, in a folder and with settings of their own. */
export class CliRunner {
  /** The present folder of the runs. */
  readonly folder: string;
  /** Where the user's file lies. */
  readonly userFile: string;
  readonly #program: string;
  readonly #node: string;
  readonly #env: Readonly<Record<string, string>>;
  readonly #home: string;

  /** @param program the built command, as `buildCli` answers it */
  constructor(program: string, { url, token, node = process.execPath }: CliRunnerOptions) {
    this.#program = program;
    this.#node = node;
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
      PATH: [bin, dirname(node), process.env['PATH'] ?? ''].join(delimiter),
      TERM: 'xterm',
      ...(url === undefined ? {} : { KEYFRAME_URL: url }),
      ...(token === undefined ? {} : { KEYFRAME_TOKEN: token.reveal() }),
    };
  }

  /** Builds the command if need be. */
  static async create(options: CliRunnerOptions = {}): Promise<CliRunner> {
    return new CliRunner(await buildCli(), options);
  }

  /** Runs it with pipes for its three streams and waits until it has ended. */
  async run(args: readonly string[], options: CommandOptions = {}): Promise<CommandEnd> {
    return await finish(this.start(args, options), options);
  }

  /** Runs it, expects exit code 0, and answers what it wrote on standard output. */
  async output(args: readonly string[], options: CommandOptions = {}): Promise<string> {
    const { code, stdout, stderr } = await this.run(args, options);
    if (code !== 0) throw new Error(`keyframe ${args.join(' ')} ended with ${code}: ${stderr}`);
    return stdout;
  }

  /** As `output` with --output json, parsed. */
  async json<Answer = unknown>(args: readonly string[], options: CommandOptions = {}): Promise<Answer> {
    const [first = '', ...rest] = args;
    return JSON.parse(await this.output([first, ...rest, '--output', 'json'], options)) as Answer;
  }

  /** Runs a script of bash, which finds the command as `keyframe`. */
  async bash(script: string, options: CommandOptions = {}): Promise<CommandEnd> {
    return await finish(this.#spawn(['bash', '-c', script], options), options);
  }

  /** Runs it at a terminal where each text of `script`, once it is shown, is answered by typing the other. */
  async onTerminal(
    args: readonly string[],
    script: readonly (readonly [shown: string, typed: string])[] = [],
    options: CommandOptions = {},
  ): Promise<TerminalRun> {
    const running = this.startOnTerminal(args, options);
    for (const [shown, typed] of script) {
      await running.shows(shown);
      running.type(typed);
    }
    const { code, stdout, stderr } = await running.ended;
    if (stderr !== '') throw new Error(`the terminal failed: ${stderr}`);
    return { shown: stdout, code };
  }

  /** Starts it with pipes for its three streams. */
  start(args: readonly string[], options: CommandOptions = {}): RunningCommand {
    return this.#spawn([this.#node, this.#program, ...args], options);
  }

  /** Starts it at a terminal; all that it shows is on its standard output. */
  startOnTerminal(args: readonly string[], options: CommandOptions = {}): RunningCommand {
    return this.#spawn(['python3', terminal, this.#node, this.#program, ...args], options);
  }

  /** Starts a script of bash at a terminal. */
  startBashOnTerminal(script: string, options: CommandOptions = {}): RunningCommand {
    return this.#spawn(['python3', terminal, 'bash', '-c', script], options);
  }

  /** Trusts a folder file with this text, as `keyframe trust` does. */
  trust(path: string, text: string): void {
    new TrustedFolders(join(dirname(this.userFile), 'trusted-folders.json')).trust(path, text);
  }

  /** Removes its folder, and what the command has stored for its user. */
  remove(): void {
    rmSync(this.#home, { recursive: true, force: true });
  }

  #spawn([program = '', ...args]: readonly string[], options: CommandOptions): RunningCommand {
    const { env, folder = '', limitMs } = options;
    const cwd = join(this.folder, folder);
    return new RunningCommand(spawn(program, args, { cwd, env: { ...this.#env, ...env }, stdio: 'pipe' }), limitMs);
  }
}

async function finish(running: RunningCommand, { input = '' }: CommandOptions): Promise<CommandEnd> {
  running.process.stdin.end(input);
  return await running.ended;
}
