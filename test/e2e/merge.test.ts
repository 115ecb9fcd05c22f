import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { SharedSecret, consent, makeMergeSite } from '../support/cluster/merge-site.ts';
import { Stack } from '../support/cluster/stack.ts';
import { SecretWatch, secretValues } from '../support/cluster/secret-watch.ts';
import type { SyncSite } from '../support/cluster/sync-site.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

const resources = new AsyncDisposableStack();
const values = { A: '1', B: '2' };
const theirs = { THEIRS: 'x' };
let stack: Stack;

beforeAll(async () => {
  stack = await Stack.start(resources, { namespaces: 20 });
  await stack.startController();
});

afterAll(() => resources.disposeAsync());

/** A SecretSync with its keys merged into a Secret that has one of its own. */
async function makeMerged(spec: Record<string, unknown> = {}): Promise<{ site: SyncSite; shared: SharedSecret }> {
  const site = await makeMergeSite(stack, { values, spec, withoutSync: true });
  const shared = new SharedSecret(site);
  await shared.create(theirs, 'app');
  await site.createSync();
  await shared.waitUntilMerged({ ...theirs, ...values }, 2);
  return { site, shared };
}

async function messageOf(site: SyncSite, reason: string): Promise<string> {
  return (await site.waitForReason(reason)).message;
}

describe('a Secret of something else', () => {
  test('is waited for, asked for its consent, and merged into as soon as it gives that', async () => {
    const site = await makeMergeSite(stack, { values });
    const shared = new SharedSecret(site);
    expect(await messageOf(site, 'TargetNotFound')).toContain(`${consent}: app`);
    const foreign = await shared.create(theirs, 'other');
    const command = `\`kubectl annotate --overwrite secret -n ${site.namespace} shared ${consent}=other,app\``;
    expect(await messageOf(site, 'TargetNotOwned')).toContain(command);
    await site.environment.change({ A: 'later' });
    await site.expectStays(async () => expect(await shared.get()).toEqual(foreign));
    await shared.allow('other, app');
    const { metadata } = await shared.waitUntilMerged({ ...theirs, A: 'later', B: '2' }, 2);
    expect(metadata.uid).toBe(foreign.metadata.uid);
    expect(metadata.labels).toBeUndefined();
    expect(Object.keys(metadata.annotations ?? {}).sort()).toEqual([consent, 'merge.keyframe.dev/app']);
  });

  test('that takes its consent back keeps the keys as they were, until it gives it again', async () => {
    const { site, shared } = await makeMerged();
    await shared.allow(undefined);
    expect(await messageOf(site, 'TargetNotOwned')).toContain('keys merged earlier stay');
    await site.environment.change({ A: 'later' }, ['B']);
    await shared.replace((data) => {
      data['THEIRS'] = btoa('y');
    });
    await site.expectStays(async () => expect(await shared.values()).toEqual({ THEIRS: 'y', ...values }));
    await shared.allow('app');
    await shared.waitUntilMerged({ THEIRS: 'y', A: 'later' }, 1);
  });

  test('that is deleted and made again is merged into again', async () => {
    const { site, shared } = await makeMerged();
    await shared.delete();
    await site.waitForReason('TargetNotFound');
    await shared.create({ NEW: 'n' }, 'app');
    await shared.waitUntilMerged({ NEW: 'n', ...values }, 2);
  });

  test('keeps our keys when the SecretSync goes, and one of its name takes them over', async () => {
    const { site, shared } = await makeMerged();
    const before = await shared.get();
    const isAsBefore = async (): Promise<void> => expect(await shared.get()).toEqual(before);
    await site.patchSync({ spec: { suspend: true } });
    await site.waitForReason('Suspended');
    await site.environment.change({ A: 'later' }, ['B']);
    await site.expectStays(isAsBefore);
    await site.deleteSync();
    await site.expectStays(isAsBefore);
    await site.createSync();
    await shared.waitUntilMerged({ ...theirs, A: 'later' }, 1);
  });

  test.each([
    ['is immutable', { immutable: true }, {}, 'is immutable'],
    ['belongs to a SecretSync', {}, { 'keyframe.dev/owned-by': 'other' }, 'belongs to the SecretSync other'],
    ['says that it is its own', {}, { 'keyframe.dev/owned-by': 'app' }, 'by its annotation keyframe.dev/owned-by'],
    ['is a token Secret', {}, { 'keyframe.dev/owned-by-token': 'ci' }, 'belongs to a ServiceToken'],
  ])('is not merged into where it %s', async (_, more, annotations, message) => {
    const site = await makeMergeSite(stack, { values, withoutSync: true });
    const shared = new SharedSecret(site);
    await shared.create(theirs, 'app', more);
    const before = await shared.patch({ metadata: { annotations } });
    await site.createSync();
    expect(await messageOf(site, 'MergeRefused')).toContain(message);
    await site.expectStays(async () => expect(await shared.get()).toEqual(before));
  });

  test('is not merged into where Kubernetes fills it with the token of a ServiceAccount', async () => {
    const site = await makeMergeSite(stack, { values, withoutSync: true });
    const shared = new SharedSecret(site);
    const metadata = {
      name: 'shared',
      annotations: { [consent]: 'app', 'kubernetes.io/service-account.name': 'default' },
    };
    const body = { apiVersion: 'v1', kind: 'Secret', type: 'kubernetes.io/service-account-token', metadata };
    await site.kube.json({ method: 'POST', path: `/api/v1/namespaces/${site.namespace}/secrets`, body });
    await site.createSync();
    expect(await messageOf(site, 'MergeRefused')).toContain('kubernetes.io/service-account-token');
    expect(Object.keys(await shared.values())).not.toContain('A');
  });
});

