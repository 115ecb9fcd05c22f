import { isUtf8 } from 'node:buffer';
import { resolve } from 'node:path';
import { validateSecretKey } from '../../../wire/secret-rules.ts';
import { CliError, usageError } from '../../core/cli-error.ts';
import { type CommandContext, defineCommand } from '../../core/command.ts';
import { exitCodes } from '../../core/exit-codes.ts';
import { FormatError } from '../../../wire/formats/format-error.ts';
import { choice, commentOption, completing, optionalArgument, scopeOptions, text } from '../../core/options.ts';
import type { ScopeFlags } from '../../settings/scope.ts';
import { type DraftFormat, draftFormats } from './edit-draft/draft-form.ts';
import { type EditSession, resumeEdit, startEdit } from './edit-draft/edit-session.ts';
import { EditSignals } from './edit-draft/edit-signals.ts';
import { EditInterrupted, runEditor } from './edit-draft/editor.ts';
import { expectedRevisionOption } from './expected-state.ts';
import {
  confirmFilePlan,
  filePlan,
  isEmptyPlan,
  printEmptyPlan,
  printWrittenPlan,
  warnOfNewLoaderVariables,
  writeFilePlan,
} from './file-plan.ts';
import { type SecretFile, decoded, shownWarning } from './secret-file.ts';
import { shownScope } from './secrets-api.ts';

/** How often the editor is opened again for a draft with an error. */
const maxRounds = 20;

export const editCommand = defineCommand({
  summary: 'Change secrets in your editor, after showing the plan',
  description:
    'Opens all secrets of the environment, or the value of one secret, in the editor that VISUAL or EDITOR names (default: vi). When you close it, the plan is shown with keys and without values: + new, ~ changed, - deleted. It is applied in one change. If the environment has changed in the meantime, nothing is applied. To cancel, change nothing or empty the file. If the file has an error, the editor opens again with the error at the top. If anything else fails, or you do not confirm, your draft is kept and --draft takes it up again. Ctrl-C removes it. The draft holds values: docs/cli-files.md says where it is and what your editor may store elsewhere.',
  arguments: {
    key: completing('key', optionalArgument('[key]', 'Edit the value of this secret alone; a new key creates it')),
  },
  options: {
    ...scopeOptions,
    format: choice('--format <format>', 'Format of the draft of an environment (default: env)', draftFormats),
    draft: completing('file', text('--draft <path>', 'Take up a draft that an earlier edit has kept')),
    ...expectedRevisionOption,
    ...commentOption,
  },
  examples: [
    { line: 'edit', note: 'All secrets of the environment of this directory' },
    { line: 'edit TLS_KEY -e production', note: 'The exact value of one secret' },
    { line: "edit --format yaml --comment 'new database'", note: 'As YAML, with a comment' },
  ],
  async run(context, { args: { key }, options }) {
    requireFitting(key, options);
    context.requireConfirmable('Apply your changes?');
    const { isInputTerminal, isOutputTerminal, isErrorTerminal } = context.io;
    using signals = new EditSignals({ hasTerminal: isInputTerminal || isOutputTerminal || isErrorTerminal });
    const { expectedRevision, format = 'env', comment } = options;
    const session =
      options.draft === undefined
        ? await startEdit(context, await context.scope(options), { key, format, expectedRevision })
        : await resumeEdit(context, resolve(context.environment.workingDirectory, options.draft), expectedRevision);
    try {
      await editAndApply(context, session, { signals, comment });
    } catch (error) {
      if (error instanceof EditInterrupted) {
        session.draft.remove();
        context.io.error('interrupted; nothing was changed, and the draft was removed');
        return context.endWith(error.exitCode);
      }
      const isCancelled = error instanceof CliError && error.exitCode === exitCodes.interrupted;
      if (isCancelled || !session.draft.holdsEdits) session.draft.remove();
      else noteKept(context, session);
      throw error;
    }
  },
});

interface Flags extends ScopeFlags {
  readonly format: DraftFormat | undefined;
  readonly draft: string | undefined;
}

