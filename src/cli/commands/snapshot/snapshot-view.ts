import { apiPath } from '../../../client/api-client.ts';
import { CliError, usageError } from '../../cli-error.ts';
import { ClientError } from '../../../client/client-error.ts';
import type { CommandContext } from '../../command.ts';
import { exitCodes } from '../../exit-codes.ts';
import type { ObjectView } from '../../terminal/printer.ts';
import type { Scope } from '../../settings/scope.ts';
import type { SnapshotView } from '../../../wire/snapshots.ts';

/** A snapshot that was found by its id, with the slugs of its environment. */
export type PlacedSnapshot = SnapshotView & Scope;

/** How a snapshot is shown. */
export function snapshotFields(snapshot: SnapshotView): ObjectView['fields'] {
  return [
    ['Id', snapshot.id],
    ['Name', snapshot.name],
    ['Description', snapshot.description],
    ['Created by', snapshot.createdByName],
    ['Created at', snapshot.createdAt],
    ['Secrets', snapshot.secretCount],
    ['Revision', snapshot.revision],
  ];
}

const uuidPattern = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const whereIds = ['See which there are, and their ids: keyframe snapshot list'];

/** The snapshot and the slugs of its environment, by its id alone. */
export async function findSnapshot({ api }: CommandContext, id: string): Promise<PlacedSnapshot> {
  // Names are no ids: several snapshots may have the same one.
  if (!uuidPattern.test(id)) throw usageError(`${JSON.stringify(id)} is not the id of a snapshot`, ...whereIds);
  try {
    return await api().get<PlacedSnapshot>(apiPath`/snapshots/${id.toLowerCase()}`);
  } catch (error) {
    if (!(error instanceof ClientError) || !error.isNotFound) throw error;
    throw new CliError(exitCodes.notFound, error.message, { cause: error, next: whereIds });
  }
}

/** The path of a snapshot, or of what is below it, from its slugs. */
export function snapshotPath({ organization, project, environment, id }: PlacedSnapshot): string {
  return apiPath`/snapshots/${organization}/${project}/${environment}/${id}`;
}

/** A snapshot in a sentence: its name if it has one, else its id. */
export function snapshotTitle({ id, name }: Pick<SnapshotView, 'id' | 'name'>): string {
  return name === null ? id : `"${name}" (${id})`;
}
