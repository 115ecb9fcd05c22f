import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import configurationOfJest from '../../../jest.config.ts';
import { checkoutDirectory } from '../../../tools/checkout.ts';
import { circusSymbols } from '../../support/runner/circus-symbols.ts';

/** The runner of test/support/runner, on files that are written here. Each run is a Jest in a process of its own. */

// The order of the names is the order of the run.
const files: Readonly<Record<string, string>> = {
  'a-failing': `
    test('fails', () => {
      const value: number = 2;
      expect(value).toBe(3);
    });
    test('passes', () => undefined);`,
  'b-unloadable': `
    import { missing } from './no-such-module.ts';
    test('never runs', () => missing());`,
  'c-unhandled-rejection': `
    test('leaves a rejection', async () => {
      void Promise.reject(new Error('nothing handles this'));
      await new Promise((resolve) => setTimeout(resolve, 10));
    });`,
  'd-endless': `
    jest.setTimeout(50);
    test('never ends', () => new Promise(() => undefined));`,
  'e-untidy': `
    import { count } from './shared.ts';
    process.env.HOME = '/changed/while/loading';
    test('changes the process', () => {
      count();
      process.env.KEYFRAME_ADDED = 'added';
      delete process.env.PATH;
      globalThis.fetch = () => 'changed';
      delete globalThis.structuredClone;
      process.chdir('/');
      process.exitCode = 3;
      process.on('SIGUSR2', () => undefined);
      process.removeAllListeners('SIGHUP');
      Object.defineProperty(process, 'platform', { value: 'changed' });
      jest.useFakeTimers({ now: 0 });
      jest.spyOn(Math, 'random').mockReturnValue(7);
      console.log('printed by the untidy file');
    });`,
  'f-next': `
    import timers from 'node:timers';
    import { count } from './shared.ts';
    const { PATH, HOME, KEYFRAME_ADDED } = process.env;
    test('sees the process as it was', () => {
      expect({ path: PATH !== undefined, home: HOME !== '/changed/while/loading', KEYFRAME_ADDED }).toEqual({ path: true, home: true });
      expect({ fetch: String(fetch).includes('changed'), clone: typeof structuredClone }).toEqual({ fetch: false, clone: 'function' });
      expect({ directory: process.cwd() !== '/', exitCode: process.exitCode }).toEqual({ directory: true });
      expect({ added: process.listenerCount('SIGUSR2'), removed: process.listenerCount('SIGHUP') }).toEqual({ added: 0, removed: 1 });
      expect(process.platform).not.toBe('changed');
    });
    test('sees the real time', async () => {
      expect(Date.now()).toBeGreaterThan(1e12);
      await new Promise((resolve) => setTimeout(resolve, 1));
      await new Promise((resolve) => timers.setTimeout(resolve, 1));
    });
    test('sees what a module added when it loaded', () => expect('ofModule' in globalThis).toBe(true));
    test('sees no spies', () => expect(Math.random()).toBeLessThan(1));
    test('shares its modules with the file before', () => expect(count()).toBe(2));
    test('has the time limit of the configuration', () => new Promise((resolve) => setTimeout(resolve, 100)));
    test('cannot mock modules', () => expect(() => jest.mock('./shared.ts')).toThrow('Pass a fake'));`,
  'g-table': `
    describe('a table', () => {
      test.each([1, 2])('has %i', (n) => expect(n).toBeGreaterThan(0));
      test('prints', () => console.log('printed by the table'));
    });`,
  'h-only': `
    test.only('runs', () => undefined);
    test('does not run', () => { throw new Error('ran'); });`,
};

const header = `import { describe, expect, jest, test } from '@jest/globals';\n`;

// The configuration of the unit suite, for the files of another folder.
const configuration = `
  import config from '${join(checkoutDirectory, 'jest.config.ts')}';
  const { projects: [unit], ...rest } = config;
  const here = (path) => path.replace('<rootDir>', '${checkoutDirectory}');
  export default {
    ...rest,
    ...unit,
    testMatch: ['<rootDir>/*.test.ts'],
    testSequencer: '<rootDir>/sequencer.mjs',
    testRunner: here(unit.testRunner),
    testEnvironment: here(unit.testEnvironment),
  };`;

// Jest's usual order goes by size and duration.
const sequencer = `
  import SuiteSequencer from '${join(checkoutDirectory, 'test/support/runner/suite-sequencer.ts')}';
  export default class Sequencer extends SuiteSequencer {
    sort(tests) {
      const byName = tests.toSorted((a, b) => (a.path < b.path ? -1 : 1));
      return process.env.KEYFRAME_TEST_SHUFFLE === undefined ? byName : super.sort(byName);
    }
  }`;

