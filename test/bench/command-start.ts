import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildCli } from '../../tools/build/cli.ts';
import { writeFolderFile } from '../../src/cli/settings/folder-file.ts';
import { TrustedFolders } from '../../src/cli/settings/trusted-folders.ts';
import { type BenchApi, benchEnvironment, startBenchApi } from './bench-api.ts';
import { timed } from './rounds.ts';
import { percentile } from './statistics.ts';

const rounds = 15;
const runsPerRound = 10;
const aim = 1.6;
/** What the kernel counts processor time in. */
const tickMs = 10;

/** Milliseconds of one run: on the clock, and of processors' time (NaN where the kernel does not report it). */
interface Figures {
  readonly wallMs: number;
  readonly cpuMs: number;
}

type Contender = () => Promise<void>;

/**
 * `keyframe get` from its start to its end, beside the floor, a node that does nothing and the request that the command
 * makes, sent by a process that runs already; and beside the least program that makes that request.
 */
export async function commandStart(): Promise<void> {
  await using resources = new AsyncDisposableStack();
  const contenders = await prepare(resources);
  const samples = new Map([...contenders.keys()].map((name) => [name, [] as Figures[]]));
  for (const contender of contenders.values()) await measure(contender);
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, contender] of contenders) samples.get(name)?.push(await measure(contender));
  }
  report(samples);
}

async function prepare(resources: AsyncDisposableStack): Promise<ReadonlyMap<string, Contender>> {
  const program = await buildCli();
  const api = await startBenchApi(resources);
  const environment = await benchEnvironment(api.admin, 20);
  const { token } = await environment.createToken();
  const folder = mkdtempSync(join(tmpdir(), 'keyframe-bench-'));
  resources.defer(() => rmSync(folder, { recursive: true, force: true }));
  const { organization, project, name } = environment.ref;
  const { path, text } = writeFolderFile(folder, { organization, project, environment: name });
  new TrustedFolders(join(folder, '.config', 'keyframe', 'trusted-folders.json')).trust(path, text);
  const key = 'KEY_00001';
  const url = `${api.url}/api/v1${environment.path}/${key}`;
  const value = (await api.admin.call<{ value: string }>('GET', `${environment.path}/${key}`)).value;
  const run = (args: readonly string[]): string => runNode(args, { folder, api, token });
  const script = `require('node:http').get(${JSON.stringify(url)}, {
    headers: { authorization: 'Bearer ' + process.env.KEYFRAME_TOKEN },
  }, (response) => response.pipe(process.stdout))`;
  return new Map<string, Contender>([
    ['node -e 0', async () => void run(['-e', '0'])],
    ['the request', () => ask(url, token)],
    ['node -e "http.get(…)"', async () => expectValue(run(['-e', script]), value)],
    ['keyframe get', async () => expectValue(run([program, 'get', key]), value)],
  ]);
}

interface Setting {
  readonly folder: string;
  readonly api: BenchApi;
  readonly token: string;
}

/** Runs node in the folder and answers its output. */
function runNode(args: readonly string[], { folder, api, token }: Setting): string {
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: folder,
    KEYFRAME_URL: api.url,
    KEYFRAME_TOKEN: token,
  };
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, env, encoding: 'utf8' });
  if (status !== 0) throw new Error(`node ended with ${String(status)}: ${stderr}`);
  return stdout;
}

function expectValue(output: string, value: string): void {
  if (!output.includes(value)) throw new Error('a program did not print the value');
}

/** The command's request, over a connection of its own as the command has to make one. */
function ask(url: string, token: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const agent = new Agent({ keepAlive: false });
    get(url, { agent, headers: { authorization: `Bearer ${token}` } }, (response) => {
      response.resume();
      response.once('end', resolve);
      response.once('error', reject);
    }).once('error', reject);
  });
}

async function measure(contender: Contender): Promise<Figures> {
  const cpuBefore = cpuMs();
  const wallMs = await timed(async () => {
    for (let run = 0; run < runsPerRound; run += 1) await contender();
  });
  return { wallMs: wallMs / runsPerRound, cpuMs: (cpuMs() - cpuBefore) / runsPerRound };
}

/** Processor time that the processes which this one started and which have ended had so far, and its own. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return childrenCpuMs() + (user + system) / 1000;
}

function childrenCpuMs(): number {
  if (process.platform !== 'linux') return Number.NaN;
  // proc_pid_stat(5): cutime and cstime are the 16th and 17th field, the 2nd ends with the last bracket.
  const fields = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return (Number(fields[13]) + Number(fields[14])) * tickMs;
}

function report(samples: ReadonlyMap<string, readonly Figures[]>): void {
  const of = (name: string, pick: (figures: Figures) => number): number[] => (samples.get(name) ?? []).map(pick);
  const floorOf = (pick: (figures: Figures) => number): number[] => {
    const requests = of('the request', pick);
    return of('node -e 0', pick).map((figure, round) => figure + (requests[round] ?? Number.NaN));
  };
  const ratio = (name: string, pick: (figures: Figures) => number): number => {
    const floor = floorOf(pick);
    const ratios = of(name, pick).map((figure, round) => figure / (floor[round] ?? Number.NaN));
    return percentile(ratios, 0.5);
  };
  const wall = (figures: Figures): number => figures.wallMs;
  const cpu = (figures: Figures): number => figures.cpuMs;
  console.log(`\nThe start of the command (medians of ${rounds} interleaved rounds of ${runsPerRound} runs)`);
  console.log(
    `${''.padEnd(26)}${['wall', 'CPU', 'wall/floor', 'CPU/floor'].map((head) => head.padStart(12)).join('')}`,
  );
  for (const name of samples.keys()) {
    const times = [wall, cpu].map((pick) => `${percentile(of(name, pick), 0.5).toFixed(1)} ms`);
    const ratios = [wall, cpu].map((pick) => ratio(name, pick).toFixed(2));
    console.log(`${name.padEnd(26)}${[...times, ...ratios].map((cell) => cell.padStart(12)).join('')}`);
  }
  const isMet = ratio('keyframe get', wall) <= aim;
  console.log(`aim: keyframe get ≤ ${aim} times node -e 0 and the request${isMet ? '' : '  MISSED'}`);
}
