import { usageError } from '../../cli-error.ts';
import { type CommandContext, defineCommand } from '../../command.ts';
import type { SecretTable } from '../../formats/secret-table.ts';
import { completing, argument, choice, commentOption, flag, scopeOptions } from '../../options.ts';
import type { PushOutput } from '../../output/shapes.ts';
import type { Scope } from '../../settings/scope.ts';
import { type Difference, differenceLines, differenceOf } from './difference.ts';
import { expectedRevisionOption, requireRevision } from './expected-state.ts';
import { type SecretFile, readSecretFile, readableFormats, shownFile, shownWarning } from './secret-file.ts';
import { counted, patchSecrets, readSecrets, shownScope, tableOf } from './secrets-api.ts';

export const pushCommand = defineCommand({
  summary: 'Apply a file of secrets to an environment, after showing the plan',
  description:
    'Shows the plan first, with keys and without values: + new, ~ changed, - deleted. The plan is applied in one change. If the environment changes in the meantime, nothing is applied. Unchanged secrets get no new version. Secrets that are not in the file stay unless you add --prune. A line of a dotenv file that other programs read differently causes a warning (docs/cli-files.md); --strict refuses such a file.',
  arguments: {
    file: completing(
      'file',
      argument('<file>', 'dotenv, JSON, YAML or the manifest of a Kubernetes Secret; - for standard input'),
    ),
  },
  options: {
    ...scopeOptions,
    format: choice('--format <format>', "Format of the file (default: by its name; env for '-')", readableFormats),
    prune: flag('--prune', 'Delete the secrets that are not in the file'),
    isStrict: flag('--strict', 'Refuse a dotenv file with lines that other programs read differently'),
    isDryRun: flag('--dry-run', 'Show the plan only'),
    ...expectedRevisionOption,
    ...commentOption,
  },
  examples: [
    { line: 'push .env', note: 'Show the plan and ask for confirmation' },
    {
      line: 'push production.yaml -e production --prune --yes',
      note: 'Make the environment equal to the file, without confirmation',
    },
    { line: 'push - --format json --dry-run < secrets.json', note: 'Show the plan of a JSON file from standard input' },
    {
      line: 'push - --format k8s-secret --dry-run < secret.yaml',
      note: 'Show the plan of a manifest that kubectl get secret -o yaml printed',
    },
  ],
  async run(context, { args: { file }, options }) {
    const scope = context.scope(options);
    const read = await readSecretFile(context, file, options.format);
    const { secrets: wanted, warnings, base64Keys } = read;
    if (options.isStrict) requireNoWarnings(file, read);
    if (options.prune && wanted.size === 0) {
      throw usageError(
        `${shownFile(file)} holds no secrets, and --prune would delete all of ${shownScope(scope)}`,
        'To delete secrets, name them: keyframe unset <key...>',
      );
    }
    const plan = await makePlan(context, scope, { wanted, prune: options.prune });
    requireRevision(scope, plan, options.expectedRevision);
    for (const warning of warnings) context.io.warn(shownWarning(warning));
    if (base64Keys.length > 0) context.io.warn(notText(base64Keys));
    if (options.isDryRun) return await printPlan(context, plan, warnings);
    if (isEmpty(plan)) {
      context.io.note(`Nothing to change: ${summary(plan)}`);
      return await context.printer.lines(outputOf(plan, { warnings, dryRun: false }), []);
    }
    context.io.note(`Plan for ${shownScope(scope)} from ${shownFile(file)}:`);
    for (const line of planLines(plan)) context.io.note(line);
    await context.confirm(`Apply these changes to ${shownScope(scope)}?`);
    await applyPlan(context, scope, { plan, wanted, warnings, comment: options.comment });
    if (warnings.length > 0) context.io.warn(summaryOf(warnings));
  },
});

