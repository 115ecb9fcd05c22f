import { beforeEach, expect, test } from '@jest/globals';
import { createInitialSecrets } from '../../../src/roles/init/create-secrets.ts';
import { rootKeySecret } from '../../../src/roles/init/initial-secrets.ts';
import { SecretsClient } from '../../../src/kube/client/secrets.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { FakeCluster } from '../controller/fake-cluster.ts';

const collection = '/api/v1/namespaces/system/secrets';
const path = `${collection}/keys`;
let cluster: FakeCluster;

beforeEach(() => {
  cluster = new FakeCluster();
});

function init(): Promise<void> {
  const secrets = new SecretsClient({ client: cluster });
  const deps = { secrets, namespace: 'system', logger: createLogger('silent') };
  return createInitialSecrets(deps, [rootKeySecret({ secret: 'keys', key: 'root-key' })]);
}

/** Another client creates the Secret between the read and the write. */
function makeBetween(data: Readonly<Record<string, string>>): void {
  cluster.before(/^POST /, () => {
    cluster.put(collection, 'keys', (secret) => {
      secret['data'] = data;
    });
  });
}

test('one that another run makes in the same moment is kept', async () => {
  makeBetween({ 'root-key': 'dGhlaXJz' });
  await init();
  expect(cluster.get(path)?.['data']).toEqual({ 'root-key': 'dGhlaXJz' });
  expect(cluster.takeCalls()).toEqual([`GET ${path}`, `POST ${collection}`, `GET ${path}`]);
});

test('one that another makes in the same moment without its key is an error', async () => {
  makeBetween({ other: 'dGhlaXJz' });
  await expect(init()).rejects.toThrow('without the key root-key');
});

test('one that is deleted in the same moment is not made a second time by guess', async () => {
  makeBetween({ 'root-key': 'dGhlaXJz' });
  cluster.before(/^GET /, () => {
    cluster.before(/^GET /, () => cluster.remove(path));
  });
  await expect(init()).rejects.toThrow('created and deleted again and again');
});

test('one that is there is read, and nothing is written', async () => {
  cluster.put(collection, 'keys', (secret) => {
    secret['data'] = { 'root-key': 'dGhlaXJz' };
  });
  await init();
  expect(cluster.takeCalls()).toEqual([`GET ${path}`]);
});
