import type { ConsumerView } from '../../../wire/consumers.ts';
import type { ApiClient } from '../../../client/api-client.ts';
import { call } from '../../../client/call.ts';
import { ClientError } from '../../../client/client-error.ts';
import { CliError, usageError } from '../../core/cli-error.ts';
import { type CommandContext, defineCommand } from '../../core/command.ts';
import { durationOption } from '../../core/duration-option.ts';
import { exitCodes } from '../../core/exit-codes.ts';
import { flag, scopeOptions, text } from '../../core/options.ts';
import type { ReachedRevisionOutput } from '../../output/shapes.ts';
import { type Scope, scopeParams } from '../../settings/scope.ts';
import { endOnSignals } from '../../terminal/end-on-signals.ts';
import { noteExempt, untilConverged } from '../consumer/converged-consumers.ts';
import { whyExempt } from '../consumer/convergence.ts';
import { type ConsumerSelection, requireSecretSyncNames, selectionOptions } from '../consumer/selection.ts';
import { readKeys, shownScope } from '../secret/secrets-api.ts';
import { followChanges } from './followed-changes.ts';
import { noteOutage } from './outage-note.ts';

const defaultMs = 5 * 60_000;

/** `wait`: until an environment has reached a revision. */
export const waitCommand = defineCommand({
  summary: 'Wait until an environment has reached a revision',
  description:
    'Ends with exit code 0 when the environment is at this revision or a later one, and with 9 if that takes longer than --within. It polls nothing: the server reports each change. An id is that of an existing revision, so an unknown id is an error at once. With --converged, it then waits until the Secret of each SecretSync that reads the environment holds this revision or a later one, and until the pods of its workloads (spec.rollout) run with it. It asks the server every few seconds. It names those that are late, and clusters that do not report. It ends with 6 as soon as a SecretSync is stalled for 5 seconds although it has seen the revision, or cannot read. Pinned and suspended SecretSyncs are named and not waited for. --cluster, --namespace and --secret-sync limit the wait to some SecretSyncs, so that one of another team cannot end it. What they name and does not read the environment yet is waited for. You see namespaces if you may write to the environment.',
  options: {
    ...scopeOptions,
    revision: text(
      '--revision <revision>',
      'The revision to wait for, a number or id (default with --converged: the newest)',
    ),
    isConverged: flag('--converged', 'Also wait until all SecretSyncs that read the environment have it'),
    cluster: text('--cluster <cluster>', 'With --converged: only the SecretSyncs in this cluster'),
    ...selectionOptions,
    within: durationOption('--within <duration>', 'Longest wait, such as 90s or 1h (default: 5m)'),
  },
  examples: [
    { line: 'wait --revision 42', note: 'Until revision 42, at most five minutes' },
    {
      line: 'wait -e production --revision 42 --within 30m',
      note: 'In a pipeline that needs the change of another one',
    },
    { line: 'wait -e production --converged', note: 'Until the newest revision runs everywhere' },
    {
      line: 'wait -e production --revision 42 --converged --namespace payments',
      note: 'Until it runs in your namespace, whatever others do',
    },
  ],
  async run(context, { options }) {
    const scope = await context.scope(options);
    const { within = defaultMs, isConverged, cluster } = options;
    requireFitting(options);
    endOnSignals();
    const limit = AbortSignal.timeout(within);
    const wanted = options.revision ?? (await newestRevision(context, scope, limit));
    const awaited = { scope, wanted, limit };
    const current = await inTime(context, awaited, currentRevision);
    const isReached = !isNumber(wanted) || current.revision >= Number(wanted);
    const { revision, revisionId } = isReached ? current : await laterRevision(context, awaited, current);
    const value = { revision, revisionId } satisfies ReachedRevisionOutput;
    const sentence = `${shownScope(scope)} is at revision ${revision}`;
    if (!isConverged) return await context.printer.done({ value, sentence, name: revisionId });
    const number = await inTime(context, awaited, numberOf);
    const convergence = await untilConverged(context, {
      ...awaited,
      revision: number,
      cluster,
      selection: options,
    });
    noteExempt(context, convergence);
    const consumers = { reached: convergence.reached.length, exempt: convergence.exempt.map(exemptView) };
    const whole = { ...value, consumers } satisfies ReachedRevisionOutput;
    await context.printer.done({
      value: whole,
      sentence: `${sentence}${reachedText(consumers.reached, number)}`,
      name: revisionId,
    });
  },
});

