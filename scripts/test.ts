import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkoutDirectory } from './checkout.ts';
import { Commands } from './test-run/commands.ts';
import { type Plan, readPlan } from './test-run/plan.ts';
import { type StepResult, sum, summaryLines, withRequired } from './test-run/results.ts';
import { runStep } from './test-run/steps.ts';

/**
 * `npm test [-- STEP …]`: the checks and the suites, then the line `N passed, N failed`. Exits 1 when anything failed, 64 on
 * arguments or settings that make no sense, and by the signal's number after an interruption.
 */
async function main(): Promise<number> {
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
  const results = await runAll(plan, commands);
  if (commands.interrupted) process.stdout.write('\nInterrupted.\n');
  const failed = report(withRequired(results, plan.required));
  return interruption || (failed > 0 ? 1 : 0);
}

async function runAll(plan: Plan, commands: Commands): Promise<StepResult[]> {
  const results: StepResult[] = [];
  for (const name of plan.steps) {
    if (commands.interrupted) results.push({ name, durationMs: 0, note: 'not run' });
    else results.push(await runStep(name, { commands, plan, write: (text) => void process.stdout.write(text) }));
  }
  return results;
}

function report(results: readonly StepResult[]): number {
  mkdirSync(join(checkoutDirectory, 'reports'), { recursive: true });
  writeFileSync(join(checkoutDirectory, 'reports', 'summary.json'), `${JSON.stringify(results, undefined, 2)}\n`);
  process.stdout.write(`\n${summaryLines(results).join('\n')}\n`);
  return sum(results).failed;
}

process.exitCode = await main();
