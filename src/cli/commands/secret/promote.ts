import type { CopyView } from '../../../wire/copies.ts';
import { type RequestOf, call } from '../../../client/call.ts';
import { ClientError } from '../../../client/client-error.ts';
import { usageError } from '../../core/cli-error.ts';
import { type CommandContext, defineCommand } from '../../core/command.ts';
import {
  commentOption,
  completing,
  flag,
  keySelection,
  keySelectionOptions,
  scopeOptions,
  text,
  planOptions,
} from '../../core/options.ts';
import { type Scope, scopeParams } from '../../settings/scope.ts';
import { expectedRevisionId, expectedRevisionOption } from './expected-state.ts';
import { otherEnvironment } from './other-environment.ts';
import { counted } from '../../../lib/counted.ts';
import { readKeys, shownScope } from './secrets-api.ts';
import { changeLines, listedKeys, notePlan, noteUndo, nothingChanged, planHashLine, printPlan } from './shown-plan.ts';
import { warnIfNoneMatches } from './unmatched-keys.ts';

/** `promote`: docs/interface.md 4.13. */
export const promoteCommand = defineCommand({
  summary: 'Copy secrets from one environment to another, after showing the plan',
  description:
    'Shows the plan first: + created, ~ changed, - deleted. By default, it creates and changes secrets of the destination, and deletes none. The values stay on the server. It is one change: all of it is applied, or nothing. If either environment changes before you confirm, nothing is copied. To go back to an earlier revision of an environment, name it with both --from and --to, and the revision with --revision.',
  arguments: {},
  options: {
    from: completing('environment', text('--from <environment>', 'The source: env, or project/env')),
    to: completing(
      'environment',
      text('--to <environment>', 'The destination: env, or project/env; default: that of -e or of .keyframe.json'),
    ),
    ...scopeOptions,
    ...keySelectionOptions,
    isMissingOnly: flag('--missing', 'Only create secrets that the destination does not have'),
    isMirror: flag('--mirror', 'Also delete secrets that the source does not have'),
    revision: {
      ...text('--revision <revision>', 'Copy a past revision of the source (number or id)'),
      field: 'from.revision',
    },
    ...planOptions,
    planHash: text(
      '--plan-hash <hash>',
      'Apply exactly this plan (planHash of --plan --output json), without confirmation',
    ),
    ...expectedRevisionOption,
    ...commentOption,
  },
  examples: [
    { line: 'promote --from staging --to production', note: 'Show the plan and ask for confirmation' },
    { line: "promote --from staging --to production --keys 'DB_*' --plan", note: 'Show the plan for some keys' },
    { line: 'promote --from staging --to production --missing --yes', note: 'Only add what is missing' },
    { line: 'promote --from production --to production --revision 12 --mirror', note: 'Go back to revision 12' },
  ],
  async run(context, { options }) {
    const { isPlan, isDryRun, planHash: givenHash } = options;
    const places = await placesOf(context, options);
    const { source, destination } = places;
    const body: CopyRequest = {
      from: { project: source.project, environment: source.environment, revision: revisionOf(options.revision) },
      mode: modeOf(options),
      keys: keySelection(options),
      planHash: givenHash,
      expectedRevision: await expectedRevisionId(context.api(), destination, options.expectedRevision),
      comment: options.comment,
    };
    const isPlanOnly = isPlan || isDryRun;
    const isAgreed = isPlanOnly || givenHash !== undefined || context.isConfirmed;
    const planHash = isAgreed ? givenHash : await agreedPlan(context, places, body);
    const answer = await copy(context, places, isPlanOnly ? { ...body, dryRun: true } : { ...body, planHash });
    warnIfNoneMatches(context, options, { place: shownScope(source), selected: allKeys(answer) });
    if (!isPlanOnly) return await print(context, places, answer);
    const notes = planNotes(places, answer);
    await printPlan(context, { value: answer, keys: changedKeys(answer), lines: planLines(answer), notes });
  },
});

/** The body of the request. What is undefined is not sent. */
type CopyRequest = RequestOf<'POST /environments/{org}/{project}/{env}/copy'>['body'];

interface Places {
  readonly source: Scope;
  readonly destination: Scope;
}

interface PlaceFlags {
  readonly from: string | undefined;
  readonly revision: string | undefined;
  readonly to: string | undefined;
  readonly organization: string | undefined;
  readonly project: string | undefined;
  readonly environment: string | undefined;
}

interface ModeFlags {
  readonly isMissingOnly: boolean;
  readonly isMirror: boolean;
}

function modeOf({ isMissingOnly, isMirror }: ModeFlags): CopyRequest['mode'] {
  if (isMissingOnly && isMirror) throw usageError('--missing and --mirror cannot be combined');
  if (isMissingOnly) return 'missing';
  return isMirror ? 'mirror' : 'changed';
}

