import { expect } from '@jest/globals';
import type { Setting } from './setting.ts';

/** The values that say what the pods are and where they run. */

const server = 'Deployment/keyframe spec.template.spec';
const main = `${server}.containers[keyframe]`;
const digest = `sha256:${'ab'.repeat(32)}`;
const peer = { name: 'keyframe' };
const limits = { cpu: 2, memory: '1Gi' };
const requests = { cpu: '300m', memory: '512Mi' };
const separate = { 'controller.separate': true };
const tolerations = [{ key: 'dedicated', operator: 'Exists' }];
const affinity = { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [] } };

export const podSettings: readonly Setting[] = [
  {
    value: 'nameOverride',
    set: 'vault',
    shows: {
      'Deployment/keyframe-vault metadata.labels': expect.objectContaining({ 'app.kubernetes.io/name': 'vault' }),
    },
  },
  { value: 'fullnameOverride', set: 'kf', shows: { 'Deployment/kf kind': 'Deployment', 'Service/kf kind': 'Service' } },
  {
    value: 'image.repository',
    set: 'registry.internal/kf',
    given: { 'image.tag': '9' },
    shows: {
      [`${main}.image`]: 'registry.internal/kf:9',
      'Job/keyframe-init spec.template.spec.containers[0].image': 'registry.internal/kf:9',
    },
  },
  {
    value: 'image.tag',
    set: '1.2.3',
    shows: {
      [`${main}.image`]: expect.stringMatching(/:1\.2\.3$/),
      [`${server}.initContainers[migrate].image`]: expect.stringMatching(/:1\.2\.3$/),
    },
  },
  {
    value: 'image.digest',
    set: digest,
    given: { 'image.tag': '9' },
    shows: { [`${main}.image`]: expect.stringMatching(new RegExp(`keyframe@${digest}$`)) },
  },
  {
    value: 'image.pullPolicy',
    set: 'Never',
    shows: {
      'servers initContainers[migrate].imagePullPolicy': 'Never',
      'servers containers[keyframe].imagePullPolicy': 'Never',
      'Job/keyframe-pre-delete spec.template.spec.containers[0].imagePullPolicy': 'Never',
    },
  },
  { value: 'imagePullSecrets', set: [peer], shows: { 'pods imagePullSecrets': [peer] } },
  { value: 'replicas', set: 3, shows: { 'Deployment/keyframe spec.replicas': 3 } },
  {
    value: 'resources.requests',
    set: requests,
    shows: {
      [`${main}.resources.requests`]: requests,
      [`${server}.initContainers[migrate].resources.requests`]: requests,
      'Job/keyframe-init spec.template.spec.containers[0].resources.requests': requests,
    },
  },
  {
    value: 'resources.limits',
    set: limits,
    shows: { [`${main}.resources.limits`]: limits, [`${server}.initContainers[migrate].resources.limits`]: limits },
  },
  {
    value: 'controller.separate',
    set: true,
    shows: {
      [`${main}.args`]: ['api'],
      'Deployment/keyframe-controller spec.template.spec.containers[keyframe].args': ['controller'],
      [`${server}.serviceAccountName`]: 'keyframe-api',
      [`${server}.automountServiceAccountToken`]: false,
    },
  },
  {
    value: 'controller.replicas',
    set: 4,
    given: separate,
    shows: { 'Deployment/keyframe-controller spec.replicas': 4, 'Deployment/keyframe spec.replicas': 1 },
  },
  ...(['requests', 'limits'] as const).map((part) => ({
    value: `controller.resources.${part}`,
    set: { memory: '3Gi', cpu: '3' },
    given: separate,
    shows: {
      [`Deployment/keyframe-controller spec.template.spec.containers[keyframe].resources.${part}`]: {
        memory: '3Gi',
        cpu: '3',
      },
      [`${main}.resources.limits.memory`]: '512Mi',
    },
  })),
  {
    value: 'terminationGracePeriodSeconds',
    set: 77,
    shows: { 'servers terminationGracePeriodSeconds': 77 },
  },
  {
    value: 'topologySpread',
    set: false,
    shows: { 'servers topologySpreadConstraints': undefined },
  },
  {
    value: 'podDisruptionBudget.enabled',
    set: false,
    given: { replicas: 2 },
    shows: { 'PodDisruptionBudget/keyframe-server kind': undefined },
  },
  {
    value: 'extraEnv',
    set: [{ name: 'NODE_OPTIONS', value: '--trace-warnings' }],
    shows: {
      'servers initContainers[migrate].env[NODE_OPTIONS].value': '--trace-warnings',
      'servers containers[keyframe].env[NODE_OPTIONS].value': '--trace-warnings',
      'Job/keyframe-init spec.template.spec.containers[0].env[NODE_OPTIONS].value': '--trace-warnings',
      'Job/keyframe-pre-delete spec.template.spec.containers[0].env[NODE_OPTIONS].value': '--trace-warnings',
      'Pod/keyframe-smoke-test spec.containers[0].env[NODE_OPTIONS].value': '--trace-warnings',
    },
  },
  {
    value: 'podAnnotations',
    set: { note: 'read' },
    shows: { 'Deployment/keyframe spec.template.metadata.annotations': { note: 'read' } },
  },
  {
    value: 'podLabels',
    set: { team: 'platform' },
    shows: {
      'Deployment/keyframe spec.template.metadata.labels.team': 'platform',
      'Job/keyframe-init spec.template.metadata.labels.team': 'platform',
      'Pod/keyframe-smoke-test metadata.labels.team': 'platform',
    },
  },
  { value: 'nodeSelector', set: { disk: 'ssd' }, shows: { 'pods nodeSelector': { disk: 'ssd' } } },
  { value: 'tolerations', set: tolerations, shows: { 'pods tolerations': tolerations } },
  { value: 'affinity', set: affinity, shows: { 'pods affinity': affinity } },
  { value: 'priorityClassName', set: 'high', shows: { 'pods priorityClassName': 'high' } },
];
