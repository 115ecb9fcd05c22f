import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { ApiClient, ApiEnvironment } from '../support/api/api-client.ts';
import { adminClient, discardNamespace } from '../support/cluster/cluster.ts';
import type { SecretObject } from '../support/cluster/secret-watch.ts';
import type { ServerProcess } from '../support/api/server-process.ts';
import { type SyncObject, isReady, randomValues } from './fleet.ts';
import { ObjectWatch } from './object-watch.ts';
import { processTimes, usedBetween } from './process-times.ts';
import { untilIdle } from './reconciles.ts';
import { compare, throughput } from './rounds.ts';
import { type SecretPlace, commitTime, startSecretPlace } from './secret-contender.ts';
import { startProcesses } from './site-processes.ts';

const defaultSize = 1_000;
const rounds = 5;
/** How many requests a bare loop sends at once: as many as the controller has workers. */
const concurrency = 24;
const settleMs = 3_000;
const restMs = 20_000;
const name = 'shared';
const group = '/apis/keyframe.dev/v1alpha1';
const clusterSyncs = `${group}/clustersecretsyncs`;
const mergePatch = 'application/merge-patch+json';

interface Site {
  readonly place: SecretPlace;
  readonly reconciling: ServerProcess;
  readonly environment: ApiEnvironment;
  readonly namespaces: readonly string[];
  readonly syncs: ObjectWatch<SyncObject>;
  readonly secrets: ObjectWatch<SecretObject>;
}

/**
 * One ClusterSecretSync for many namespaces: the first Secrets, one commit that all Secrets take, and a change of the template.
 * KEYFRAME_BENCH_SIZE says how many namespaces. Each has a bare loop of the same writes beside it, in interleaved rounds.
 */
export async function clusterSecretSync(): Promise<void> {
  await using resources = new AsyncDisposableStack();
  const place = await startSecretPlace(resources);
  const { client, reconciling } = await startProcesses(resources, place, { role: 'controller' });
  const namespaces = await makeNamespaces(resources, readSize(process.env['KEYFRAME_BENCH_SIZE']));
  await untilFilled(namespaces);
  const environment = await makeEnvironment(resources, client);
  const site: Site = {
    place,
    reconciling,
    environment,
    namespaces,
    syncs: await ObjectWatch.open<SyncObject>(resources, adminClient(), [`${group}/secretsyncs`]),
    secrets: await ObjectWatch.open<SecretObject>(resources, adminClient(), ['/api/v1/secrets']),
  };
  await untilIdle(reconciling, settleMs);
  await measureCreation(resources, site);
  await untilIdle(reconciling, settleMs);
  const floor = async (): Promise<number> => await putSecrets(place.namespace, namespaces.length);
  await compare({
    title: `one commit to ${namespaces.length} namespaces`,
    rounds,
    unit: '/s',
    floor,
    keyframe: async () => await settled(reconciling, await fanOut(site)),
    aim: 0.7,
  });
  await compare({
    title: `a label in the template, ${namespaces.length} namespaces`,
    rounds,
    unit: '/s',
    floor: async () => await settled(reconciling, await patchSyncs(site)),
    keyframe: async () => await settled(reconciling, await changeTemplate(site)),
    aim: 0.7,
  });
  await reportRest(site);
}

function readSize(text: string | undefined): number {
  const size = text === undefined ? defaultSize : Number(text);
  if (Number.isSafeInteger(size) && size > 0) return size;
  throw new Error('KEYFRAME_BENCH_SIZE must be a number of namespaces');
}

/** Waits until the controller is idle, so that nothing of one round is left for the next. */
async function settled(reconciling: ServerProcess, figure: number): Promise<number> {
  await untilIdle(reconciling, settleMs);
  return figure;
}

async function makeNamespaces(resources: AsyncDisposableStack, count: number): Promise<readonly string[]> {
  const prefix = `bench-${randomBytes(3).toString('hex')}`;
  const names = Array.from({ length: count }, (_, index) => `${prefix}-${index}`);
  let next = 0;
  await throughput(count, concurrency, async () => {
    const metadata = { name: names[next++], labels: { bench: name } };
    const body = { apiVersion: 'v1', kind: 'Namespace', metadata };
    await adminClient().json({ method: 'POST', path: '/api/v1/namespaces', body });
  });
  for (const namespace of names) resources.defer(() => discardNamespace(namespace));
  return names;
}

/** Waits until each namespace has what Kubernetes puts there: with thousands, its controllers take minutes. */
async function untilFilled(namespaces: readonly string[]): Promise<void> {
  await using resources = new AsyncDisposableStack();
  const given = { '/api/v1/serviceaccounts': 'default', '/api/v1/configmaps': 'kube-root-ca.crt' };
  for (const [path, object] of Object.entries(given)) {
    const watch = await ObjectWatch.open(resources, adminClient(), [path]);
    const keys = namespaces.map((namespace) => `${namespace}/${object}`);
    await watch.all('be there', keys, () => true);
  }
}

/** An environment that the labelled namespaces may read. */
async function makeEnvironment(resources: AsyncDisposableStack, client: ApiClient): Promise<ApiEnvironment> {
  const environment = await client.makeEnvironment();
  await environment.change(randomValues());
  const { organization, project, name: slug } = environment.ref;
  const rules = [{ organization, project, environments: [slug], kinds: ['SecretSync'] }];
  const spec = { namespaceSelector: { matchLabels: { bench: name } }, rules };
  await create(resources, `${group}/accessgrants`, 'AccessGrant', spec);
  return environment;
}

