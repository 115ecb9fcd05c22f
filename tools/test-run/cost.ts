import { openProcessTable, type ProcessStat, type ProcessTable } from './process-table.ts';
import { programOf } from './programs.ts';

/** The processor time of a program in a step. */
export interface CostRow {
  readonly step: string;
  readonly program: string;
  readonly ms: number;
}

interface Tracked {
  readonly stat: ProcessStat;
  readonly step: string;
  readonly program: string;
  /** Whether its command line was read again after it began to execute the program: it may change a moment later. */
  readonly isCertain: boolean;
  /** Of children whose end was seen although their parent had not yet waited for them. */
  readonly awaitedMs: number;
}

const sampleMs = 500;

/**
 * Adds up the processor time of a process and of everything that it has started, by step and by program. It looks at all of
 * them again and again. What a process used after the last look is in the time of the parent that waited for it. Only an
 * orphan takes that to its end with it.
 */
export class ProcessorCost {
  readonly #table: ProcessTable;
  readonly #tracked = new Map<number, Tracked>();
  readonly #foreign = new Set<number>();
  readonly #spentMs = new Map<string, Map<string, number>>();

  constructor(table: ProcessTable, root: { readonly pid: number; readonly step: string }) {
    this.#table = table;
    this.follow(root.pid, root.step);
  }

  get rows(): CostRow[] {
    return [...this.#spentMs].flatMap(([step, programs]) =>
      [...programs].map(([program, ms]) => ({ step, program, ms })),
    );
  }

  /** From here on, the process and everything that it starts belong to this step. */
  follow(pid: number, step: string): void {
    const stat = this.#table.one(pid);
    if (stat !== undefined) this.#track(stat, step);
  }

  /** Looks at all processes. */
  sample(): void {
    const { pids, stats } = this.#table.read(this.#foreign);
    const running = new Map(stats.map((stat) => [stat.pid, stat]));
    const ended = [...this.#tracked.values()].filter(({ stat }) => running.get(stat.pid)?.stamp !== stat.stamp);
    const endedOf = Map.groupBy(ended, (each) => this.#heirOf(each, running));
    for (const { stat } of ended) this.#tracked.delete(stat.pid);
    for (const [pid, tracked] of this.#tracked) {
      const stat = running.get(pid);
      if (stat !== undefined) this.#update(tracked, stat, endedOf.get(pid) ?? []);
    }
    const present = new Set(pids);
    for (const pid of this.#foreign) if (!present.has(pid)) this.#foreign.delete(pid);
    this.#admit(stats.filter(({ pid }) => !this.#tracked.has(pid)));
  }

  /** Adds the descendants among the new processes. The others need no second look: they never become descendants. */
  #admit(newcomers: readonly ProcessStat[]): void {
    // A child may have a smaller number than its parent. So look again until no more are found.
    const [others, children] = partition(newcomers, ({ parent }) => this.#tracked.has(parent));
    for (const stat of children) this.#track(stat, this.#tracked.get(stat.parent)?.step ?? '');
    if (children.length > 0) this.#admit(others);
    else for (const { pid } of others) this.#foreign.add(pid);
  }

  #track(stat: ProcessStat, step: string): void {
    const program = this.#programOf(stat);
    this.#tracked.set(stat.pid, { stat, step, program, isCertain: false, awaitedMs: 0 });
    this.#add(step, program, stat.ownMs);
    this.#add(step, `children of ${program}`, stat.endedChildrenMs);
  }

  #update(tracked: Tracked, stat: ProcessStat, ended: readonly Tracked[]): void {
    const { step } = tracked;
    const isSame = stat.name === tracked.stat.name;
    const program = isSame && tracked.isCertain ? tracked.program : this.#programOf(stat);
    this.#add(step, program, stat.ownMs - tracked.stat.ownMs);
    // What the ended ones had used at the last look has been added already.
    const knownMs = ended.reduce((sum, { stat: last }) => sum + last.ownMs + last.endedChildrenMs, 0);
    const restMs = stat.endedChildrenMs - tracked.stat.endedChildrenMs - tracked.awaitedMs - knownMs;
    const children = ended.filter(({ stat: last }) => last.parent === stat.pid);
    for (const child of children) this.#add(child.step, child.program, Math.max(0, restMs) / children.length);
    if (children.length === 0) this.#add(step, `children of ${program}`, Math.max(0, restMs));
    const awaitedMs = Math.min(knownMs, Math.max(0, -restMs));
    this.#tracked.set(stat.pid, { stat, step, program, isCertain: isSame, awaitedMs });
  }

  /** The nearest ancestor that still runs: its time has that of the ended one. */
  #heirOf({ stat }: Tracked, running: ReadonlyMap<number, ProcessStat>): number | undefined {
    for (let at = this.#tracked.get(stat.parent); at !== undefined; at = this.#tracked.get(at.stat.parent))
      if (running.get(at.stat.pid)?.stamp === at.stat.stamp) return at.stat.pid;
    return undefined;
  }

  #programOf({ pid, name }: ProcessStat): string {
    const args = this.#table.args(pid);
    return args.length === 0 ? name : programOf(args);
  }

  #add(step: string, program: string, ms: number): void {
    if (ms <= 0) return;
    const programs = this.#spentMs.get(step) ?? new Map<string, number>();
    programs.set(program, (programs.get(program) ?? 0) + ms);
    this.#spentMs.set(step, programs);
  }
}

function partition<T>(all: readonly T[], isSecond: (one: T) => boolean): [first: T[], second: T[]] {
  return [all.filter((one) => !isSecond(one)), all.filter(isSecond)];
}

/** The cost of this process and of everything that it starts. */
export interface CostMeter {
  follow(pid: number, step: string): void;
  /** Undefined on a system without /proc. */
  readonly stop: () => CostReport | undefined;
}

export interface CostReport {
  readonly rows: readonly CostRow[];
  readonly wallMs: number;
  /** Processor time of the measurement itself. */
  readonly measuringMs: number;
}

/** Measures until it is stopped. */
export function startCostMeter(): CostMeter {
  const table = openProcessTable();
  if (table === undefined) return { follow: () => undefined, stop: () => undefined };
  const begun = performance.now();
  const cost = new ProcessorCost(table, { pid: process.pid, step: 'npm test' });
  let measuringMs = 0;
  const look = (): void => {
    const before = process.cpuUsage();
    cost.sample();
    const { user, system } = process.cpuUsage(before);
    measuringMs += (user + system) / 1000;
  };
  const timer = setInterval(look, sampleMs).unref();
  return {
    follow: (pid, step) => cost.follow(pid, step),
    stop() {
      clearInterval(timer);
      look();
      return { rows: cost.rows, wallMs: performance.now() - begun, measuringMs };
    },
  };
}
