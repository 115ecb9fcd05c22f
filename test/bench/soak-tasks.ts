import { randomUUID } from 'node:crypto';
import { reconcileAtAnnotation } from '../../src/controller/annotations.ts';
import type { ApiEnvironment } from '../support/api/api-client.ts';
import { adminClient } from '../support/cluster/cluster.ts';
import type { Followed, SoakCrowd } from './soak-crowd.ts';
import type { LoadTask } from './soak-load.ts';

const contentType = 'application/merge-patch+json';
const second = 1_000;

/**
 * The load of a soak, some twenty-five writes of Secrets a second with a thousand SecretSyncs. It leaves time to rest: the
 * machine's limits are the scale bench's matter. The rotation of tokens goes on by itself.
 */
export function soakTasks(crowd: SoakCrowd): readonly LoadTask[] {
  const { fleet } = crowd;
  const shared = inTurn(fleet.environments);
  const own = inTurn([...crowd.environments.values()]);
  const namespaces = inTurn(fleet.namespaces);
  const edited = inTurn(spread(crowd.followed()));
  const asked = inTurn(spread(crowd.followed()).toReversed());
  const edits = inTurn([replaceValue, addKey, removeKey, deleteSecret]);
  const writeShared = sharedWriter();
  return [
    {
      name: 'writes that a hundred SecretSyncs take',
      everyMs: 6 * second,
      run: () => writeShared(shared()),
    },
    {
      name: 'writes that one or two SecretSyncs take',
      everyMs: second,
      run: async () => void (await own().change({ KEY_1: randomUUID() })),
    },
    { name: 'edited or deleted Secrets', everyMs: 2 * second, run: () => edits()(edited()) },
    { name: 'syncs asked for', everyMs: 2 * second, run: () => askForSync(asked()) },
    {
      name: 'SecretSyncs deleted or created',
      everyMs: 3 * second,
      run: () => crowd.togglePassing(namespaces()),
    },
  ];
}

/** Each write changes a value, and adds a further key or takes it away again: the Secrets' keys change as well. */
function sharedWriter(): (environment: ApiEnvironment) => Promise<void> {
  const withFurther = new Set<ApiEnvironment>();
  return async (environment) => {
    const hasFurther = withFurther.has(environment);
    const further = hasFurther ? {} : { FURTHER: randomUUID() };
    await environment.change({ KEY_0: randomUUID(), ...further }, hasFurther ? ['FURTHER'] : []);
    if (hasFurther) withFurther.delete(environment);
    else withFurther.add(environment);
  };
}

/** Returns the items one after the other, again and again. */
function inTurn<T>(items: readonly T[]): () => T {
  let next = 0;
  return () => {
    const item = items[next++ % items.length];
    if (item === undefined) throw new Error('there is nothing to take in turn');
    return item;
  };
}

// Has no factor in common with the number of namespaces or environments, so that the load meets all of them early.
const stride = 37;

function spread<T>(items: readonly T[]): readonly T[] {
  const step = items.length % stride === 0 ? 1 : stride;
  return items.map((_, index) => items[(index * step) % items.length] as T);
}

function secretPath({ namespace, name }: Followed): string {
  return `/api/v1/namespaces/${namespace}/secrets/${name}`;
}

async function patchSecret(followed: Followed, data: Readonly<Record<string, string | null>>): Promise<void> {
  // The one before may still be missing, if it was deleted a moment ago.
  await adminClient().find({ method: 'PATCH', path: secretPath(followed), contentType, body: { data } });
}

const editedValue = Buffer.from('edited by hand').toString('base64');

const replaceValue = (followed: Followed): Promise<void> => patchSecret(followed, { KEY_2: editedValue });
const addKey = (followed: Followed): Promise<void> => patchSecret(followed, { ADDED: editedValue });
const removeKey = (followed: Followed): Promise<void> => patchSecret(followed, { KEY_3: null });

async function deleteSecret(followed: Followed): Promise<void> {
  await adminClient().find({ method: 'DELETE', path: secretPath(followed) });
}

async function askForSync({ namespace, name }: Followed): Promise<void> {
  const path = `/apis/keyframe.dev/v1alpha1/namespaces/${namespace}/secretsyncs/${name}`;
  const body = { metadata: { annotations: { [reconcileAtAnnotation]: randomUUID() } } };
  await adminClient().find({ method: 'PATCH', path, contentType, body });
}
