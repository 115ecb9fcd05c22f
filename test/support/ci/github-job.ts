import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { parse } from 'yaml';
import type { GitHubRunner } from './github-runner.ts';

type Variables = Readonly<Record<string, string>>;
/** As YAML has them. */
type Scalars = Readonly<Record<string, string | number | boolean>>;

interface Step {
  readonly name?: string;
  readonly uses?: string;
  readonly run?: string;
  readonly shell?: string;
  readonly env?: Scalars;
  readonly with?: Scalars;
}

interface Job {
  readonly 'runs-on': string;
  readonly environment?: string;
  readonly permissions?: Permissions;
  readonly env?: Variables;
  readonly steps: readonly Step[];
}

type Permissions = Readonly<Record<string, string>>;

interface Workflow {
  readonly name?: string;
  readonly on: unknown;
  readonly permissions?: Permissions;
  readonly env?: Variables;
  readonly jobs: Readonly<Record<string, Job>>;
}

interface Action {
  readonly name: string;
  readonly description: string;
  readonly inputs: Readonly<Record<string, { readonly required?: boolean; readonly default?: string }>>;
  readonly runs: { readonly using: string; readonly steps: readonly Step[] };
}

export interface JobOptions {
  /** The text of a workflow with one job. */
  readonly workflow: string;
  /** Gives JWTs, if the job has the permission. */
  readonly runner: GitHubRunner;
  /** Variables of the machine. */
  readonly variables?: Variables;
  /** Makes what a checkout brings. */
  readonly prepare?: (workspace: string) => void;
}

export interface JobEnd {
  readonly code: number;
  /** What users see of all steps: without commands of the runner, and with its masks. */
  readonly log: string;
}

// The actions that only bring files, which `prepare` does here.
const checkout = /^actions\/checkout@v\d+$/;

/**
 * Runs the job of a workflow as a runner of GitHub does: variables of three levels, permissions, shells, composite actions
 * of the repository, GITHUB_ENV, GITHUB_PATH and masks. It throws for every key that it does not know, so that a page shows
 * no workflow that this does not run.
 */
