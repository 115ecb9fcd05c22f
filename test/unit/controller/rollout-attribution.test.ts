import { describe, expect, test } from '@jest/globals';
import { attribute } from '../../../src/controller/kinds/rollout/attribution.ts';
import { PodObservations } from '../../../src/controller/kinds/rollout/pod-observations.ts';
import { type Pod, findingOf, observePods, selectorText } from '../../../src/controller/kinds/rollout/pods.ts';
import { templateDigest } from '../../../src/controller/kinds/rollout/template-digest.ts';
import type { Workload } from '../../../src/controller/kinds/rollout/targets.ts';
import { ApiError } from '../../../src/kube/client/api-error.ts';
import type { ApiCall } from '../../../src/kube/client/client.ts';
import { fingerprint } from './builders.ts';
import { data, marked, now, other, web, workload } from './rollout-facts.ts';

type Status = NonNullable<Pod['status']>;

function pod(status: Status, mark = 'mark'): Pod {
  const metadata = { name: 'p', uid: 'p', resourceVersion: '1', annotations: { 'rollout.keyframe.dev/app': mark } };
  return { metadata, status };
}

const waits = (reason: string): Status => ({
  containerStatuses: [{ name: 'app', ready: false, state: { waiting: { reason } } }],
});
const ended = (exitCode: number, reason: string): Status => ({
  containerStatuses: [{ name: 'app', ready: false, state: { terminated: { exitCode, reason } } }],
});
const crash = waits('CrashLoopBackOff');
const init = (state: object): Status => ({
  initContainerStatuses: [{ name: 'prepare', ready: false, state }],
  ...waits('PodInitializing'),
});

type PodCase = readonly [sentence: string, status: Status, kind: 'failing' | 'hindered', reason?: string];

describe('a pod that is not ready', () => {
  test.each<PodCase>([
    ['because its container crashes fails', crash, 'failing', 'container app: CrashLoopBackOff'],
    ['because a variable is missing fails', waits('CreateContainerConfigError'), 'failing'],
    ['because its container cannot be made fails', waits('CreateContainerError'), 'failing'],
    ['because its program cannot be run fails', waits('RunContainerError'), 'failing'],
    ['because its container ended with an error fails', ended(1, 'Error'), 'failing', 'container app: Error'],
    [
      'though its container runs fails',
      { containerStatuses: [{ name: 'app', ready: false, state: { running: {} } }] },
      'failing',
      'container app: NotReady',
    ],
    [
      'because an init container crashes fails',
      init({ terminated: { exitCode: 2, reason: 'Error' } }),
      'failing',
      'container prepare: Error',
    ],
    [
      'because an init container is at its work does not',
      init({ running: {} }),
      'hindered',
      'container app: PodInitializing',
    ],
    [
      'because an init container is done does not',
      init({ terminated: { exitCode: 0, reason: 'Completed' } }),
      'hindered',
    ],
    ['for want of its image does not', waits('ImagePullBackOff'), 'hindered', 'container app: ImagePullBackOff'],
    ['for an image whose pull failed does not', waits('ErrImagePull'), 'hindered'],
    ['for an image with a bad name does not', waits('InvalidImageName'), 'hindered'],
    ['for an image that is never pulled does not', waits('ErrImageNeverPull'), 'hindered'],
    ['while its container is made does not', waits('ContainerCreating'), 'hindered'],
    [
      'because no node has room does not',
      { phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }] },
      'hindered',
      'a pod: Unschedulable',
    ],
    ['because it was evicted does not', { reason: 'Evicted', ...ended(137, 'Error') }, 'hindered', 'a pod: Evicted'],
    [
      'because its node is drained does not',
      { conditions: [{ type: 'DisruptionTarget', status: 'True' }], ...ended(143, 'Error') },
      'hindered',
      'a pod: Disruption',
    ],
    ['of which nothing is known does not', {}, 'hindered', 'a pod: Pending'],
    ['for an invented reason is reported by none', waits('pass word=canary'), 'hindered', 'container app: Unknown'],
  ])('%s', (...[, status, kind, reason]: PodCase) => {
    const finding = findingOf(pod(status));
    expect(finding).toMatchObject({ kind, ...(reason === undefined ? {} : { reason }) });
  });

  test('is none that is ready', () => {
    expect(findingOf(pod({ conditions: [{ type: 'Ready', status: 'True' }], ...crash }))).toBeUndefined();
  });
});

