import { describe, expect, test } from '@jest/globals';
import { costLines } from '../../../tools/test-run/cost-report.ts';
import { ProcessorCost } from '../../../tools/test-run/cost.ts';
import { openProcessTable, parseStat, type ProcessStat } from '../../../tools/test-run/process-table.ts';
import { programOf } from '../../../tools/test-run/programs.ts';

const statLine =
  '4217 (a) b) 0 (c) S 12 4217 4217 0 -1 4194304 900 80 0 0 153 20 4000 7 20 0 11 0 998877 1288 555 18446744073709551615 0';

/** Processes of a test, by their numbers. A look sees what they are at that time. */
class Processes {
  readonly #stats = new Map<number, ProcessStat>();
  readonly #args = new Map<number, readonly string[]>();
  readonly read = (leftOut: ReadonlySet<number>): { pids: number[]; stats: ProcessStat[] } => {
    const pids = [...this.#stats.keys()].toSorted((a, b) => a - b);
    return { pids, stats: pids.flatMap((pid) => (leftOut.has(pid) ? [] : (this.#stats.get(pid) ?? []))) };
  };

  one(pid: number): ProcessStat | undefined {
    return this.#stats.get(pid);
  }

  args(pid: number): readonly string[] {
    return this.#args.get(pid) ?? [];
  }

  start(pid: number, parent: number, program: string): void {
    this.#stats.set(pid, { pid, parent, stamp: `${pid}/${program}`, name: program, ownMs: 0, endedChildrenMs: 0 });
    this.#args.set(pid, [`/bin/${program}`]);
  }

  use(pid: number, ownMs: number): void {
    this.#change(pid, (stat) => ({ ...stat, ownMs: stat.ownMs + ownMs }));
  }

  execute(pid: number, program: string): void {
    this.#args.set(pid, [`/bin/${program}`]);
    this.rename(pid, program);
  }

  rename(pid: number, name: string): void {
    this.#change(pid, (stat) => ({ ...stat, name }));
  }

  /** Ends a process. Its children become those of process 1, and its parent waits for it, now or later. */
  end(pid: number): () => void {
    const ended = this.#stats.get(pid);
    this.#stats.delete(pid);
    if (ended === undefined) throw new Error(`There is no process ${pid}.`);
    for (const child of this.#stats.values())
      if (child.parent === pid) this.#change(child.pid, (stat) => ({ ...stat, parent: 1 }));
    return () =>
      this.#change(ended.parent, (stat) => ({
        ...stat,
        endedChildrenMs: stat.endedChildrenMs + ended.ownMs + ended.endedChildrenMs,
      }));
  }

  #change(pid: number, change: (stat: ProcessStat) => ProcessStat): void {
    const stat = this.#stats.get(pid);
    if (stat !== undefined) this.#stats.set(pid, change(stat));
  }
}

interface Scene {
  readonly processes: Processes;
  readonly cost: ProcessorCost;
  /** What was used, as `step/program`, after one more look. */
  readonly look: () => Record<string, number>;
}

/** A run whose step `e2e` has started a worker. */
function scene(): Scene {
  const processes = new Processes();
  processes.start(100, 1, 'run');
  const cost = new ProcessorCost(processes, { pid: 100, step: 'npm test' });
  processes.start(200, 100, 'worker');
  cost.follow(200, 'e2e');
  return {
    processes,
    cost,
    look: () => {
      cost.sample();
      return Object.fromEntries(cost.rows.map(({ step, program, ms }) => [`${step}/${program}`, ms]));
    },
  };
}

describe('a line of /proc/PID/stat', () => {
  test('is read from behind the last parenthesis of the name', () => {
    expect(parseStat(statLine)).toEqual({
      pid: 4217,
      parent: 12,
      stamp: '998877',
      name: 'a) b) 0 (c',
      ownMs: 1_730,
      endedChildrenMs: 40_070,
    });
  });

  test('is not there on a system without /proc', () => {
    expect(openProcessTable('/nowhere')).toBeUndefined();
  });
});

describe('the processor time', () => {
  test('belongs to the step and program of each process', () => {
    const { processes, look } = scene();
    processes.start(300, 200, 'kube-apiserver');
    processes.use(100, 10);
    processes.use(200, 500);
    processes.use(300, 70);
    expect(look()).toEqual({ 'npm test/run': 10, 'e2e/worker': 500, 'e2e/kube-apiserver': 70 });
    processes.use(300, 30);
    expect(look()).toMatchObject({ 'e2e/kube-apiserver': 100 });
  });

  test('of a process that has other parents is not counted', () => {
    const { processes, look } = scene();
    processes.start(300, 1, 'stranger');
    processes.start(400, 300, 'stranger');
    processes.use(400, 1_000);
    expect(look()).toEqual({});
    processes.use(400, 1_000);
    expect(look()).toEqual({});
  });

  test('of a child is counted whose number is smaller than that of its parent', () => {
    const { processes, look } = scene();
    processes.start(900, 200, 'helm');
    processes.start(60, 900, 'git');
    processes.start(50, 60, 'ssh');
    processes.use(50, 40);
    expect(look()).toEqual({ 'e2e/ssh': 40 });
  });

  test('that a process used between the last look and its end belongs to it', () => {
    const { processes, look } = scene();
    processes.start(300, 200, 'helm');
    processes.use(300, 400);
    look();
    processes.use(300, 250);
    processes.end(300)();
    expect(look()).toEqual({ 'e2e/helm': 650 });
  });

  test('that a process used is counted once if its parent waits for it later', () => {
    const { processes, look } = scene();
    processes.start(300, 200, 'helm');
    processes.use(300, 400);
    look();
    const wait = processes.end(300);
    look();
    wait();
    expect(look()).toEqual({ 'e2e/helm': 400 });
    processes.start(301, 200, 'kubectl');
    processes.use(301, 30);
    processes.end(301)();
    expect(look()).toEqual({ 'e2e/helm': 400, 'e2e/children of worker': 30 });
  });

  test('of a process that no look saw belongs to the children of its parent', () => {
    const { processes, look } = scene();
    processes.start(300, 200, 'kubectl');
    processes.use(300, 120);
    processes.end(300)();
    expect(look()).toEqual({ 'e2e/children of worker': 120 });
  });

  test('of two generations that end between two looks is counted once', () => {
    const { processes, look } = scene();
    processes.start(300, 200, 'npm');
    processes.start(400, 300, 'node');
    processes.use(300, 100);
    processes.use(400, 900);
    look();
    processes.use(400, 60);
    processes.end(400)();
    processes.end(300)();
    expect(look()).toEqual({ 'e2e/npm': 160, 'e2e/node': 900 });
  });

  test('of an orphan is counted to the last look at it', () => {
    const { processes, look } = scene();
    processes.start(300, 200, 'launcher');
    processes.start(400, 300, 'etcd');
    look();
    processes.end(300)();
    processes.use(400, 80);
    expect(look()).toEqual({ 'e2e/etcd': 80 });
    processes.use(400, 20);
    expect(look()).toEqual({ 'e2e/etcd': 100 });
    processes.end(400);
    expect(look()).toEqual({ 'e2e/etcd': 100 });
  });

  test('of a step that has ended belongs to it', () => {
    const { processes, look } = scene();
    processes.use(200, 300);
    processes.end(200)();
    expect(look()).toEqual({ 'e2e/worker': 300 });
  });

  test('belongs to the program that a process executes at that time', () => {
    const { processes, look } = scene();
    processes.start(300, 200, 'nice');
    processes.use(300, 10);
    look();
    processes.execute(300, 'helm');
    processes.use(300, 90);
    expect(look()).toEqual({ 'e2e/nice': 10, 'e2e/helm': 90 });
  });

  test('belongs to the program whose command line appears a moment after its name', () => {
    const { processes, look } = scene();
    processes.start(300, 200, 'env');
    processes.use(300, 10);
    look();
    processes.rename(300, 'helm');
    look();
    processes.execute(300, 'helm');
    processes.use(300, 90);
    expect(look()).toEqual({ 'e2e/env': 10, 'e2e/helm': 90 });
  });

  test('of a later process with the same number is another one’s', () => {
    const { processes, look } = scene();
    processes.start(300, 200, 'helm');
    processes.use(300, 500);
    look();
    processes.end(300)();
    processes.start(300, 200, 'kubectl');
    processes.use(300, 70);
    expect(look()).toEqual({ 'e2e/helm': 500, 'e2e/kubectl': 70 });
  });
});

describe('the name of a program', () => {
  test.each([
    [['/usr/bin/node', '--experimental-vm-modules', '/x/node_modules/jest/bin/jest.js', '--json'], 'Jest'],
    [['/usr/bin/node', '/x/node_modules/jest-worker/build/workers/processChild.js'], 'Jest worker'],
    [['node', '--import', '/x/preload.mjs', '/x/dist/server/main.js', 'controller'], 'keyframe-server controller'],
    [['/app/bin/node', '/x/src/main.ts', 'api'], 'keyframe-server api'],
    [['/app/bin/node', '/app/bin/keyframe-server', 'all'], 'keyframe-server all'],
    [['node', '/x/dist/keyframe.cjs', 'whoami'], 'keyframe'],
    [['node', '/x/node_modules/.bin/prettier', '--check', '.'], 'prettier'],
    [['node', '/x/node_modules/@scope/tool/main.js'], '@scope/tool'],
    [['node', '/x/tools/generate/main.ts', '--check'], 'tools/generate/main.ts'],
    [['node', '-e', 'process.exit()'], 'node'],
    [['node'], 'node'],
    [['postgres: app keyframe 127.0.0.1(4012) idle'], 'PostgreSQL'],
    [['/opt/pg/bin/postgres', '-D', '/x'], 'PostgreSQL'],
    [['/opt/chromium/chrome', '--type=renderer'], 'Chromium'],
    [['/cache/venv/bin/python3.12', '/cache/venv/bin/schemathesis'], 'Python'],
    [['/cache/bin/kube-apiserver-0123456789abcdef', '--etcd-servers=x'], 'kube-apiserver'],
    [['/usr/sbin/runc', 'init'], 'runc'],
  ])('of %j is %s', (args, expected) => {
    expect(programOf(args)).toBe(expected);
  });
});

describe('the lines about processor time', () => {
  const rows = [
    { step: 'lint', program: 'oxlint', ms: 9_000 },
    { step: 'e2e', program: 'etcd', ms: 20_000 },
    { step: 'e2e', program: 'Jest worker', ms: 60_000 },
    { step: 'e2e', program: 'sh', ms: 400 },
    { step: 'e2e', program: 'git', ms: 600 },
  ];
  const report = { rows, wallMs: 45_000, measuringMs: 90 };

  test('have the total', () => {
    expect(costLines(report, false)).toEqual(['Processor time: 90.0 s in 45.0 s, 2.0 cores on average.', '']);
  });

  test('have a table of steps and programs if it is wanted', () => {
    expect(costLines(report, true)).toEqual([
      'Processor time by step and program:',
      '     81.0 s  e2e',
      '     60.0 s    Jest worker',
      '     20.0 s    etcd',
      '      1.0 s    others',
      '      9.0 s  lint',
      '      9.0 s    oxlint',
      '     90.0 s  all steps',
      '     60.0 s    Jest worker',
      '     20.0 s    etcd',
      '      9.0 s    oxlint',
      '      1.0 s    others',
      '',
      'Processor time: 90.0 s in 45.0 s, 2.0 cores on average. 0.2 % of a core measured it.',
      '',
    ]);
  });

  test('give the reason if nothing was measured', () => {
    expect(costLines(undefined, true)).toEqual(['Processor time: not measured, because this system has no /proc.', '']);
  });
});