async function create(resources: AsyncDisposableStack, path: string, kind: string, spec: object): Promise<void> {
  const body = { apiVersion: 'keyframe.dev/v1alpha1', kind, metadata: { name }, spec };
  await adminClient().json({ method: 'POST', path, body });
  resources.defer(async () => void (await adminClient().find({ method: 'DELETE', path: `${path}/${name}` })));
}

/** From the ClusterSecretSync to the last Secret, beside a bare loop that makes a SecretSync and a Secret for each. */
async function measureCreation(resources: AsyncDisposableStack, site: Site): Promise<void> {
  const { place, namespaces, secrets, syncs, environment } = site;
  let next = 0;
  const floor = await throughput(namespaces.length, concurrency, async () => {
    const index = next++;
    await writeSecret(place.namespace, 'POST', index);
    const body = {
      apiVersion: 'keyframe.dev/v1alpha1',
      kind: 'SecretSync',
      metadata: { name: `bare-${index}` },
      spec: { environmentRef: environment.ref, suspend: true },
    };
    await adminClient().json({ method: 'POST', path: `${group}/namespaces/${place.namespace}/secretsyncs`, body });
  });
  await untilIdle(site.reconciling, settleMs);
  const startedAtMs = now();
  const template = { spec: { environmentRef: environment.ref } };
  await create(resources, clusterSyncs, 'ClusterSecretSync', {
    namespaceSelector: { matchLabels: { bench: name } },
    template,
  });
  const keys = keysOf(site);
  const lastAtMs = await secrets.all('be there', keys, () => true);
  await syncs.all('be Ready', keys, isReady);
  const rate = (namespaces.length * 1000) / (lastAtMs - startedAtMs);
  console.log(
    `${`the first Secrets of ${namespaces.length} namespaces`.padEnd(44)}floor ${floor.toFixed(1).padStart(9)} /s  ` +
      `keyframe ${rate.toFixed(1).padStart(9)} /s  ratio ${(rate / floor).toFixed(2)}`,
  );
}

/** One commit; returns how many Secrets a second took it. */
async function fanOut(site: Site): Promise<number> {
  const { place, secrets, environment } = site;
  const value = randomBytes(12).toString('hex');
  const wanted = Buffer.from(value).toString('base64');
  const keys = keysOf(site);
  const all = secrets.all('take the change', keys, ({ data }) => data?.['KEY_0'] === wanted);
  const { revisionId } = await environment.change({ KEY_0: value });
  const lastAtMs = await all;
  const sql = 'SELECT xmin FROM environment_revision WHERE id = $1';
  return (keys.length * 1000) / (lastAtMs - (await commitTime(place.database, sql, revisionId)));
}

/** Another label in the template; returns how many SecretSyncs a second got it. */
async function changeTemplate(site: Site): Promise<number> {
  const round = randomBytes(6).toString('hex');
  const keys = keysOf(site);
  const all = site.syncs.all('get the label', keys, ({ metadata }) => metadata.labels?.['round'] === round);
  const startedAtMs = now();
  const body = { spec: { template: { labels: { round } } } };
  await adminClient().json({ method: 'PATCH', path: `${clusterSyncs}/${name}`, contentType: mergePatch, body });
  return (keys.length * 1000) / ((await all) - startedAtMs);
}

/** A bare loop that patches a label of as many SecretSyncs. */
async function patchSyncs({ place, namespaces }: Site): Promise<number> {
  const body = { metadata: { labels: { round: randomBytes(6).toString('hex') } } };
  let next = 0;
  return await throughput(namespaces.length, concurrency, async () => {
    const path = `${group}/namespaces/${place.namespace}/secretsyncs/bare-${next++}`;
    await adminClient().json({ method: 'PATCH', path, contentType: mergePatch, body });
  });
}

/** A bare loop of PUTs; returns how many a second. */
async function putSecrets(namespace: string, count: number): Promise<number> {
  let next = 0;
  return await throughput(count, concurrency, () => writeSecret(namespace, 'PUT', next++));
}

async function writeSecret(namespace: string, method: 'POST' | 'PUT', index: number): Promise<void> {
  const secret = `bare-${index}`;
  const path = `/api/v1/namespaces/${namespace}/secrets${method === 'POST' ? '' : `/${secret}`}`;
  const body = { apiVersion: 'v1', kind: 'Secret', metadata: { name: secret }, stringData: randomValues() };
  await adminClient().json({ method, path, body });
}

/** What the controller uses while nothing happens. */
async function reportRest({ reconciling, namespaces }: Site): Promise<void> {
  await untilIdle(reconciling, settleMs);
  const [before, startedAt] = [processTimes(), performance.now()];
  await pause(restMs);
  const used = usedBetween(before, processTimes()).get('keyframe-server controller') ?? 0;
  const share = ((used * 100) / (performance.now() - startedAt)).toFixed(1);
  console.log(`${`at rest, ${namespaces.length} namespaces`.padEnd(44)}controller ${share} % of a core`);
}

function keysOf({ namespaces }: Site): readonly string[] {
  return namespaces.map((namespace) => `${namespace}/${name}`);
}

function now(): number {
  return performance.timeOrigin + performance.now();
}