interface FileResult {
  readonly name: string;
  readonly status: string;
  readonly message: string;
  readonly assertionResults: readonly { readonly title: string; readonly status: string }[];
}

interface Run {
  readonly output: string;
  readonly results: readonly FileResult[];
}

const folder = mkdtempSync(join(tmpdir(), 'keyframe-runner-'));
afterAll(() => rmSync(folder, { recursive: true }));

// Something to remove: no signal is sent.
const listening = 'data:text/javascript,process.on("SIGHUP",()=>{})';

async function runFiles(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Run> {
  const report = join(folder, 'report.json');
  const node = ['--import', listening, join(checkoutDirectory, 'node_modules/jest/bin/jest.js')];
  const jest = ['--config', join(folder, 'jest.config.mjs'), '--json', '--outputFile', report, ...args];
  const { KEYFRAME_TEST_ISOLATED: _isolated, KEYFRAME_TEST_SHUFFLE: _shuffle, ...inherited } = process.env;
  const output = await new Promise<string>((resolve) => {
    // Without colors, which FORCE_COLOR and CI would bring in.
    const options = { cwd: folder, env: { ...inherited, FORCE_COLOR: '0', NO_COLOR: '1', ...env }, timeout: 120_000 };
    execFile(process.execPath, [...node, ...jest], options, (_error, stdout, stderr) => resolve(stdout + stderr));
  });
  const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as { testResults: FileResult[] };
  return { output, results: testResults };
}

const nameOf = ({ name }: FileResult): string => basename(name, '.test.ts');
const statusesOf = (result: FileResult | undefined): Record<string, string> =>
  Object.fromEntries((result?.assertionResults ?? []).map(({ title, status }) => [title, status]));

let run: Run;
beforeAll(async () => {
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(folder, 'jest.config.mjs'), configuration);
  writeFileSync(join(folder, 'sequencer.mjs'), sequencer);
  writeFileSync(
    join(folder, 'shared.ts'),
    'globalThis.ofModule = true;\nlet n = 0;\nexport const count = (): number => (n += 1);\n',
  );
  for (const [name, source] of Object.entries(files)) writeFileSync(join(folder, `${name}.test.ts`), header + source);
  run = await runFiles(['--runInBand']);
});

const resultOf = (name: string): FileResult | undefined => run.results.find((result) => nameOf(result) === name);