describe('keys', () => {
  test('that the environment or the spec takes away vanish, those of others stay', async () => {
    const { site, shared } = await makeMerged();
    await site.environment.change({ C: '3' }, ['A']);
    await shared.waitUntilMerged({ ...theirs, B: '2', C: '3' }, 2);
    await site.patchSync({ spec: { keys: { rename: [{ from: 'C', to: 'c' }], exclude: ['B'] } } });
    await shared.waitUntilMerged({ ...theirs, c: '3' }, 1);
    await site.patchSync({ spec: { keys: { include: [] } } });
    await shared.waitUntilMerged(theirs, 0);
  });

  test('that another client removed are put back', async () => {
    const { shared } = await makeMerged();
    await shared.replace((data) => {
      delete data['A'];
    });
    await shared.waitUntilMerged({ ...theirs, ...values }, 2);
  });

  test('of others stay byte by byte while all write at once, and ours arrive', async () => {
    const { site, shared } = await makeMerged();
    const bytes = randomBytes(4096).toString('base64');
    await shared.patch({ data: { BYTES: bytes } });
    const rounds = Array.from({ length: 25 }, (_, n) => String(n));
    await Promise.all([
      (async () => {
        for (const n of rounds) await site.environment.change({ A: n, [`OURS_${n}`]: n });
      })(),
      (async () => {
        for (const n of rounds) {
          const applied = { [`APPLIED_${n}`]: n, COUNT: n };
          expect((await shared.apply({ manager: 'kubectl', values: applied })).status).toBe(200);
        }
      })(),
      (async () => {
        for (const n of rounds)
          await shared.replace((data) => {
            data['PUT'] = btoa(n);
          });
      })(),
    ]);
    const ours = Object.fromEntries(rounds.map((n) => [`OURS_${n}`, n]));
    const last = rounds.at(-1) ?? '';
    await waitFor('our keys to be there', async () => {
      const { BYTES, ...rest } = await shared.values();
      expect(rest).toEqual({ ...theirs, ...ours, A: last, B: '2', PUT: last, COUNT: last, [`APPLIED_${last}`]: last });
      return BYTES;
    });
    expect((await shared.get()).data).toMatchObject({ BYTES: bytes });
    await site.waitForReason('Synced');
  });

  test('of two SecretSyncs meet in one Secret, and a key that both want is the earlier one’s', async () => {
    const { site, shared } = await makeMerged();
    const { namespace } = site;
    const second = await makeMergeSite(stack, { values: { A: 'mine', C: '3' }, namespace, name: 'second' });
    await second.waitForReason('TargetNotOwned');
    await shared.allow('app,second');
    const message = await messageOf(second, 'MergeConflict');
    expect(message).toContain('keys of Secret shared with other values: A (keyframe-merge-app).');
    await second.expectStays(async () => expect(await shared.values()).toEqual({ ...theirs, ...values }));
    await second.patchSync({ spec: { keys: { exclude: ['A'] } } });
    await new SharedSecret(second).waitUntilMerged({ ...theirs, ...values, C: '3' }, 1);
    await shared.waitUntilMerged({ ...theirs, ...values, C: '3' }, 2);
    await second.patchSync({ spec: { keys: { exclude: [], rename: [{ from: 'A', to: 'a' }] } } });
    await site.environment.change({ B: 'later' });
    await shared.waitUntilMerged({ ...theirs, A: '1', B: 'later', C: '3', a: 'mine' }, 2);
  });

  test('that are lost are counted against what the environment may lose, without those of others', async () => {
    const { site, shared } = await makeMerged({ maxDeletedKeys: 1 });
    await site.environment.change({}, ['A', 'B']);
    const message = await messageOf(site, 'DeletionBlocked');
    expect(message).toContain('lost 2 of the 2 keys of Secret shared');
    expect(message).toContain('(A, B)');
    await site.expectStays(async () => expect(await shared.values()).toEqual({ ...theirs, ...values }));
    const digest = /allow-deletion=([0-9a-f]{32})/.exec(message)?.[1];
    await site.patchSync({ metadata: { annotations: { 'keyframe.dev/allow-deletion': digest } } });
    await shared.waitUntilMerged(theirs, 0);
  });

  test('of another environment in the same place are not merged until the record is taken off', async () => {
    const { site, shared } = await makeMerged();
    const annotation = 'merge.keyframe.dev/app';
    const { organization, project, name } = site.environment.ref;
    const source = `${organization}/${project}/${name}@00000000-0000-4000-8000-000000000000`;
    const ofAnother = await shared.patch({ metadata: { annotations: { [annotation]: JSON.stringify({ source }) } } });
    expect(await messageOf(site, 'SourceReplaced')).toContain(`shared ${annotation}-\``);
    await site.environment.change({ A: 'later' });
    await site.expectStays(async () => {
      expect(await shared.get()).toEqual(ofAnother);
      expect(await site.condition('Ready')).toMatchObject({ reason: 'SourceReplaced' });
    });
    await shared.patch({ metadata: { annotations: { [annotation]: null } } });
    await shared.waitUntilMerged({ ...theirs, A: 'later', B: '2' }, 2);
  });

  test('that are too many beside those of others are reported', async () => {
    const { site, shared } = await makeMerged();
    await shared.patch({ data: { LARGE: Buffer.alloc(600_000, 'x').toString('base64') } });
    await site.environment.change({ ALSO_1: 'y'.repeat(250_000), ALSO_2: 'y'.repeat(250_000) });
    expect(await messageOf(site, 'TooLarge')).toContain('with the keys of others');
    await shared.patch({ data: { LARGE: null } });
    await waitFor('the keys to be merged', async () => 'ALSO_2' in (await shared.values()));
    await site.waitForReason('Synced');
  });

  test('that their owner takes out again and again cost a write a second, no storm', async () => {
    const { site, shared } = await makeMerged();
    const watch = await SecretWatch.open(stack.kube, { namespace: site.namespace, name: 'shared' });
    const writes = (): number => watch.events.filter(({ secret }) => secretValues(secret).has('A')).length;
    const until = performance.now() + 2500;
    while (performance.now() < until) {
      await waitFor('our key to be there', async () => 'A' in (await shared.values()));
      await shared.replace((data) => {
        delete data['A'];
      });
    }
    await shared.waitUntilMerged({ ...theirs, ...values }, 2);
    watch.close();
    expect(writes()).toBeGreaterThan(2);
    expect(writes()).toBeLessThan(8);
  });
});