/** Refuses an argument that is no key, and flags that would have no effect. */
function requireFitting(key: string | undefined, { format, draft, ...scope }: Flags): void {
  const fault = key === undefined ? undefined : validateSecretKey(key);
  // The argument is not repeated: it may be a value in the wrong place.
  if (fault !== undefined) throw usageError(`argument 1 is not a key: it ${fault}`);
  if (key !== undefined && format !== undefined) {
    throw usageError('--format is for a whole environment: the draft of one secret is its value');
  }
  const { organization, project, environment } = scope;
  if (draft !== undefined && [key, format, organization, project, environment].some((one) => one !== undefined)) {
    throw usageError('--draft knows its environment, key and format', 'Leave out [key], --format, -o, -p and -e.');
  }
}

interface EditOptions {
  readonly signals: EditSignals;
  readonly comment: string | undefined;
}

/** The draft is removed if it was applied, and if it changes nothing. */
async function editAndApply(
  context: CommandContext,
  session: EditSession,
  { signals, comment }: EditOptions,
): Promise<void> {
  const { scope, draft, before } = session;
  signals.beforeEnd = () => draft.remove();
  const content = await editedContent(context, session, signals);
  if (content === undefined) context.io.note('The draft is empty: cancelled');
  const wanted = content?.secrets ?? before.secrets;
  const plan = filePlan(before, wanted, { prune: true });
  const touched = new Set([...plan.added, ...plan.changed]);
  const warnings = (content?.warnings ?? []).filter(({ key }) => touched.has(key));
  if (isEmptyPlan(plan)) {
    draft.remove();
    return await printEmptyPlan(context, plan, warnings);
  }
  for (const warning of warnings) context.io.warn(shownWarning(warning));
  warnOfNewLoaderVariables(context, plan, wanted);
  await confirmFilePlan(context, scope, { plan, source: 'your draft', noteOf: noteOf(session) });
  // The server may have made the change when a signal comes.
  signals.beforeEnd = () => noteKept(context, session);
  const answer = await writeFilePlan(context, scope, { plan, wanted, comment });
  draft.remove();
  signals.beforeEnd = () => undefined;
  await printWrittenPlan(context, scope, { plan, warnings, answer });
}

function noteOf({ conflicts }: EditSession): (key: string) => string {
  return (key) => (conflicts.includes(key) ? '  (others have changed it since the draft was made)' : '');
}

/**
 * Opens the editor until the draft has no error. Undefined if it is empty. Throws CliError usage if an error remains: if
 * the draft was closed as it was opened, and if no user is there to correct it.
 */
async function editedContent(
  context: CommandContext,
  { draft, form }: EditSession,
  signals: EditSignals,
): Promise<Pick<SecretFile, 'secrets' | 'warnings'> | undefined> {
  for (let round = 1; ; round += 1) {
    const opened = draft.read();
    await runEditor(context, draft.path, signals);
    const saved = draft.read();
    if (saved === undefined) return undefined;
    try {
      return await form.read(decoded(saved));
    } catch (error) {
      if (!(error instanceof FormatError)) throw error;
      const isMarked = markError({ draft, form }, saved, error.message);
      const isTheSame = opened?.equals(saved) === true;
      if (isMarked && context.io.canAsk && round < maxRounds && !isTheSame) continue;
      throw new CliError(exitCodes.usage, `the draft has an error: ${error.message}`, { cause: error });
    }
  }
}

/** Writes an error to the top of the draft. False if the draft has no place for it, or is not text. */
function markError({ draft, form }: Pick<EditSession, 'draft' | 'form'>, saved: Buffer, message: string): boolean {
  if (!isUtf8(saved) || form.withMessage === undefined) return false;
  draft.writeText(form.withMessage(saved.toString('utf8'), `error: ${message}`));
  return true;
}

function noteKept({ io }: CommandContext, { draft, scope }: EditSession): void {
  io.warn(
    `the draft for ${shownScope(scope)} is kept in ${draft.path}; to take it up again: keyframe edit --draft ${draft.path}`,
  );
}