describe('a look at the pods of a restart', () => {
  const question = {
    namespace: 'ns',
    workload: { ...workload(), spec: { selector: { matchLabels: { app: 'web' } } } },
    mark: { name: 'rollout.keyframe.dev/app', text: 'mark' },
  };

  /** A cluster with these pages of pods; notes the queries. */
  function cluster(pages: readonly (readonly Pod[])[]): {
    queries: ApiCall['query'][];
    request: <T>(call: ApiCall) => Promise<T>;
  } {
    const queries: ApiCall['query'][] = [];
    const request = async <T>({ query }: ApiCall): Promise<T> => {
      const page = queries.push(query) - 1;
      const next = page + 1 < pages.length ? { continue: `page ${page + 1}` } : {};
      return await Promise.resolve({ metadata: next, items: pages[page] ?? [] } as T);
    };
    return { queries, request };
  }

  test('finds the one that fails, on whatever page, and then asks for no more', async () => {
    const { queries, request } = cluster([[pod(waits('ImagePullBackOff'))], [pod(crash)], [pod(crash)]]);
    expect(await observePods({ request }, question)).toEqual({
      kind: 'failing',
      reason: 'container app: CrashLoopBackOff',
    });
    expect(queries).toEqual([
      { labelSelector: 'app=web', limit: '250' },
      { labelSelector: 'app=web', limit: '250', continue: 'page 1' },
    ]);
  });

  test('passes over pods of another restart, and those that go', async () => {
    const going = pod(crash);
    going.metadata.deletionTimestamp = '2026-01-01T00:00:00Z';
    const { request } = cluster([[pod(crash, 'older'), going, pod(waits('ErrImagePull'))]]);
    expect(await observePods({ request }, question)).toEqual({
      kind: 'hindered',
      reason: 'container app: ErrImagePull',
    });
  });

  test('that finds none, as where a quota leaves no room, blames no container', async () => {
    const { request } = cluster([[]]);
    expect((await observePods({ request }, question)).kind).toBe('hindered');
  });

  test('asks for nothing without a selector, and ends though the pages do not', async () => {
    const endless = cluster(
      Array.from({ length: 100 }, () => [pod({ conditions: [{ type: 'Ready', status: 'True' }] })]),
    );
    expect((await observePods(endless, question)).kind).toBe('hindered');
    expect(endless.queries).toHaveLength(40);
    const none = cluster([[pod(crash)]]);
    expect((await observePods(none, { ...question, workload: workload() })).kind).toBe('hindered');
    expect(none.queries).toEqual([]);
  });

  test('distinguishes a missing right from a failure to answer', async () => {
    const refuse = (status: number) => async (): Promise<never> =>
      await Promise.reject(new ApiError('GET', status, status === 403 ? 'Forbidden' : 'Oops'));
    expect(await observePods({ request: refuse(403) }, question)).toEqual({
      kind: 'forbidden',
      reason: '403 Forbidden',
    });
    await expect(observePods({ request: refuse(500) }, question)).rejects.toThrow(ApiError);
  });

  test('selects as the workload does', () => {
    const matchExpressions = [
      { key: 'tier', operator: 'In', values: ['a', 'b'] },
      { key: 'old', operator: 'NotIn', values: ['yes'] },
      { key: 'app', operator: 'Exists' },
      { key: 'test', operator: 'DoesNotExist' },
    ];
    expect(selectorText({ matchLabels: { x: 'y' }, matchExpressions })).toBe(
      'x=y,tier in (a,b),old notin (yes),app,!test',
    );
  });
});

