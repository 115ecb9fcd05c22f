import type { SecretPatchView } from '../../../wire/secrets.ts';
import type { CommandContext } from '../../core/command.ts';
import type { SecretTable } from '../../../wire/formats/secret-table.ts';
import type { PushOutput } from '../../output/shapes.ts';
import type { Scope } from '../../settings/scope.ts';
import { type Difference, differenceOf } from './difference.ts';
import type { Revision } from './expected-state.ts';
import type { SecretFile } from './secret-file.ts';
import { rememberWritten } from './handed-variables.ts';
import { warnOfLoaderVariables } from './loader-refusal.ts';
import { counted } from '../../../lib/counted.ts';
import { patchSecrets, shownScope } from './secrets-api.ts';
import { changeLines, notePlan } from './shown-plan.ts';

/** Some or all secrets of an environment at a revision. */
export interface EnvironmentState extends Revision {
  readonly secrets: SecretTable;
}

/** What a file of secrets changes in an environment, and the revision that it is based on. */
export interface FilePlan extends Difference, Revision {
  /** Keys that are not in the file and stay. */
  readonly kept: string[];
}

/** Compares an environment with a file; `prune` deletes what is not in the file. */
export function filePlan(
  { secrets, revision, revisionId }: EnvironmentState,
  wanted: SecretTable,
  { prune }: { readonly prune: boolean },
): FilePlan {
  const difference = differenceOf(secrets, wanted);
  if (prune) return { ...difference, kept: [], revision, revisionId };
  return { ...difference, removed: [], kept: difference.removed, revision, revisionId };
}

export function isEmptyPlan({ added, changed, removed }: FilePlan): boolean {
  return added.length + changed.length + removed.length === 0;
}

export function filePlanSummary({ added, changed, removed, unchanged, kept }: FilePlan): string {
  const counts = [`${added.length} new`, `${changed.length} changed`, `${removed.length} deleted`];
  const rest = kept.length === 0 ? '' : `; ${counted(kept.length, 'secret')} not in the file left alone`;
  return `${counts.join(', ')}, ${unchanged.length} unchanged${rest}`;
}

/** The plan as --output json prints it, before anything is written. */
export function filePlanOutput(
  plan: FilePlan,
  { warnings, dryRun }: { readonly warnings: SecretFile['warnings']; readonly dryRun: boolean },
): PushOutput {
  return { dryRun, ...plan, warnings: [...warnings], set: [], deleted: [] };
}

/** Reports that a plan changes nothing. */
export async function printEmptyPlan(
  { io, printer }: CommandContext,
  plan: FilePlan,
  warnings: SecretFile['warnings'],
): Promise<void> {
  io.note(`Nothing to change: ${filePlanSummary(plan)}`);
  await printer.lines(filePlanOutput(plan, { warnings, dryRun: false }), []);
}

interface ShownPlan {
  readonly plan: FilePlan;
  /** Where the wanted state is from, for users. */
  readonly source: string;
  /** What follows a key. */
  readonly noteOf?: (key: string) => string;
}

/** Warns of new secrets that readers cannot use as variables without a flag. */
export function warnOfNewLoaderVariables(context: CommandContext, { added }: FilePlan, wanted: SecretTable): void {
  warnOfLoaderVariables(context, new Map(added.map((key) => [key, wanted.get(key) ?? ''])));
}

/** Shows the plan and asks for confirmation. Throws CliError refused. */
export async function confirmFilePlan(
  context: CommandContext,
  scope: Scope,
  { plan, source, noteOf }: ShownPlan,
): Promise<void> {
  notePlan(context, `Plan for ${shownScope(scope)} from ${source}`, changeLines(plan, noteOf));
  await context.confirm(`Apply these changes to ${shownScope(scope)}?`);
}

export interface PlannedWrite {
  readonly plan: FilePlan;
  readonly wanted: SecretTable;
  readonly comment: string | undefined;
}

/** Makes the changes of the plan in one step, or none if the environment is no longer at its revision. */
export async function writeFilePlan(
  context: CommandContext,
  scope: Scope,
  { plan, wanted, comment }: PlannedWrite,
): Promise<SecretPatchView> {
  const keys = new Set([...plan.added, ...plan.changed]);
  const answer = await patchSecrets(context.api(), scope, {
    set: new Map([...wanted].filter(([key]) => keys.has(key))),
    delete: plan.removed,
    comment,
    expectedRevision: plan.revisionId,
    skipUnchanged: true,
  });
  rememberWritten(context, scope, [...keys]);
  return answer;
}

interface WrittenPlan {
  readonly plan: FilePlan;
  readonly warnings: SecretFile['warnings'];
  readonly answer: SecretPatchView;
}

export async function printWrittenPlan(
  { io, printer }: CommandContext,
  scope: Scope,
  { plan, warnings, answer }: WrittenPlan,
): Promise<void> {
  const { set, deleted, revision, revisionId } = answer;
  const value = { ...filePlanOutput(plan, { warnings, dryRun: false }), set, deleted, revision, revisionId };
  await printer.lines(value, [...set.map(({ key }) => key), ...deleted].sort());
  if (printer.format === 'table') {
    io.note(`Done: ${filePlanSummary(plan)}; ${shownScope(scope)} is at revision ${revision}`);
  }
}
