import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type AuditEntry, type AuditMark, sharedAuditLog } from '../support/cluster/audit-log.ts';
import { PostgresProxy, runs } from '../support/faults/postgres-proxy.ts';
import type { ServerProcess } from '../support/api/server-process.ts';
import { Stack } from '../support/cluster/stack.ts';
import type { SyncSite } from '../support/cluster/sync-site.ts';
import { TokenSync } from '../support/cluster/token-sync.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

const resources = new AsyncDisposableStack();
const syncCount = process.env['KEYFRAME_TEST_SCALE'] === 'full' ? 100 : 30;
const resyncSeconds = 2;
const auditLog = sharedAuditLog();
const sites: SyncSite[] = [];
let stack: Stack;
let proxy: PostgresProxy;
let controller: ServerProcess;
let owner: TokenSync;

beforeAll(async () => {
  stack = await Stack.start(resources, { namespaces: 4 });
  proxy = await PostgresProxy.start(stack.databaseUrl);
  resources.defer(() => proxy.close());
  // Each with an environment and a token of its own.
  for (let made = 0; made < syncCount; made += 1) {
    const namespace = stack.namespaces[made % stack.namespaces.length] ?? '';
    sites.push(await stack.makeSite({ namespace, name: `app-${made}`, values: { KEY: `value of ${made}` } }));
  }
  // And one that names no token.
  owner = await TokenSync.make(stack);
  await owner.create();
  await startController();
  await owner.waitForValues({ A: 'alpha' });
  for (const [index, site] of sites.entries()) await site.waitUntilSynced({ KEY: `value of ${index}` });
  await settle();
});

afterAll(async () => {
  // AccessGrants are the whole cluster's.
  await owner.site.withdraw();
  await resources.disposeAsync();
});

async function startController(): Promise<void> {
  const env = { RESYNC_INTERVAL: `${resyncSeconds}s` };
  controller = await stack.startController({ databaseUrl: proxy.url, env });
}

/** What the controller has asked of the API server since the mark. */
async function requestsSince(mark: AuditMark): Promise<{ watches: number; renewals: AuditEntry[]; others: string[] }> {
  const entries = (await auditLog.since(mark)).filter(({ user }) => user.username === stack.controllerUser);
  const isRenewal = (entry: AuditEntry): boolean => shown(entry) === renewal;
  return {
    watches: entries.filter(({ verb, stage }) => verb === 'watch' && stage === 'ResponseStarted').length,
    renewals: entries.filter(isRenewal),
    others: entries
      .filter((entry) => entry.verb !== 'watch' && !isRenewal(entry) && !isOfOthers(entry) && !isDiscovery(entry))
      .map(shown),
  };
}

/** Whether it reads the issuer of the cluster, as the leader does once a minute. */
function isDiscovery({ requestURI }: AuditEntry): boolean {
  return requestURI === '/.well-known/openid-configuration' || requestURI === '/openid/v1/jwks';
}

/** Whether it is about a resource of another test: some belong to the whole cluster, and each controller reports on them. */
function isOfOthers({ objectRef = {} }: AuditEntry): boolean {
  const { resource, namespace = '', name = '' } = objectRef;
  if (resource === 'clustersecretsyncs') return true;
  if (resource === 'accessgrants') return !stack.namespaces.some((own) => name.includes(own));
  // Events about what has no namespace.
  return resource === 'events' && namespace === 'default';
}

// What is always written: that the controller which works is alive.
const renewal = 'update leases keyframe-controller 200';

/** Verb, resource, name and answer. */
function shown({ verb, objectRef, responseStatus }: AuditEntry): string {
  const resource = [objectRef?.resource, objectRef?.subresource].filter((part) => part !== undefined).join('/');
  return `${verb} ${resource} ${objectRef?.name} ${responseStatus?.code}`;
}

const comparisons = (): number => proxy.count(runs(/^SELECT found\.id, found\."revisionId"/));

async function passComparisons(count: number): Promise<void> {
  const before = comparisons();
  const timeoutMs = count * resyncSeconds * 1000 * 2;
  await waitFor(`${count} comparisons of everything`, () => comparisons() >= before + count, { timeoutMs });
}

test('nothing is asked of the API server over three resync periods but to renew the Lease and to read its issuer', async () => {
  const beganMs = performance.now();
  const mark = await auditLog.mark();
  await passComparisons(3);
  const { watches, renewals, others } = await requestsSince(mark);
  expect(others).toEqual([]);
  expect(renewals.length).toBeGreaterThan(0);
  // Every two seconds, a fifth more or less.
  expect(renewals.length).toBeLessThanOrEqual((performance.now() - beganMs) / 1_600 + 1);
  // Each lasts minutes, so few of them can have come to their end just now: there is one at least for each SecretSync.
  expect(watches).toBeLessThan(10);
});

test('one changed value is one write of its Secret and one status patch', async () => {
  const [site] = sites;
  const mark = await auditLog.mark();
  await site?.environment.change({ KEY: 'changed' });
  await site?.waitUntilSynced({ KEY: 'changed' });
  await passComparisons(2);
  const { others } = await requestsSince(mark);
  expect(others.filter(isWrite)).toEqual(['update secrets app-0 200', 'patch secretsyncs/status app-0 200']);
  // A token is read for each reconcile, and nothing else is.
  expect(others.filter((request) => !isWrite(request))).toEqual(['get secrets app-0-token 200']);
});

test('without a token of its own, nothing is read from the API server either', async () => {
  const mark = await auditLog.mark();
  await owner.site.environment.change({ A: 'changed' });
  await owner.waitForValues({ A: 'changed' });
  await passComparisons(2);
  const { others } = await requestsSince(mark);
  expect(others).toEqual(['update secrets app 200', 'patch secretsyncs/status app 200']);
});

test('a controller that starts over what is in step writes nothing', async () => {
  await controller.stop();
  const mark = await auditLog.mark();
  await startController();
  const looks = (others: readonly string[]): number =>
    others.filter((request) => /^get secrets app-\d+ 200$/.test(request)).length;
  await waitFor(
    'the controller to look at each Secret',
    async () => looks((await requestsSince(mark)).others) >= syncCount,
    { timeoutMs: 60_000 },
  );
  await settle();
  const { watches, others } = await requestsSince(mark);
  expect(others.filter(isWrite)).toEqual([]);
  expect(looks(others)).toBe(syncCount);
  expect(watches).toBeGreaterThanOrEqual(syncCount);
});

const isWrite = (request: string): boolean => !/^(?:get|list) /.test(request);

/** Waits until the first reconciles and their echoes are over: a whole period without a request. */
async function settle(): Promise<void> {
  await waitFor(
    'the controller to be done with the first reconciles',
    async () => {
      const mark = await auditLog.mark();
      await passComparisons(1);
      return (await requestsSince(mark)).others.length === 0;
    },
    { timeoutMs: 60_000 },
  );
}
