import { call } from '../../../client/call.ts';
import { ClientError } from '../../../client/client-error.ts';
import type { SnapshotView } from '../../../wire/snapshots.ts';
import { CliError, usageError } from '../../core/cli-error.ts';
import type { CommandContext } from '../../core/command.ts';
import { exitCodes } from '../../core/exit-codes.ts';
import { argument, completing } from '../../core/options.ts';
import { type Scope, type ScopeFlags, scopeParams } from '../../settings/scope.ts';
import type { ObjectView } from '../../terminal/printer.ts';
import { time } from '../../terminal/time.ts';
import { isId, thingOf } from '../named-thing.ts';
import { clusterField } from '../vouching-cluster.ts';
import { scopeFlags, shownScope } from '../secret/secrets-api.ts';

/** A snapshot that was found, with the slugs of its environment. */
export type PlacedSnapshot = SnapshotView & Scope;

/** The argument that names a snapshot: for `findSnapshot`. */
export const snapshotArgument = completing(
  'snapshot',
  argument('<snapshot>', 'Id, unique name, or latest for the newest one'),
);

/** How a snapshot is shown. */
export function snapshotFields(snapshot: SnapshotView): ObjectView['fields'] {
  return [
    ['Id', snapshot.id],
    ['Name', snapshot.name],
    ['Description', snapshot.description],
    ['Created by', snapshot.createdByName],
    ...clusterField(snapshot.createdByCluster),
    ['Created at', time(snapshot.createdAt)],
    ['Secrets', snapshot.secretCount],
    ['Revision', snapshot.revision],
  ];
}

/**
 * The snapshot with an id, or with a name in the environment of flags and folder. Throws CliError usage if the flags name
 * another environment than that of the id.
 */
export async function findSnapshot(context: CommandContext, given: string, flags: ScopeFlags): Promise<PlacedSnapshot> {
  if (!isId(given)) return await findNamedSnapshot(context, given, await context.scope(flags));
  const snapshot = await readSnapshot(context, given);
  const wanted = [flags.organization, flags.project, flags.environment];
  const own = [snapshot.organization, snapshot.project, snapshot.environment];
  if (wanted.every((slug, index) => slug === undefined || slug === own[index])) return snapshot;
  throw usageError(`snapshot ${snapshot.id} is one of ${shownScope(snapshot)}, and the flags name another environment`);
}

/** The snapshot of an environment with this id, name, or `latest`. */
export async function findSnapshotIn(context: CommandContext, given: string, scope: Scope): Promise<string> {
  return isId(given) ? given : (await findNamedSnapshot(context, given, scope)).id;
}

async function findNamedSnapshot({ api }: CommandContext, given: string, scope: Scope): Promise<PlacedSnapshot> {
  const { organization, project, environment } = scope;
  const { body } = await call(api(), 'GET /snapshots/{org}/{project}/{env}', { params: scopeParams(scope) });
  const snapshot = thingOf(given, {
    things: body.snapshots,
    word: 'snapshot',
    place: `of ${shownScope(scope)}`,
    listedBy: `keyframe snapshot list ${scopeFlags(scope)}`,
  });
  return { ...snapshot, organization, project, environment };
}

async function readSnapshot({ api }: CommandContext, id: string): Promise<PlacedSnapshot> {
  try {
    return (await call(api(), 'GET /snapshots/{id}', { params: { id: id.toLowerCase() } })).body;
  } catch (error) {
    if (!(error instanceof ClientError) || !error.isNotFound) throw error;
    const next = ['See the snapshots, and their ids: keyframe snapshot list'];
    throw new CliError(exitCodes.notFound, error.message, { cause: error, next });
  }
}

/** The names of a snapshot in the path of an endpoint. */
export function snapshotParams(snapshot: PlacedSnapshot): ReturnType<typeof scopeParams> & { readonly id: string } {
  return { ...scopeParams(snapshot), id: snapshot.id };
}

/** A snapshot in a sentence: its name if it has one, else its id. */
export function snapshotTitle({ id, name }: Pick<SnapshotView, 'id' | 'name'>): string {
  return name === null ? id : `"${name}" (${id})`;
}