interface SelectionFlags extends ConsumerSelection {
  readonly revision: string | undefined;
  readonly isConverged: boolean;
  readonly cluster: string | undefined;
}

/** Refuses flags that would have no effect, and names that are none. */
function requireFitting({ revision, isConverged, cluster, ...selection }: SelectionFlags): void {
  requireSecretSyncNames(selection);
  if (isConverged) return;
  if (revision === undefined)
    throw usageError('--revision <revision> is missing', 'With --converged it is the newest one');
  if (cluster !== undefined) throw usageError('--cluster needs --converged');
  if (selection.namespaces.length > 0) throw usageError('--namespace needs --converged');
  if (selection.secretSyncs.length > 0) throw usageError('--secret-sync needs --converged');
}

function reachedText(count: number, revision: number): string {
  if (count === 0) return ', and no SecretSync follows it';
  return `, and ${count === 1 ? '1 consumer has' : `${count} consumers have`} revision ${revision} or a later one`;
}

interface Awaited {
  readonly scope: Scope;
  /** Number or id of a revision. */
  readonly wanted: string;
  /** The end of --within. */
  readonly limit: AbortSignal;
}

/** The number of the newest revision. A later one is not waited for. */
async function newestRevision(context: CommandContext, scope: Scope, limit: AbortSignal): Promise<string> {
  return String((await inTime(context, { scope, wanted: '0', limit }, currentRevision)).revision);
}

/** Throws CliError late if the limit ends a request of `read`. */
async function inTime<Result>(
  context: CommandContext,
  awaited: Awaited,
  read: (api: ApiClient, awaited: Awaited) => Promise<Result>,
): Promise<Result> {
  try {
    return await read(context.api(awaited.limit), awaited);
  } catch (error) {
    if (!awaited.limit.aborted || !(error instanceof ClientError) || !error.isOutage) throw error;
    throw lateError(`${error.url} has not answered in time`);
  }
}

function lateError(message: string): CliError {
  return new CliError(exitCodes.late, message, { next: ['To wait longer, add --within <duration>'] });
}

/** The number of a revision that exists. */
async function numberOf(api: ApiClient, { scope, wanted }: Awaited): Promise<number> {
  if (isNumber(wanted)) return Number(wanted);
  return (await readKeys(api, scope, { revision: wanted })).revision;
}

function exemptView(consumer: ConsumerView): NonNullable<ReachedRevisionOutput['consumers']>['exempt'][number] {
  const { cluster, uid, namespace, name, source } = consumer;
  return { cluster, uid, namespace, name, source, why: whyExempt(consumer) };
}

interface Reached {
  readonly revision: number;
  readonly revisionId: string;
}

function isNumber(wanted: string): boolean {
  return /^[0-9]{1,15}$/.test(wanted);
}

/**
 * The revision of the environment now. An id is known from its commit on, so there is nothing to wait for: throws
 * ClientError notFound for one that is unknown.
 */
async function currentRevision(api: ApiClient, { scope, wanted }: Awaited): Promise<Reached> {
  const params = scopeParams(scope);
  if (!isNumber(wanted)) {
    if (!/^[0-9a-f-]{36}$/i.test(wanted)) throw usageError('--revision must be the number of a revision or its id');
    await call(api, 'GET /changes/{org}/{project}/{env}', { params, query: { since: wanted, limit: '1' } });
  }
  return (await call(api, 'GET /environments/{org}/{project}/{env}', { params })).body;
}

/** The first revision from the wanted one on that the environment reaches. Throws CliError late at the limit. */
async function laterRevision(
  context: CommandContext,
  { scope, wanted, limit }: Awaited,
  current: Reached,
): Promise<Reached> {
  let last = current.revision;
  const positions = followChanges({
    api: () => context.api(limit),
    scope,
    signal: limit,
    read: async ({ data }) => await Promise.resolve(data),
    onOutage: noteOutage(context),
  });
  for await (const position of positions) {
    last = position.revision;
    if (last >= Number(wanted)) return position;
  }
  throw lateError(`${shownScope(scope)} has not reached revision ${wanted} in time; it is at revision ${last}`);
}
