import type { RevertView } from '../../../wire/changes.ts';
import type { ApiClient } from '../../../client/api-client.ts';
import { type RequestOf, call } from '../../../client/call.ts';
import { CliError } from '../../core/cli-error.ts';
import { type CommandContext, defineCommand } from '../../core/command.ts';
import { exitCodes } from '../../core/exit-codes.ts';
import { commentOption, flag, optionalArgument, planOptions, scopeOptions, text } from '../../core/options.ts';
import { type Scope, scopeParams } from '../../settings/scope.ts';
import { expectedRevisionId, expectedRevisionOption } from './expected-state.ts';
import { counted } from '../../../lib/counted.ts';
import { shownScope } from './secrets-api.ts';
import { changeLines, listedKeys, notePlan, nothingChanged, planHashLine, printPlan } from './shown-plan.ts';

/** `undo [revision]`: docs/interface.md 4.14. */
export const undoCommand = defineCommand({
  summary: 'Undo one change of an environment, after showing the plan',
  description:
    'Every secret that the revision changed returns to its value before the revision: ~ changed, + restored after a deletion, - deleted. The history is kept, and later changes of other secrets stay. If a secret was changed again later, nothing is undone without --overwrite. A destroyed value is never restored. If the environment changes before you confirm, nothing is undone.',
  arguments: {
    given: optionalArgument('[revision]', 'Revision, as in keyframe history: number or id (default: the newest)'),
  },
  options: {
    ...planOptions,
    overwrite: flag('--overwrite', 'Also undo the change of secrets that were changed again later'),
    planHash: text(
      '--plan-hash <hash>',
      'Apply exactly this plan (planHash of --plan --output json), without confirmation',
    ),
    ...scopeOptions,
    ...expectedRevisionOption,
    ...commentOption,
  },
  examples: [
    { line: 'undo', note: 'Undo the newest change; shows the plan and asks for confirmation' },
    { line: 'undo 41 --plan', note: 'What undoing revision 41 would do' },
    { line: "undo 41 --overwrite --yes --comment 'wrong database'", note: 'Without confirmation, with a comment' },
  ],
  async run(context, { args: { given }, options }) {
    const scope = await context.scope(options);
    const { isPlan, isDryRun, overwrite, comment, planHash: givenHash } = options;
    const api = context.api();
    const expectedRevision = await expectedRevisionId(api, scope, options.expectedRevision);
    const revision = given ?? (await newestRevision(api, scope));
    // What is undefined is not sent. With a hash, a dry run reports whether that plan is still current.
    const body = { overwrite, comment, planHash: givenHash, expectedRevision };
    if (isPlan || isDryRun) {
      const plan = await revert(api, { scope, revision, body: { ...body, dryRun: true } });
      const notes = planNotes(scope, plan, overwrite);
      return await printPlan(context, { value: plan, keys: changedKeys(plan), lines: planLines(plan), notes });
    }
    const request = { scope, revision, body };
    const agreed = givenHash === undefined ? await agreedRequest(context, request) : request;
    await print(context, scope, await revert(api, agreed));
  },
});

/** Shows the plan and asks for confirmation unless it changes nothing; returns the request for exactly that plan. */
async function agreedRequest(context: CommandContext, { scope, revision, body }: Request): Promise<Request> {
  const plan = await revert(context.api(), { scope, revision, body: { ...body, dryRun: true } });
  notePlan(context, `Plan to undo ${shownRevision(plan)} of ${shownScope(scope)}`, planLines(plan));
  // With conflicts, the server refuses it and names them.
  const isRefused = plan.conflicts.length > 0 && body.overwrite !== true;
  const changes = changedKeys(plan);
  if (changes.length > 0 && !isRefused) {
    await context.confirm(
      `Undo ${shownRevision(plan)} (${counted(changes.length, 'secret')}) in ${shownScope(scope)}?`,
    );
  }
  const { planHash, revisionId: expectedRevision, reverted } = plan;
  return { scope, revision: reverted.revisionId, body: { ...body, planHash, expectedRevision } };
}

interface Request {
  readonly scope: Scope;
  /** Number or id. */
  readonly revision: string;
  readonly body: NonNullable<RequestOf<'POST /changes/{org}/{project}/{env}/{revision}/revert'>['body']>;
}

async function revert(api: ApiClient, { scope, revision, body }: Request): Promise<RevertView> {
  const params = { ...scopeParams(scope), revision };
  return (await call(api, 'POST /changes/{org}/{project}/{env}/{revision}/revert', { params, body })).body;
}

/** The id of the newest revision. Throws CliError not found if there was no change. */
async function newestRevision(api: ApiClient, scope: Scope): Promise<string> {
  const request = { params: scopeParams(scope), query: { limit: '1' } };
  const [newest] = (await call(api, 'GET /changes/{org}/{project}/{env}', request)).body.changes;
  if (newest !== undefined) return newest.revisionId;
  throw new CliError(exitCodes.notFound, `${shownScope(scope)} has no change to undo`);
}

function shownRevision({ reverted }: RevertView): string {
  return `revision ${reverted.revision}`;
}

function planLines(plan: RevertView): string[] {
  const { restored, recreated, deleted, destroyed, conflicts } = plan;
  const reasons = new Map(conflicts.map(({ key, reason }) => [key, reason]));
  const note = (key: string): string => (reasons.has(key) ? '  (changed again later)' : '');
  return [
    ...changeLines({ added: recreated, changed: restored, removed: deleted }, note),
    ...destroyed.map((key) => `    ${key}: left as it is, because its value before was destroyed`),
  ];
}

function changedKeys({ restored, recreated, deleted }: RevertView): string[] {
  return [...restored, ...recreated, ...deleted].sort();
}

/** What a table says under the plan. */
function planNotes(scope: Scope, plan: RevertView, overwrite: boolean): string[] {
  const { restored, recreated, deleted, unchanged, conflicts, planHash } = plan;
  const counts = [
    `${restored.length} changed`,
    `${recreated.length} recreated`,
    `${deleted.length} deleted`,
    `${unchanged.length} unchanged`,
  ];
  const summary = nothingChanged(shownScope(scope), counts.join(', '));
  if (conflicts.length === 0 || overwrite) return [summary, planHashLine(planHash)];
  const keys = conflicts.map(({ key }) => key).join(', ');
  return [summary, `${counted(conflicts.length, 'secret')} would need --overwrite: ${keys}`];
}

async function print({ printer }: CommandContext, scope: Scope, answer: RevertView): Promise<void> {
  await printer.object({
    value: answer,
    fields: [
      ['Environment', shownScope(scope)],
      ['Undone', shownRevision(answer)],
      ['Restored', listedKeys(answer.restored)],
      ['Recreated', listedKeys(answer.recreated)],
      ['Deleted', listedKeys(answer.deleted)],
      ['Unchanged', listedKeys(answer.unchanged)],
      ...(answer.destroyed.length === 0 ? [] : [['Destroyed', listedKeys(answer.destroyed)] as const]),
      ['Revision', answer.revision],
    ],
    name: changedKeys(answer),
  });
}