describe('a failure', () => {
  const mark = { revision: 3, data, at: now };
  const known = { data: other, sources: [], targets: [{ ...web, template: 'template' }] };
  const stuck = { target: web, workload: workload(), mark, converged: known };
  const failing = { kind: 'failing', reason: 'x' } as const;

  test.each([
    ['is the data’s where nothing else changed and a pod fails', stuck, failing, 'data'],
    [
      'is the data’s as far as is known where nothing has converged yet',
      { ...stuck, converged: undefined },
      failing,
      'data',
    ],
    ['is something else where no pod fails', stuck, { kind: 'hindered', reason: 'x' } as const, 'other'],
    ['is something else with data that has converged', { ...stuck, converged: { ...known, data } }, failing, 'other'],
    [
      'is something else with another pod template',
      { ...stuck, workload: { ...workload(), templateDigest: 'new' } },
      failing,
      'other',
    ],
    ['is not known before a look', stuck, undefined, 'unknown'],
    ['is not seen without the right to', stuck, { kind: 'forbidden', reason: '403 Forbidden' } as const, 'unseen'],
  ])('%s', (_, about, pods, kind) => {
    expect(attribute(about, pods).kind).toBe(kind);
  });
});

describe('the digest of a pod template', () => {
  const digest = (template: unknown, place = 'Deployment ns/web'): string =>
    templateDigest(fingerprint, place, template);
  const template = {
    metadata: { labels: { a: '1', b: '2' } },
    spec: { containers: [{ name: 'x', env: [{ name: 'P', value: 'canary' }] }] },
  };

  test('is the same after a restart, for every process, and in whatever order its fields are', () => {
    const annotations = { 'rollout.keyframe.dev/app': 'x', 'kubectl.kubernetes.io/restartedAt': 'y' };
    const again = { spec: template.spec, metadata: { annotations, labels: { b: '2', a: '1' } } };
    expect(digest(again)).toBe(digest(template));
  });

  test('is another one for another template or workload, and reveals nothing of either', () => {
    const others = [
      digest({ ...template, spec: {} }),
      digest({ ...template, metadata: { ...template.metadata, annotations: { theirs: 'x' } } }),
      digest(template, 'Deployment ns/api'),
      templateDigest((context, entries) => fingerprint(`${context}!`, entries), 'Deployment ns/web', template),
    ];
    expect(new Set([digest(template), ...others]).size).toBe(5);
    expect(digest(template)).toMatch(/^[0-9a-f]{32}$/);
  });
});

describe('the looks at a stuck workload', () => {
  const found: Workload = workload({ marks: marked() });

  test('come ever more rarely, and not at all once a pod was found to fail', () => {
    const observations = new PodObservations('app');
    expect(observations.nextAt(web, found)).toBe(-Infinity);
    observations.note(web, found, { kind: 'hindered', reason: 'x' }, now);
    expect(observations.nextAt(web, found)).toBe(now + 10_000);
    for (let count = 0; count < 10; count += 1) observations.note(web, found, undefined, now);
    expect(observations.nextAt(web, found)).toBe(now + 300_000);
    expect(observations.verdict(web, found)).toEqual({ kind: 'hindered', reason: 'x' });
    observations.note(web, found, { kind: 'failing', reason: 'x' }, now);
    expect(observations.nextAt(web, found)).toBe(Infinity);
  });

  test('restart with each restart, template and workload', () => {
    const observations = new PodObservations('app');
    observations.note(web, found, { kind: 'failing', reason: 'x' }, now);
    const others = [
      workload({ marks: marked(data, now) }),
      { ...found, templateDigest: 'new' },
      { ...found, metadata: { ...found.metadata, uid: 'another' } },
    ];
    for (const one of others) expect(observations.verdict(web, one)).toBeUndefined();
    expect(observations.verdict(web, found)).toBeDefined();
    observations.keep(new Set());
    expect(observations.verdict(web, found)).toBeUndefined();
  });
});