const refusals: readonly [sentence: string, target: object, message: string][] = [
  ['labels for it', { labels: { app: 'web' } }, 'keeps its own labels and annotations'],
  ['annotations for it', { annotations: { note: 'x' } }, 'keeps its own labels and annotations'],
  ['another type of it', { type: 'kubernetes.io/tls' }, 'keeps its own type'],
  ['its deletion', { deletionPolicy: 'Delete' }, 'is never deleted'],
];

describe('a SecretSync', () => {
  test.each(refusals)('that merges into a Secret and asks for %s is refused', async (_, target, message) => {
    const body = {
      apiVersion: 'keyframe.dev/v1alpha1',
      kind: 'SecretSync',
      metadata: { name: 'refused' },
      spec: {
        environmentRef: { organization: 'acme', project: 'web', name: 'prod' },
        tokenSecretRef: { name: 'reader' },
        target: { creationPolicy: 'Merge', ...target },
      },
    };
    const path = `/apis/keyframe.dev/v1alpha1/namespaces/${stack.namespaces[0]}/secretsyncs`;
    const answer = await stack.kube.send({ method: 'POST', path, body });
    expect(answer.status).toBe(422);
    expect((answer.body as { message: string }).message).toContain(message);
  });

  test.each(['Create', 'Merge'])('never changes its creationPolicy from %s', async (creationPolicy) => {
    const site = await stack.makeSite({ target: { name: 'shared', creationPolicy } });
    const other = creationPolicy === 'Create' ? 'Merge' : 'Create';
    await expect(site.patchSync({ spec: { target: { creationPolicy: other } } })).rejects.toThrow(
      'creationPolicy is immutable',
    );
  });
});