function requireNoWarnings(file: string, { warnings }: SecretFile): void {
  if (warnings.length === 0) return;
  const message = `${shownFile(file)} has lines that other programs read differently, and --strict refuses them`;
  throw usageError(message, ...warnings.map(shownWarning));
}

function notText(keys: readonly string[]): string {
  const [what, list] = keys.length === 1 ? ['is', 'it'] : ['are', 'them'];
  return `${keys.join(', ')} ${what} not text and pushed as base64; list ${list} in spec.keys.decodeBase64 of the SecretSync`;
}

/** The warnings again after the result, because a long plan hides them. */
function summaryOf(warnings: SecretFile['warnings']): string {
  const keys = [...new Set(warnings.map(({ key }) => key))];
  const verb = keys.length === 1 ? 'is' : 'are';
  return `${keys.join(', ')} ${verb} read differently by other programs; see the warnings above, or use --strict`;
}

/** What a push changes, and the state that it is based on. */
interface Plan extends Difference {
  /** Keys that are not in the file and stay. */
  readonly kept: string[];
  readonly revision: number;
  readonly revisionId: string;
}

async function makePlan(
  context: CommandContext,
  scope: Scope,
  { wanted, prune }: { readonly wanted: SecretTable; readonly prune: boolean },
): Promise<Plan> {
  const list = await readSecrets(context.api(), scope);
  const difference = differenceOf(tableOf(list), wanted);
  const { revision, revisionId } = list;
  if (prune) return { ...difference, kept: [], revision, revisionId };
  return { ...difference, removed: [], kept: difference.removed, revision, revisionId };
}

interface SecretPlan {
  readonly plan: Plan;
  readonly wanted: SecretTable;
  readonly warnings: SecretFile['warnings'];
}

async function applyPlan(
  context: CommandContext,
  scope: Scope,
  { plan, wanted, warnings, comment }: SecretPlan & { readonly comment: string | undefined },
): Promise<void> {
  const keys = new Set([...plan.added, ...plan.changed]);
  const answer = await patchSecrets(context.api(), scope, {
    set: new Map([...wanted].filter(([key]) => keys.has(key))),
    delete: plan.removed,
    comment,
    expectedRevision: plan.revisionId,
    skipUnchanged: true,
  });
  const { set, deleted, revision, revisionId } = answer;
  const value = { ...outputOf(plan, { warnings, dryRun: false }), set, deleted, revision, revisionId };
  await context.printer.lines(value, [...set.map(({ key }) => key), ...deleted].sort());
  if (context.printer.format === 'table') {
    context.io.note(`Done: ${summary(plan)}; ${shownScope(scope)} is at revision ${answer.revision}`);
  }
}

async function printPlan({ printer, io }: CommandContext, plan: Plan, warnings: SecretFile['warnings']): Promise<void> {
  const keys = differenceLines(plan).map(({ key }) => key);
  await printer.lines(outputOf(plan, { warnings, dryRun: true }), printer.format === 'name' ? keys : planLines(plan));
  if (printer.format === 'table') io.note(`Nothing was changed (--dry-run): ${summary(plan)}`);
}

function planLines(plan: Plan): string[] {
  return differenceLines(plan).map(({ sign, key }) => `  ${sign} ${key}`);
}

function summary({ added, changed, removed, unchanged, kept }: Plan): string {
  const counts = [`${added.length} new`, `${changed.length} changed`, `${removed.length} deleted`];
  const rest = kept.length === 0 ? '' : `; ${counted(kept.length, 'secret')} not in the file left alone`;
  return `${counts.join(', ')}, ${unchanged.length} unchanged${rest}`;
}

function isEmpty({ added, changed, removed }: Plan): boolean {
  return added.length + changed.length + removed.length === 0;
}

/** The plan as --output json prints it, before anything is written. */
function outputOf(plan: Plan, { warnings, dryRun }: { warnings: SecretFile['warnings']; dryRun: boolean }): PushOutput {
  return { dryRun, ...plan, warnings: [...warnings], set: [], deleted: [] };
}
