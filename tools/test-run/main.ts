import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkoutDirectory } from '../checkout.ts';
import { cacheFolder } from '../devcluster/cluster/cache-folder.ts';
import { endAbandonedRuns } from '../devcluster/cluster/run-record.ts';
import { Commands } from './commands.ts';
import { startCostMeter } from './cost.ts';
import { costLines } from './cost-report.ts';
import { failureLines } from './failures.ts';
import { type Plan, readPlan, usage } from './plan.ts';
import { type StepResult, sizeLines, slowestLines, sum, summaryLines, withRequired } from './results.ts';
import { runSteps } from './steps.ts';

/**
 * `npm test [-- STEP … OPTION …]`: the checks and the suites, then the failures again, the slowest files, the processor time and the
 * size, and last the line `N passed, N failed`. Exits 1 if anything failed, 64 on invalid arguments or settings, and by the signal's number
 * after an interruption.
 */
async function main(): Promise<number> {
  if (process.argv.includes('--help')) {
    process.stdout.write(usage);
    return 0;
  }
  let plan: Plan;
  try {
    plan = readPlan(process.argv.slice(2), process.env);
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    return 64;
  }
  const commands = new Commands();
  let interruption = 0;
  for (const [signal, exitCode] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const) {
    process.on(signal, () => {
      interruption = exitCode;
      commands.interrupt(signal);
    });
  }
  const meter = startCostMeter();
  const results = await runSteps({
    commands,
    plan,
    onStart: (pid, step) => meter.follow(pid, step),
    write: (text) => void process.stdout.write(text),
  });
  // A test file that was interrupted or crashed can't stop the cluster that it started for itself.
  endAbandonedRuns(cacheFolder(process.env), process.env);
  if (commands.interrupted) process.stdout.write('\nInterrupted.\n');
  const notes = [...costLines(meter.stop(), plan.hasCostTable), ...sizeLines(results, plan)];
  const failed = report(withRequired(results, plan.required), notes);
  return interruption || (failed > 0 ? 1 : 0);
}

function report(results: readonly StepResult[], notes: readonly string[]): number {
  mkdirSync(join(checkoutDirectory, 'reports'), { recursive: true });
  writeFileSync(join(checkoutDirectory, 'reports', 'summary.json'), `${JSON.stringify(results, undefined, 2)}\n`);
  const failures = failureLines(results.flatMap((result) => result.failures ?? []));
  const lines = [...failures, ...slowestLines(results), ...notes, ...summaryLines(results)];
  process.stdout.write(`\n${lines.join('\n')}\n`);
  return sum(results).failed;
}

process.exitCode = await main();