export async function runGitHubJob(options: JobOptions): Promise<JobEnd> {
  const home = mkdtempSync(join(tmpdir(), 'keyframe-job-'));
  try {
    return await new RunningJob(home, options).run();
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

class RunningJob {
  readonly #workspace: string;
  readonly #files: { readonly GITHUB_ENV: string; readonly GITHUB_PATH: string };
  readonly #options: JobOptions;
  readonly #masks: string[] = [];
  readonly #temp: string;
  #log = '';
  /** What steps have set for later ones. */
  #set: Record<string, string> = {};
  #path: string;

  constructor(home: string, options: JobOptions) {
    this.#options = options;
    this.#workspace = join(home, 'work');
    this.#temp = join(home, 'temp');
    this.#files = { GITHUB_ENV: join(home, 'env'), GITHUB_PATH: join(home, 'path') };
    for (const folder of [this.#workspace, this.#temp]) mkdirSync(folder);
    this.#path = options.variables?.['PATH'] ?? process.env['PATH'] ?? '';
    options.prepare?.(this.#workspace);
  }

  async run(): Promise<JobEnd> {
    const workflow = parse(this.#options.workflow) as Workflow;
    requireKnown(workflow, ['name', 'on', 'permissions', 'env', 'jobs']);
    const [job, ...others] = Object.values(workflow.jobs);
    if (job === undefined || others.length > 0) throw new Error('a workflow with one job is wanted');
    requireKnown(job, ['runs-on', 'environment', 'permissions', 'env', 'steps']);
    const permissions = job.permissions ?? workflow.permissions ?? {};
    const variables = {
      CI: 'true',
      GITHUB_ACTIONS: 'true',
      GITHUB_WORKSPACE: this.#workspace,
      RUNNER_TEMP: this.#temp,
      ...this.#files,
      ...(permissions['id-token'] === 'write' ? this.#options.runner.variables : {}),
    };
    const code = await this.#steps(job.steps, { variables: { ...variables, ...workflow.env, ...job.env }, inputs: {} });
    return { code, log: this.#masked(this.#log) };
  }

  async #steps(steps: readonly Step[], context: StepContext): Promise<number> {
    for (const step of steps) {
      requireKnown(step, ['name', 'uses', 'run', 'shell', 'env', 'with']);
      const env = filledAll(step.env ?? {}, context.inputs);
      const inner = { ...context, variables: { ...context.variables, ...env } };
      const code = step.uses === undefined ? await this.#run(step, inner) : await this.#use(step, inner);
      if (code !== 0) return code;
    }
    return 0;
  }

  async #use({ uses = '', with: given = {} }: Step, { variables, inputs }: StepContext): Promise<number> {
    if (checkout.test(uses)) return 0;
    if (!uses.startsWith('./')) throw new Error(`${uses} is not an action of the repository`);
    const folder = join(this.#workspace, uses);
    const action = parse(readFileSync(join(folder, 'action.yml'), 'utf8')) as Action;
    requireKnown(action, ['name', 'description', 'inputs', 'runs']);
    if (action.runs.using !== 'composite') throw new Error(`${uses} is not composite`);
    const unknown = Object.keys(given).filter((name) => action.inputs[name] === undefined);
    if (unknown.length > 0) throw new Error(`${uses} has no input ${unknown.join(', ')}`);
    const values = Object.entries(action.inputs).map(([name, { required, default: usual }]) => {
      if (required === true && given[name] === undefined) throw new Error(`${uses} needs the input ${name}`);
      return [name, filled(given[name] ?? usual ?? '', inputs)] as const;
    });
    const inner = { variables: { ...variables, GITHUB_ACTION_PATH: folder }, inputs: Object.fromEntries(values) };
    if (action.runs.steps.some(({ shell }) => shell === undefined)) throw new Error(`${uses}: a step has no shell`);
    return await this.#steps(action.runs.steps, inner);
  }

  /** With the options that GitHub gives bash: with `pipefail` only if the step names it. */
  async #run({ run = '', shell }: Step, { variables, inputs }: StepContext): Promise<number> {
    if (shell !== undefined && shell !== 'bash') throw new Error(`the shell ${shell} is not known`);
    const script = join(this.#temp, 'step.sh');
    writeFileSync(script, filled(run, inputs));
    for (const file of Object.values(this.#files)) writeFileSync(file, '');
    const flags = shell === 'bash' ? ['--noprofile', '--norc', '-e', '-o', 'pipefail'] : ['-e'];
    const env = { HOME: this.#temp, ...this.#options.variables, ...variables, ...this.#set, PATH: this.#path };
    const child = spawn('bash', [...flags, script], { cwd: this.#workspace, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let text = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (part: string) => (text += part));
    const code = await new Promise<number>((resolve, reject) => {
      child.once('error', reject).once('close', (status) => resolve(status ?? 1));
    });
    this.#read(text);
    this.#take();
    return code;
  }

  /** Obeys the commands in an output, and keeps the rest. */
  #read(text: string): void {
    for (const line of text.split('\n')) {
      const [, data] = /^::add-mask::(.*)$/.exec(line) ?? [];
      if (data === undefined) this.#log += `${line}\n`;
      else this.#addMask(data.replaceAll('%0D', '\r').replaceAll('%0A', '\n').replaceAll('%25', '%'));
    }
  }

  /** A value and each of its lines, as the runner does. */
  #addMask(value: string): void {
    this.#masks.push(value, ...value.split(/[\r\n]+/).filter((line) => line !== ''));
  }

  #masked(text: string): string {
    const byLength = this.#masks.toSorted((a, b) => b.length - a.length);
    return byLength.reduce((masked, value) => masked.replaceAll(value, '***'), text);
  }

  /** Takes what a step wrote into the files of the runner. */
  #take(): void {
    const folders = readFileSync(this.#files.GITHUB_PATH, 'utf8')
      .split('\n')
      .filter((line) => line !== '');
    this.#path = [...folders.toReversed(), this.#path].join(delimiter);
    this.#set = { ...this.#set, ...variablesIn(readFileSync(this.#files.GITHUB_ENV, 'utf8')) };
  }
}

interface StepContext {
  readonly variables: Variables;
  /** Of the action whose steps these are. */
  readonly inputs: Variables;
}

/** `NAME=value`, or `NAME<<END`, the lines of the value, and END. */
function variablesIn(text: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (let rest = text; rest !== '';) {
    const [whole, name = '', kind, value = ''] = /^([^=<\n]+)(=|<<)([^\n]*)\n/.exec(rest) ?? [];
    if (whole === undefined) throw new Error(`GITHUB_ENV has the line ${rest.split('\n')[0]}`);
    rest = rest.slice(whole.length);
    const end = kind === '=' ? undefined : rest.indexOf(`\n${value}\n`);
    found[name] = end === undefined ? value : rest.slice(0, end);
    if (end !== undefined) rest = rest.slice(end + value.length + 2);
    // GitHub refuses it: with it, each later step of Node.js would run what the value names.
    if (name === 'NODE_OPTIONS') throw new Error('GITHUB_ENV sets NODE_OPTIONS');
  }
  return found;
}

function filledAll(variables: Scalars, inputs: Variables): Variables {
  return Object.fromEntries(Object.entries(variables).map(([name, value]) => [name, filled(value, inputs)]));
}

function filled(text: string | number | boolean, inputs: Variables): string {
  return String(text).replaceAll(/\$\{\{ *(.*?) *\}\}/g, (_, expression: string) => {
    const value = inputs[expression.replace(/^inputs\./, '')];
    if (value === undefined) throw new Error(`the expression ${expression} is not known`);
    return value;
  });
}

function requireKnown(part: object, names: readonly string[]): void {
  const unknown = Object.keys(part).filter((name) => !names.includes(name));
  if (unknown.length > 0) throw new Error(`the keys ${unknown.join(', ')} are not known`);
}
