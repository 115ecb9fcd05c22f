import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { buildCli } from '../../scripts/build-cli.ts';
import { checkoutDirectory } from '../../scripts/checkout.ts';
import type { SecretListView } from '../../src/wire/secrets.ts';
import { type HttpClient, type TestApi, startTestApi } from './http.ts';
import { type World, createWorld } from './services.ts';

/** How a command ended. */
export interface CommandEnd {
  /** As a shell tells it. */
  readonly code: number;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CommandOptions {
  /** Standard input; none unless told. */
  readonly input?: string | Buffer;
  /** More variables; one that is undefined is not set. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

const limitMs = 30_000;
const relay = join(checkoutDirectory, 'test', 'support', 'terminal-relay.py');

/** A started API, and folders each with an environment of its own in which the built `keyframe` command runs. */
export class CliSite {
  readonly api: TestApi;
  readonly world: World;
  readonly #program: string;
  readonly #directory: string;
  #folders = 0;

  private constructor(parts: { api: TestApi; world: World; program: string }) {
    this.api = parts.api;
    this.world = parts.world;
    this.#program = parts.program;
    this.#directory = mkdtempSync(join(tmpdir(), 'keyframe-cli-'));
  }

  static async start(): Promise<CliSite> {
    const program = await buildCli();
    const api = await startTestApi();
    return new CliSite({ api, world: await createWorld(api.services), program });
  }

  /** A new environment, with a folder that is set up for it and signed in as its owner. */
  async newFolder(): Promise<CliFolder> {
    this.#folders += 1;
    const slug = `env-${this.#folders}`;
    const { organization, project } = this.world.slugs;
    const owner = this.api.client(this.world.owner.token);
    await owner.expectStatus(201, 'POST', `/environments/${organization}/${project}`, { slug });
    const path = join(this.#directory, slug);
    mkdirSync(path);
    const scope = { organization, project, environment: slug };
    writeFileSync(join(path, '.keyframe.json'), JSON.stringify(scope));
    const env = {
      PATH: process.env['PATH'] ?? '',
      HOME: this.#directory,
      KEYFRAME_URL: `http://127.0.0.1:${this.api.port}`,
      KEYFRAME_TOKEN: this.world.owner.token.reveal(),
    };
    return new CliFolder({ path, scope, env, program: this.#program, owner });
  }

  async close(): Promise<void> {
    await this.api.close();
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

interface FolderParts {
  readonly path: string;
  readonly scope: { readonly organization: string; readonly project: string; readonly environment: string };
  readonly env: Readonly<Record<string, string>>;
  readonly program: string;
  readonly owner: HttpClient;
}

/** A folder with an environment, and the command in it. */
export class CliFolder {
  readonly scope: FolderParts['scope'];
  readonly #parts: FolderParts;

  constructor(parts: FolderParts) {
    this.scope = parts.scope;
    this.#parts = parts;
  }

  /** The environment as the command names it. */
  get place(): string {
    const { organization, project, environment } = this.scope;
    return `${organization}/${project}/${environment}`;
  }

  pathOf(name: string): string {
    return join(this.#parts.path, name);
  }

  write(name: string, content: string | Buffer): void {
    writeFileSync(this.pathOf(name), content);
  }

  read(name: string): string {
    return readFileSync(this.pathOf(name), 'utf8');
  }

  /** Runs the command with pipes and waits until it has ended. */
  async run(args: readonly string[], options: CommandOptions = {}): Promise<CommandEnd> {
    const running = this.start(args, options);
    running.process.stdin?.end(options.input ?? '');
    return await running.ended;
  }

  /** As `run`, and expects that all went well; answers what it printed. */
  async ok(args: readonly string[], options: CommandOptions = {}): Promise<string> {
    const { code, stdout, stderr } = await this.run(args, options);
    if (code !== 0) throw new Error(`keyframe ${args[0] ?? ''} ended with ${code}: ${stderr}`);
    return stdout;
  }

  /** Starts the command with pipes. */
  start(args: readonly string[], options: CommandOptions = {}): RunningCommand {
    return this.#spawn(process.execPath, [this.#parts.program, ...args], options);
  }

  /** Starts the command at a terminal; all that it shows is its standard output. */
  startAtTerminal(args: readonly string[], options: CommandOptions = {}): RunningCommand {
    return this.#spawn('python3', [relay, process.execPath, this.#parts.program, ...args], options);
  }

  /** Runs the command at a terminal, where nobody types. */
  async runAtTerminal(args: readonly string[], options: CommandOptions = {}): Promise<CommandEnd> {
    return await this.startAtTerminal(args, options).ended;
  }

  /** The environment's secrets, read past the command. */
  async secrets(): Promise<Record<string, string>> {
    return Object.fromEntries((await this.list()).secrets.map(({ key, value }) => [key, value]));
  }

  async list(): Promise<SecretListView> {
    return await this.#parts.owner.expectStatus<SecretListView>(200, 'GET', `/secrets/${this.place}`);
  }

  /** Changes secrets past the command. */
  async patch(change: { set?: Record<string, string>; delete?: readonly string[] }): Promise<void> {
    await this.#parts.owner.expectStatus(200, 'PATCH', `/secrets/${this.place}`, change);
  }

  #spawn(program: string, args: readonly string[], { env = {} }: CommandOptions): RunningCommand {
    const all = Object.entries({ ...this.#parts.env, ...env });
    const variables = Object.fromEntries(all.filter(([, value]) => value !== undefined));
    return new RunningCommand(spawn(program, args, { cwd: this.#parts.path, env: variables, stdio: 'pipe' }));
  }
}

/** A command that was started. It is killed when it takes too long. */
export class RunningCommand {
  readonly process: ChildProcess;
  readonly ended: Promise<CommandEnd>;
  #stdout = '';
  #stderr = '';

  constructor(child: ChildProcess) {
    this.process = child;
    const chunks: Buffer[] = [];
    child.stdout?.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      this.#stdout += chunk.toString();
    });
    child.stderr?.on('data', (chunk: Buffer) => void (this.#stderr += chunk.toString()));
    child.stdin?.on('error', () => undefined);
    const timer = setTimeout(() => void child.kill('SIGKILL'), limitMs);
    this.ended = once(child, 'close').then(([code, signal]) => {
      clearTimeout(timer);
      return {
        code: (code as number | null) ?? -1,
        signal: signal as NodeJS.Signals | null,
        stdout: Buffer.concat(chunks).toString('utf8'),
        stderr: this.#stderr,
      };
    });
  }

  /** What it has written on standard output so far. */
  get shown(): string {
    return this.#stdout;
  }

  /** Waits until it has shown this text. */
  async shows(text: string): Promise<void> {
    const deadline = Date.now() + limitMs;
    while (!`${this.#stdout}\n${this.#stderr}`.includes(text)) {
      if (Date.now() > deadline || this.process.exitCode !== null) {
        throw new Error(`it has not shown «${text}» but:\n${this.#stdout}\n${this.#stderr}`);
      }
      await pause(5);
    }
  }

  /** Types this. */
  type(text: string): void {
    this.process.stdin?.write(text);
  }
}