async function placesOf(context: CommandContext, { from, ...flags }: PlaceFlags): Promise<Places> {
  if (from === undefined) throw usageError('--from <environment> is required', 'It names the source, such as staging.');
  const destination = await destinationOf(context, flags);
  const source = sourceOf(from, destination);
  if (shownScope(source) === shownScope(destination) && flags.revision === undefined) {
    throw usageError(
      `--from and --to both name ${shownScope(source)}`,
      'Name another environment with --to, or an earlier revision with --revision.',
    );
  }
  return { source, destination };
}

async function destinationOf(
  context: CommandContext,
  { to, ...flags }: Omit<PlaceFlags, 'from' | 'revision'>,
): Promise<Scope> {
  if (to === undefined) return await context.scope(flags);
  if (flags.environment !== undefined) throw usageError('--to and --env both name the destination', 'Use one of them.');
  // The parts that --to names are not looked for elsewhere.
  const named = otherEnvironment('--to', to, { organization: '', project: '' });
  return await context.scope({
    organization: named.organization || flags.organization,
    project: named.project || flags.project,
    environment: named.environment,
  });
}

function sourceOf(from: string, destination: Scope): Scope {
  const source = otherEnvironment('--from', from, destination);
  if (source.organization !== destination.organization) {
    throw usageError(
      `--from and --to must be in one organization, and ${source.organization} is not ${destination.organization}`,
      'To move values between organizations, use `keyframe pull` and `keyframe push`.',
    );
  }
  return source;
}

function revisionOf(given: string | undefined): number | string | undefined {
  return given !== undefined && /^[0-9]{1,10}$/.test(given) ? Number(given) : given;
}

async function copy({ api }: CommandContext, { source, destination }: Places, body: CopyRequest): Promise<CopyView> {
  try {
    const request = { params: scopeParams(destination), body };
    return (await call(api(), 'POST /environments/{org}/{project}/{env}/copy', request)).body;
  } catch (error) {
    // The path of the request is that of the destination. If the source is missing, an error of its own path explains it.
    const isMissing = error instanceof ClientError && error.isNotFound;
    const { revision } = body.from;
    if (isMissing) await readKeys(api(), source, { revision: revision === undefined ? undefined : String(revision) });
    throw error;
  }
}

/** Shows the plan and asks for confirmation unless it changes nothing; returns the hash of the confirmed plan. */
async function agreedPlan(context: CommandContext, places: Places, body: CopyRequest): Promise<string | undefined> {
  const plan = await copy(context, places, { ...body, dryRun: true });
  notePlan(context, `Plan for ${titleOf(places, plan)}`, planLines(plan));
  const { created, updated, deleted, planHash } = plan;
  const written = created.length + updated.length;
  if (written + deleted.length === 0) return planHash;
  const deleting = deleted.length === 0 ? '' : ` and delete ${deleted.length}`;
  await context.confirm(`Write ${counted(written, 'secret')}${deleting} in ${shownScope(places.destination)}?`);
  return planHash;
}

function allKeys({ created, updated, unchanged, kept, deleted, destroyed }: CopyView): readonly (readonly string[])[] {
  return [created, updated, unchanged, kept, deleted, destroyed];
}

function titleOf({ source, destination }: Places, { from }: CopyView): string {
  return `${shownScope(destination)} from ${shownScope(source)} (revision ${from.revision})`;
}

function planLines({ created, updated, deleted, kept, destroyed }: CopyView): string[] {
  return [
    ...changeLines({ added: created, changed: updated, removed: deleted }),
    ...kept.map((key) => `    ${key}: kept, because it has another value (--missing)`),
    ...destroyed.map((key) => `    ${key}: skipped, because its value was destroyed`),
  ];
}

function changedKeys({ created, updated, deleted }: CopyView): string[] {
  return [...created, ...updated, ...deleted].sort();
}

/** What a table says under the plan. */
function planNotes({ destination }: Places, { created, updated, deleted, unchanged, planHash }: CopyView): string[] {
  const counts = [`${created.length} new`, `${updated.length} changed`, `${deleted.length} deleted`];
  return [
    nothingChanged(shownScope(destination), `${counts.join(', ')}, ${unchanged.length} unchanged`),
    planHashLine(planHash),
  ];
}

async function print(context: CommandContext, places: Places, answer: CopyView): Promise<void> {
  const { created, updated, deleted, unchanged, kept, destroyed, revision } = answer;
  await context.printer.object({
    value: answer,
    fields: [
      ['Environment', shownScope(places.destination)],
      ['From', `${shownScope(places.source)} (revision ${answer.from.revision})`],
      ['Created', listedKeys(created)],
      ['Changed', listedKeys(updated)],
      ['Deleted', listedKeys(deleted)],
      ['Unchanged', String(unchanged.length)],
      ...(kept.length === 0 ? [] : [['Kept', listedKeys(kept)] as const]),
      ...(destroyed.length === 0 ? [] : [['Destroyed', listedKeys(destroyed)] as const]),
      ['Revision', String(revision)],
    ],
    name: changedKeys(answer),
  });
  if (changedKeys(answer).length > 0) noteUndo(context, revision, places.destination);
}
