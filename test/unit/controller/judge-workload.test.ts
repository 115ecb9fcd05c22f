import * as messages from '../../../src/controller/kinds/rollout/messages.ts';
import { expect, test } from '@jest/globals';
import { type Verdict, judgeWorkload } from '../../../src/controller/kinds/rollout/judge-workload.ts';
import { type Workload, type WorkloadKind, trimmedWorkload } from '../../../src/controller/kinds/rollout/targets.ts';

function workload(spec: Workload['spec'], status: Workload['status'] = {}, generation = 3): Workload {
  const metadata = { name: 'web', namespace: 'ns', uid: 'u', resourceVersion: '1', generation };
  return { metadata, ...(spec === undefined ? {} : { spec }), status: { observedGeneration: 3, ...status } };
}

type Case = readonly [
  sentence: string,
  kind: WorkloadKind,
  workload: Workload,
  state: Verdict['state'],
  message?: string,
];

const three = { replicas: 3 };
const all = { replicas: 3, updatedReplicas: 3, availableReplicas: 3, readyReplicas: 3 };
const late = [{ type: 'Progressing', reason: 'ProgressDeadlineExceeded' }];

const deployments: readonly Case[] = [
  ['all of whose pods are new and available is done', 'Deployment', workload(three, all), 'done', ''],
  [
    'whose controller has not seen its template is rolling, whatever the counts say',
    'Deployment',
    workload(three, all, 4),
    'rolling',
    messages.changeUnobserved,
  ],
  [
    'with too few new pods is rolling',
    'Deployment',
    workload(three, { ...all, replicas: 4, updatedReplicas: 1 }),
    'rolling',
    '0 of 3 pods are up to date and available',
  ],
  [
    'with an old pod that is still ending is rolling',
    'Deployment',
    workload(three, { ...all, replicas: 4, availableReplicas: 4 }),
    'rolling',
    '3 of 3 pods are up to date and available',
  ],
  [
    'with a new pod that is not available is rolling',
    'Deployment',
    workload(three, { ...all, availableReplicas: 2 }),
    'rolling',
  ],
  ['of no pods is done', 'Deployment', workload({ replicas: 0 }, {}), 'done'],
  [
    'that says nothing of replicas has one',
    'Deployment',
    workload({}, {}),
    'rolling',
    '0 of 1 pods are up to date and available',
  ],
  [
    'over its deadline is stuck',
    'Deployment',
    workload(three, { ...all, updatedReplicas: 1, conditions: late }),
    'stuck',
  ],
  ['that is done is not stuck by an old deadline', 'Deployment', workload(three, { ...all, conditions: late }), 'done'],
  [
    'that is paused with old pods is held, and says how to go on',
    'Deployment',
    workload({ ...three, paused: true }, { ...all, updatedReplicas: 0 }),
    'held',
    `0 of 3 pods are up to date and available; ${messages.paused('web', 'ns')}`,
  ],
  ['that is paused with new pods alone is done', 'Deployment', workload({ ...three, paused: true }, all), 'done'],
];

const partitioned = { ...three, updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 2 } } };
const onDelete = { updateStrategy: { type: 'OnDelete' } };
const statefulSets: readonly Case[] = [
  ['all of whose pods are new and ready is done', 'StatefulSet', workload(three, all), 'done'],
  ['with a pod that is not ready is rolling', 'StatefulSet', workload(three, { ...all, readyReplicas: 2 }), 'rolling'],
  ['with old pods is rolling', 'StatefulSet', workload(three, { ...all, updatedReplicas: 1 }), 'rolling'],
  [
    'whose partition keeps old pods is held when the others are new',
    'StatefulSet',
    workload(partitioned, { ...all, updatedReplicas: 1 }),
    'held',
    `1 of 3 pods are up to date and available; ${messages.partitioned(2)}`,
  ],
  [
    'is rolling until those beyond its partition are new',
    'StatefulSet',
    workload(partitioned, { ...all, updatedReplicas: 0 }),
    'rolling',
  ],
  [
    'that replaces pods on deletion is held',
    'StatefulSet',
    workload({ ...three, ...onDelete }, { ...all, updatedReplicas: 2 }),
    'held',
    `2 of 3 pods are up to date and available; ${messages.onDelete}`,
  ],
  [
    'that replaces pods on deletion is done when all were',
    'StatefulSet',
    workload({ ...three, ...onDelete }, all),
    'done',
  ],
];

const scheduled = { desiredNumberScheduled: 2, updatedNumberScheduled: 2, numberAvailable: 2 };
const daemonSets: readonly Case[] = [
  ['that is new and available on each node is done', 'DaemonSet', workload({}, scheduled), 'done'],
  ['that no node wants is done', 'DaemonSet', workload({}, {}), 'done'],
  ['with an old pod is rolling', 'DaemonSet', workload({}, { ...scheduled, updatedNumberScheduled: 1 }), 'rolling'],
  [
    'with a pod that is not available is rolling',
    'DaemonSet',
    workload({}, { ...scheduled, numberAvailable: 1 }),
    'rolling',
  ],
  [
    'that replaces pods on deletion is held',
    'DaemonSet',
    workload(onDelete, { ...scheduled, updatedNumberScheduled: 1 }),
    'held',
  ],
];

const cases = [...deployments, ...statefulSets, ...daemonSets];

test.each(cases.map(([sentence, kind, ...rest]) => [`a ${kind} ${sentence}`, kind, ...rest] as Case))(
  '%s',
  (...[, kind, given, state, message]: Case) => {
    const verdict = judgeWorkload(kind, given);
    expect(verdict).toMatchObject({ state, ...(message === undefined ? {} : { message }) });
  },
);

test('what is kept of a workload leads to the same verdict, and has nothing of its containers', () => {
  for (const [, kind, given] of cases) {
    const containers = [{ name: 'main', env: [{ name: 'PASSWORD', value: 'canary' }] }];
    const annotations = { 'rollout.keyframe.dev/app': 'x', theirs: 'canary' };
    const template = { metadata: { annotations }, spec: { containers } };
    const kept = trimmedWorkload({ ...given, spec: { ...given.spec, template } }, 'digest');
    expect(judgeWorkload(kind, kept)).toEqual(judgeWorkload(kind, given));
    expect(kept.spec?.template).toEqual({ metadata: { annotations: { 'rollout.keyframe.dev/app': 'x' } } });
    expect(JSON.stringify(kept)).not.toContain('canary');
  }
});
