import { usageError } from '../../core/cli-error.ts';
import { defineCommand } from '../../core/command.ts';
import { completing, argument, choice, commentOption, flag, planOptions, scopeOptions } from '../../core/options.ts';
import { differenceLines } from './difference.ts';
import { expectedRevisionOption, requireRevision } from './expected-state.ts';
import {
  confirmFilePlan,
  filePlan,
  filePlanOutput,
  filePlanSummary,
  isEmptyPlan,
  printEmptyPlan,
  printWrittenPlan,
  warnOfNewLoaderVariables,
  writeFilePlan,
} from './file-plan.ts';
import { type SecretFile, readSecretFile, readableFormats, shownFile, shownWarning } from './secret-file.ts';
import { readSecrets, shownScope, tableOf } from './secrets-api.ts';
import { changeLines, nothingChanged, printPlan } from './shown-plan.ts';

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
    ...planOptions,
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
    const scope = await context.scope(options);
    const read = await readSecretFile(context, file, options.format);
    const { secrets: wanted, warnings, base64Keys } = read;
    if (options.isStrict) requireNoWarnings(file, read);
    if (options.prune && wanted.size === 0) {
      throw usageError(
        `${shownFile(file)} holds no secrets, and --prune would delete all of ${shownScope(scope)}`,
        'To delete secrets, name them: keyframe unset <key...>',
      );
    }
    const list = await readSecrets(context.api(), scope);
    const plan = filePlan({ ...list, secrets: tableOf(list) }, wanted, options);
    requireRevision(scope, plan, options.expectedRevision);
    for (const warning of warnings) context.io.warn(shownWarning(warning));
    warnOfNewLoaderVariables(context, plan, wanted);
    if (base64Keys.length > 0) context.io.warn(notText(base64Keys));
    if (options.isPlan || options.isDryRun) {
      return await printPlan(context, {
        value: filePlanOutput(plan, { warnings, dryRun: true }),
        keys: differenceLines(plan).map(({ key }) => key),
        lines: changeLines(plan),
        notes: [nothingChanged(shownScope(scope), filePlanSummary(plan))],
      });
    }
    if (isEmptyPlan(plan)) return await printEmptyPlan(context, plan, warnings);
    await confirmFilePlan(context, scope, { plan, source: shownFile(file) });
    const answer = await writeFilePlan(context, scope, { plan, wanted, comment: options.comment });
    await printWrittenPlan(context, scope, { plan, warnings, answer });
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
