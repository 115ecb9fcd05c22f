import type { SecretSnapshot } from '../../../src/controller/generated/secret-snapshot.ts';
import type { SecretSync } from '../../../src/controller/generated/secret-sync.ts';
import { ResourceSite } from './resource-site.ts';
import type { Stack } from './stack.ts';
import type { TokenSite } from './token-site.ts';

/** What the resources of a namespace own in the database. */
export interface OwnedThings {
  /** What the API answers to a read with each of the tokens. */
  readonly answers: () => Promise<number[]>;
  /** How many snapshots the environment has. */
  readonly snapshots: () => Promise<number>;
}

/** The SecretSnapshots of a site's namespace. */
export function snapshotsIn({ kube }: Pick<Stack, 'kube'>, { namespace }: TokenSite): ResourceSite<SecretSnapshot> {
  return new ResourceSite({ kube, kind: 'SecretSnapshot', plural: 'secretsnapshots', namespace });
}

/**
 * Makes the ServiceTokens `ci` and `reader`, a SecretSnapshot `taken` with deletionPolicy Delete, a SecretSync `app` that
 * reads with `reader` and a SecretSync `plain` that names no token, and waits until each owns something.
 */
export async function fillNamespace(stack: Pick<Stack, 'kube' | 'admin'>, site: TokenSite): Promise<OwnedThings> {
  const { namespace, environment } = site;
  const source = { environmentRef: environment.ref };
  await site.create();
  await site.create({ permission: 'Read' }, 'reader');
  const taken = snapshotsIn(stack, site);
  await taken.create({ source, deletionPolicy: 'Delete' }, 'taken');
  const { kube } = stack;
  const syncs = new ResourceSite<SecretSync>({ kube, kind: 'SecretSync', plural: 'secretsyncs', namespace });
  const target = { deletionPolicy: 'Delete' };
  await syncs.create({ ...source, target, tokenRef: { name: 'reader' } }, 'app');
  await syncs.create({ ...source, target }, 'plain');
  await site.waitForSerial(1);
  await taken.waitForReason('taken', 'Taken');
  for (const name of ['app', 'plain']) await syncs.waitForReason(name, 'Synced');
  const tokens = [await site.value(), await site.value('reader')];
  const { organization, project, name } = environment.ref;
  return {
    answers: () => Promise.all(tokens.map((token) => site.answer(token))),
    snapshots: async () => {
      const path = `/snapshots/${organization}/${project}/${name}`;
      return (await stack.admin.call<{ snapshots: unknown[] }>('GET', path)).snapshots.length;
    },
  };
}