describe('the runner', () => {
  test('runs every file in the order of the sequencer', () => {
    expect(run.results.map(nameOf)).toEqual(Object.keys(files));
  });

  test('shows where an assertion failed', () => {
    const failing = resultOf('a-failing');
    expect(statusesOf(failing)).toEqual({ fails: 'failed', passes: 'passed' });
    expect(failing?.message).toMatch(/> 5 \|\s+expect\(value\)\.toBe\(3\);/);
    expect(failing?.message).toContain('(a-failing.test.ts:5:21)');
  });

  test('reports a file that does not load as failed', () => {
    const unloadable = resultOf('b-unloadable');
    expect({ status: unloadable?.status, tests: statusesOf(unloadable) }).toEqual({ status: 'failed', tests: {} });
    expect(unloadable?.message).toContain(`Cannot find module '${join(folder, 'no-such-module.ts')}'`);
    expect(unloadable?.message).not.toContain('run-file.ts');
  });

  test('fails a file that leaves a rejection', () => {
    expect(resultOf('c-unhandled-rejection')).toMatchObject({
      status: 'failed',
      message: expect.stringContaining('nothing handles this'),
    });
  });

  test('ends a test that reaches its time limit, and shows the test', () => {
    const endless = resultOf('d-endless');
    expect(endless?.message).toContain('Exceeded timeout of 50 ms');
    expect(endless?.message).toMatch(/> 4 \|\s+test\('never ends'/);
  });

  test('puts back what a file changed', () => {
    expect(statusesOf(resultOf('e-untidy'))).toEqual({ 'changes the process': 'passed' });
    const next = resultOf('f-next');
    expect(next?.message).toBe('');
    expect(new Set(Object.values(statusesOf(next)))).toEqual(new Set(['passed']));
  });

  test('shows output below the file and the line that printed it', () => {
    const [, untidy] = /PASS unit \.\/e-untidy\.test\.ts([^]*?)(?:PASS|FAIL) /.exec(run.output) ?? [];
    expect(untidy).toContain('printed by the untidy file');
    expect(untidy).toMatch(/at .*e-untidy\.test\.ts:18:15/);
    expect(untidy).not.toContain('printed by the table');
  });

  test('knows tables and focused tests', () => {
    expect(statusesOf(resultOf('g-table'))).toEqual({ 'has 1': 'passed', 'has 2': 'passed', prints: 'passed' });
    expect(statusesOf(resultOf('h-only'))).toEqual({ runs: 'passed', 'does not run': 'pending' });
  });

  test('runs the tests of a name alone', async () => {
    const { results } = await runFiles(['g-table', '-t', 'has 2']);
    expect(statusesOf(results[0])).toEqual({ 'has 1': 'pending', 'has 2': 'passed', prints: 'pending' });
  });
});

describe('with variables', () => {
  let isolated: Run;
  let shuffled: Run;
  beforeAll(async () => {
    isolated = await runFiles(['--maxWorkers=1'], { KEYFRAME_TEST_ISOLATED: '1', KEYFRAME_TEST_SHUFFLE: '5' });
    shuffled = await runFiles(['--runInBand'], { KEYFRAME_TEST_SHUFFLE: '5' });
  });

  test('isolated files share no module', () => {
    const notPassed = ({ results }: Run): string[] => {
      const next = results.find((result) => nameOf(result) === 'f-next');
      const statuses = Object.entries(statusesOf(next));
      return statuses.filter(([, status]) => status !== 'passed').map(([title]) => title);
    };
    expect(notPassed(shuffled)).toEqual([]);
    expect(notPassed(isolated)).toEqual(['shares its modules with the file before']);
  });

  test('a seed gives the order of files and tests, and is printed', () => {
    expect(shuffled.output).toContain('KEYFRAME_TEST_SHUFFLE=5');
    const orderOf = ({ results }: Run): string[][] =>
      results.map((result) => [nameOf(result), ...Object.keys(statusesOf(result))]);
    expect(orderOf(isolated)).toEqual(orderOf(shuffled));
    expect(orderOf(shuffled).map(([name]) => name)).not.toEqual(Object.keys(files));
    expect(orderOf(shuffled).find(([name]) => name === 'f-next')).not.toEqual([
      'f-next',
      ...Object.keys(statusesOf(resultOf('f-next'))),
    ]);
  });
});

// The runner uses what Jest does not document. If one of these fails with a new Jest, see the comments of run-file.ts.
describe("Jest's interfaces", () => {
  const load = createRequire(import.meta.url);
  const circusFolder = join(load.resolve('jest-circus'), '..');
  const runner = readFileSync(join(circusFolder, 'runner.js'), 'utf8');
  const framework = readFileSync(join(circusFolder, 'jestAdapterInit.js'), 'utf8');

  test('are those of one exact version', () => {
    const { devDependencies } = load('../../../package.json') as { devDependencies: Record<string, string> };
    const versions = Object.entries(devDependencies).filter(([name]) => /^(?:@jest\/|jest(?:-|$))/.test(name));
    expect(Object.fromEntries(versions)).toEqual({
      '@jest/environment': '30.5.2',
      '@jest/fake-timers': '30.5.2',
      '@jest/globals': '30.5.2',
      '@jest/test-sequencer': '30.5.2',
      jest: '30.5.2',
      'jest-circus': '30.5.2',
      'jest-mock': '30.5.2',
    });
  });

  test.each([
    ['circus loads its framework', 'runtime.requireInternalModule(FRAMEWORK_INITIALIZER)'],
    ['circus asks how a file is loaded', 'runtime.unstable_shouldLoadAsEsm(testPath)'],
    ['circus loads the test file', 'await runtime.unstable_importModule(testPath)'],
    ['circus provides the globals of a file', 'setGlobalsForRuntime: runtime.setGlobalsForRuntime.bind(runtime)'],
  ])('%s as the runner expects', (_what, call) => {
    expect(runner).toContain(call);
  });

  test('circus keeps its state under the symbols that the runner removes', () => {
    const [, types = ''] = framework.split('"./src/types.ts"\n');
    const symbols = types.split('/***/')[0]?.matchAll(/Symbol(?:\.for)?\('(\w+)'\)/g) ?? [];
    expect(new Set([...symbols].map(([, name]) => name))).toEqual(circusSymbols);
  });

  test('every project has the runner', () => {
    const { projects = [] } = configurationOfJest;
    const common = {
      testRunner: '<rootDir>/test/support/runner/run-file.ts',
      testEnvironment: '<rootDir>/test/support/runner/environment.ts',
    };
    expect(projects.length).toBeGreaterThan(6);
    expect(projects).toEqual(projects.map(() => expect.objectContaining(common)));
  });
});
