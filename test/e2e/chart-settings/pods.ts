import { expect } from '@jest/globals';
import type { Setting } from './setting.ts';

/** The values that say what the pods are and where they run. */

const server = 'Deployment/keyframe spec.template.spec';
const main = `${server}.containers[keyframe]`;
const digest = `sha256:${'ab'.repeat(32)}`;
const peer = { name: 'keyframe' };
const limits = { cpu: 2, memory: '1Gi' };
const requests = { cpu: '300m', memory: '512Mi' };
const controller = 'Deployment/keyframe-controller spec.template';
const constraints = [{ maxSkew: 2, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' }];
const sidecar = { name: 'proxy', image: 'proxy:1', restartPolicy: 'Always' };
const container = { name: 'agent', image: 'agent:1' };
const source = { configMapRef: { name: 'more' } };
const volume = { name: 'certs', configMap: { name: 'certs' } };
const mount = { name: 'certs', mountPath: '/certs', readOnly: true };
const scaler = 'HorizontalPodAutoscaler/keyframe spec';
const scaled = { 'autoscaling.enabled': true };
const aliases = [{ ip: '192.0.2.10', hostnames: ['db.corp.test'] }];
const note = { 'example.test/note': 'read' };
/** The paths of a value in every container of the program, also of the migration's Job. */
const everywhere = (path: string, value: unknown): Record<string, unknown> =>
  Object.fromEntries(
    [
      `${server}.initContainers[migrate]`,
      'servers containers[keyframe]',
      'Job/keyframe-init spec.template.spec.containers[init]',
      'Job/keyframe-pre-delete spec.template.spec.containers[pre-delete]',
      'Job/keyframe-migrate spec.template.spec.containers[migrate]',
      'Pod/keyframe-smoke-test spec.containers[smoke-test]',
    ].map((place) => [`${place}.${path}`, value]),
  );
const withMigration = {
  'postgres.enabled': false,
  'database.existingSecret': 'db',
  'database.migration.existingSecret': 'owner',
};
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
      [`${server}.initContainers[migrate].imagePullPolicy`]: 'Never',
      'servers containers[keyframe].imagePullPolicy': 'Never',
      'Job/keyframe-pre-delete spec.template.spec.containers[0].imagePullPolicy': 'Never',
    },
  },
  { value: 'imagePullSecrets', set: [peer], shows: { 'pods imagePullSecrets': [peer] } },
  { value: 'replicas', set: 3, shows: { 'Deployment/keyframe spec.replicas': 3 } },
  {
    value: 'autoscaling.enabled',
    set: true,
    given: { replicas: 2 },
    shows: {
      'Deployment/keyframe spec.replicas': undefined,
      'Deployment/keyframe-controller spec.replicas': 2,
      [`${scaler}.minReplicas`]: 2,
      [`${scaler}.scaleTargetRef.name`]: 'keyframe',
    },
  },
  {
    value: 'autoscaling.maxReplicas',
    set: 9,
    given: scaled,
    shows: { [`${scaler}.maxReplicas`]: 9 },
  },
  {
    value: 'autoscaling.targetCPUUtilizationPercentage',
    set: 55,
    given: scaled,
    shows: { [`${scaler}.metrics[0].resource.target`]: { type: 'Utilization', averageUtilization: 55 } },
  },
  {
    value: 'revisionHistoryLimit',
    set: 2,
    shows: {
      'Deployment/keyframe spec.revisionHistoryLimit': 2,
      'Deployment/keyframe-controller spec.revisionHistoryLimit': 2,
    },
  },
  { value: 'hostAliases', set: aliases, shows: { 'pods hostAliases': aliases } },
  {
    value: 'dnsConfig',
    set: { nameservers: ['192.0.2.1'] },
    shows: { 'pods dnsConfig': { nameservers: ['192.0.2.1'] } },
  },
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
    set: false,
    shows: {
      [`${main}.args`]: ['all'],
      'Deployment/keyframe-controller kind': undefined,
      'ServiceAccount/keyframe-api kind': undefined,
      [`${server}.serviceAccountName`]: 'keyframe-controller',
      [`${server}.automountServiceAccountToken`]: true,
    },
  },
  {
    value: 'controller.replicas',
    set: 4,
    shows: { 'Deployment/keyframe-controller spec.replicas': 4, 'Deployment/keyframe spec.replicas': 1 },
  },
  ...(['requests', 'limits'] as const).map((part) => ({
    value: `controller.resources.${part}`,
    set: { memory: '3Gi' },
    given: { [`resources.${part}`]: { memory: '1Gi', cpu: '2' } },
    shows: {
      // What is not set is that of the other pods.
      [`${controller}.spec.containers[keyframe].resources.${part}`]: { memory: '3Gi', cpu: '2' },
      [`${main}.resources.${part}`]: { memory: '1Gi', cpu: '2' },
    },
  })),
  {
    value: 'controller.priorityClassName',
    set: 'urgent',
    given: { priorityClassName: 'high' },
    shows: { [`${controller}.spec.priorityClassName`]: 'urgent', [`${server}.priorityClassName`]: 'high' },
  },
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
    value: 'topologySpreadConstraints',
    set: constraints,
    shows: { 'servers topologySpreadConstraints': constraints },
  },
  {
    value: 'podDisruptionBudget.enabled',
    set: false,
    given: { replicas: 2 },
    shows: {
      'PodDisruptionBudget/keyframe-server kind': undefined,
      'PodDisruptionBudget/keyframe-controller kind': undefined,
    },
  },
  {
    value: 'extraEnv',
    set: [{ name: 'NODE_OPTIONS', value: '--trace-warnings' }],
    shows: {
      [`${server}.initContainers[migrate].env[NODE_OPTIONS].value`]: '--trace-warnings',
      'servers containers[keyframe].env[NODE_OPTIONS].value': '--trace-warnings',
      'Job/keyframe-init spec.template.spec.containers[0].env[NODE_OPTIONS].value': '--trace-warnings',
      'Job/keyframe-pre-delete spec.template.spec.containers[0].env[NODE_OPTIONS].value': '--trace-warnings',
      'Pod/keyframe-smoke-test spec.containers[0].env[NODE_OPTIONS].value': '--trace-warnings',
    },
  },
  { value: 'extraEnvFrom', set: [source], given: withMigration, shows: everywhere('envFrom', [source]) },
  {
    value: 'extraVolumes',
    set: [volume],
    given: withMigration,
    shows: { 'pods volumes[certs]': volume },
  },
  { value: 'extraVolumeMounts', set: [mount], given: withMigration, shows: everywhere('volumeMounts[certs]', mount) },
  {
    value: 'extraContainers',
    set: [container],
    given: withMigration,
    shows: {
      'servers containers[agent]': container,
      // Its pod would never end.
      'Job/keyframe-migrate spec.template.spec.containers[agent]': undefined,
    },
  },
  {
    value: 'extraInitContainers',
    set: [sidecar],
    given: withMigration,
    // Before the first connection to PostgreSQL.
    shows: {
      'servers initContainers[0]': sidecar,
      'Job/keyframe-migrate spec.template.spec.initContainers[0]': sidecar,
    },
  },
  {
    value: 'podSecurityContext',
    set: { fsGroup: 2000, seccompProfile: null },
    given: withMigration,
    shows: { 'pods securityContext': { runAsNonRoot: true, fsGroup: 2000 } },
  },
  {
    value: 'containerSecurityContext',
    set: { readOnlyRootFilesystem: false, runAsUser: 1234, allowPrivilegeEscalation: null },
    given: withMigration,
    shows: everywhere('securityContext', {
      readOnlyRootFilesystem: false,
      runAsUser: 1234,
      capabilities: { drop: ['ALL'] },
    }),
  },
  {
    value: 'commonLabels',
    set: { team: 'platform' },
    given: { podLabels: { team: 'server' } },
    shows: {
      'Deployment/keyframe metadata.labels.team': 'platform',
      'ServiceAccount/keyframe-controller metadata.labels.team': 'platform',
      'ClusterRole/keyframe-keyframe-controller metadata.labels.team': 'platform',
      'Job/keyframe-init metadata.labels.team': 'platform',
      'StatefulSet/keyframe-postgres metadata.labels.team': 'platform',
      'StatefulSet/keyframe-postgres spec.template.metadata.labels.team': 'platform',
      'Deployment/keyframe spec.template.metadata.labels.team': 'server',
      // Selectors cannot be changed.
      'Deployment/keyframe spec.selector.matchLabels.team': undefined,
      'StatefulSet/keyframe-postgres spec.selector.matchLabels.team': undefined,
    },
  },
  {
    value: 'deploymentAnnotations',
    set: note,
    shows: {
      'Deployment/keyframe metadata.annotations': note,
      'Deployment/keyframe-controller metadata.annotations': note,
      'Deployment/keyframe spec.template.metadata.annotations': undefined,
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
