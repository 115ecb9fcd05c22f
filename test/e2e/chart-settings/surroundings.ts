import { expect } from '@jest/globals';
import type { Setting } from './setting.ts';

/** The values that concern the cluster around the pods: accounts, rights, definitions, the network, monitoring. */

const policy = 'NetworkPolicy/keyframe spec';
const controllerPolicy = 'NetworkPolicy/keyframe-controller spec';
const exposed = { 'ingress.enabled': true, 'ingress.host': 'keyframe.corp.test' };
const gateway = { name: 'public', namespace: 'gateways' };
const routed = { 'httpRoute.enabled': true, 'httpRoute.parentRefs': [gateway] };
const peers = [{ namespaceSelector: { matchLabels: { team: 'edge' } } }];
const egress = [{ ports: [{ port: 5432 }] }];
const toServer = {
  ports: [{ port: 8702 }],
  to: [{ podSelector: { matchLabels: expect.objectContaining({ 'app.kubernetes.io/component': 'server' }) } }],
};
const withoutInit = {
  'init.enabled': false,
  'controller.token.existingSecret': 'kf-token',
  'clusterTls.existingSecret': 'kf-cluster',
};
const definition = 'CustomResourceDefinition/secretsyncs.keyframe.dev';
const note = { 'example.test/note': 'read' };
const withLabels = (labels: object): unknown => expect.objectContaining(labels);

const rightsSettings: readonly Setting[] = [
  {
    value: 'serviceAccount.create',
    set: false,
    given: { ...withoutInit, 'serviceAccount.name': 'given' },
    shows: {
      'ServiceAccount/given kind': undefined,
      'Deployment/keyframe-controller spec.template.spec.serviceAccountName': 'given',
      'Deployment/keyframe spec.template.spec.serviceAccountName': 'default',
    },
  },
  {
    value: 'serviceAccount.name',
    set: 'given',
    shows: {
      'ServiceAccount/given kind': 'ServiceAccount',
      'Deployment/keyframe-controller spec.template.spec.serviceAccountName': 'given',
      'Deployment/keyframe spec.template.spec.serviceAccountName': 'keyframe-api',
      'ClusterRoleBinding/keyframe-keyframe-controller subjects[given].kind': 'ServiceAccount',
    },
  },
  {
    value: 'serviceAccount.annotations',
    set: note,
    shows: {
      'ServiceAccount/keyframe-controller metadata.annotations': note,
      'ServiceAccount/keyframe-init metadata.annotations': withLabels(note),
    },
  },
  {
    value: 'rbac.create',
    set: false,
    given: { ...withoutInit },
    shows: {
      'ClusterRole/keyframe-keyframe-controller kind': undefined,
      'ClusterRole/keyframe-keyframe-controller-cluster kind': undefined,
      'Role/keyframe-controller-lease kind': undefined,
    },
  },
  {
    value: 'rbac.aggregate',
    set: false,
    shows: {
      'ClusterRole/keyframe-keyframe-view kind': undefined,
      'ClusterRole/keyframe-keyframe-edit kind': undefined,
      'ClusterRole/keyframe-keyframe-admin kind': undefined,
    },
  },
  {
    value: 'approvals.enabled',
    set: false,
    shows: {
      'ValidatingAdmissionPolicy/keyframe-keyframe-approvals kind': undefined,
      'ValidatingAdmissionPolicyBinding/keyframe-keyframe-approvals kind': undefined,
    },
  },
  {
    value: 'crds.install',
    given: { 'crds.install': true },
    set: false,
    shows: { [`${definition} kind`]: undefined },
  },
  {
    value: 'crds.keep',
    given: { 'crds.install': true },
    set: false,
    shows: { [`${definition} kind`]: 'CustomResourceDefinition', [`${definition} metadata.annotations`]: undefined },
  },
];

const networkSettings: readonly Setting[] = [
  { value: 'service.type', set: 'LoadBalancer', shows: { 'Service/keyframe spec.type': 'LoadBalancer' } },
  {
    value: 'service.port',
    set: 8443,
    shows: {
      'Service/keyframe spec.ports[http]': { name: 'http', port: 8443, targetPort: 'http' },
      'Pod/keyframe-smoke-test spec.containers[0].env[KEYFRAME_SMOKE_TEST_URL].value': 'http://keyframe.keyframe:8443',
    },
  },
  {
    value: 'service.loadBalancerClass',
    set: 'example.test/internal',
    given: { 'service.type': 'LoadBalancer' },
    shows: { 'Service/keyframe spec.loadBalancerClass': 'example.test/internal' },
  },
  { value: 'service.annotations', set: note, shows: { 'Service/keyframe metadata.annotations': note } },
  {
    value: 'ingress.enabled',
    set: true,
    given: { 'ingress.host': 'keyframe.corp.test' },
    shows: {
      'Ingress/keyframe spec.rules[0].http.paths[0]': {
        path: '/',
        pathType: 'Prefix',
        backend: { service: { name: 'keyframe', port: { name: 'http' } } },
      },
    },
  },
  {
    value: 'ingress.className',
    set: 'nginx',
    given: exposed,
    shows: { 'Ingress/keyframe spec.ingressClassName': 'nginx' },
  },
  {
    value: 'ingress.host',
    set: 'other.corp.test',
    given: exposed,
    shows: { 'Ingress/keyframe spec.rules[0].host': 'other.corp.test' },
  },
  {
    value: 'ingress.tlsSecret',
    set: 'keyframe-tls',
    given: exposed,
    shows: { 'Ingress/keyframe spec.tls': [{ hosts: ['keyframe.corp.test'], secretName: 'keyframe-tls' }] },
  },
  {
    value: 'ingress.extraHosts',
    set: [{ host: 'keyframe.two.test' }, { host: 'keyframe.three.test', tlsSecret: 'keyframe-tls' }],
    given: { ...exposed, 'ingress.tlsSecret': 'keyframe-tls' },
    shows: {
      'Ingress/keyframe spec.rules[1].host': 'keyframe.two.test',
      'Ingress/keyframe spec.rules[2].host': 'keyframe.three.test',
      'Ingress/keyframe spec.tls': [
        { hosts: ['keyframe.corp.test', 'keyframe.three.test'], secretName: 'keyframe-tls' },
      ],
    },
  },
  { value: 'ingress.annotations', set: note, given: exposed, shows: { 'Ingress/keyframe metadata.annotations': note } },
  {
    value: 'httpRoute.enabled',
    set: true,
    given: { 'httpRoute.parentRefs': [gateway], 'service.port': 8080 },
    shows: {
      'HTTPRoute/keyframe apiVersion': 'gateway.networking.k8s.io/v1',
      'HTTPRoute/keyframe spec.rules': [{ backendRefs: [{ name: 'keyframe', port: 8080 }] }],
    },
  },
  {
    value: 'httpRoute.parentRefs',
    set: [{ ...gateway, sectionName: 'https' }],
    given: routed,
    shows: { 'HTTPRoute/keyframe spec.parentRefs': [{ ...gateway, sectionName: 'https' }] },
  },
  {
    value: 'httpRoute.hostnames',
    set: ['keyframe.corp.test'],
    given: routed,
    shows: { 'HTTPRoute/keyframe spec.hostnames': ['keyframe.corp.test'] },
  },
  {
    value: 'httpRoute.annotations',
    set: note,
    given: routed,
    shows: { 'HTTPRoute/keyframe metadata.annotations': note },
  },
  {
    value: 'networkPolicy.enabled',
    set: false,
    shows: { [policy]: undefined, [controllerPolicy]: undefined, 'NetworkPolicy/keyframe-postgres spec': undefined },
  },
  {
    value: 'networkPolicy.apiFrom',
    set: peers,
    shows: {
      [`${policy}.ingress[0]`]: {
        ports: [{ port: 'http' }],
        from: [...peers, { podSelector: { matchLabels: withLabels({ 'app.kubernetes.io/component': 'smoke-test' }) } }],
      },
      [`${policy}.ingress[1]`]: { ports: [{ port: 'metrics' }] },
    },
  },
  {
    value: 'networkPolicy.metricsFrom',
    set: peers,
    shows: {
      [`${policy}.ingress[0]`]: { ports: [{ port: 'http' }] },
      [`${policy}.ingress[1]`]: { ports: [{ port: 'metrics' }], from: peers },
      [`${controllerPolicy}.ingress`]: [{ ports: [{ port: 'metrics' }], from: peers }],
    },
  },
  {
    value: 'networkPolicy.egress',
    set: egress,
    shows: {
      [`${policy}.egress`]: egress,
      [`${policy}.policyTypes`]: ['Ingress', 'Egress'],
      // Of a controller of release 0.9 too.
      [`${controllerPolicy}.egress`]: [toServer, ...egress],
    },
  },
  {
    value: 'networkPolicy.controllerEgress',
    set: [{ ports: [{ port: 6443 }] }],
    given: { 'networkPolicy.egress': egress },
    shows: {
      [`${policy}.egress`]: egress,
      [`${controllerPolicy}.egress`]: [toServer, { ports: [{ port: 6443 }] }],
    },
  },
];

const rule = { 'prometheusRule.enabled': true };
const alerts = 'PrometheusRule/keyframe spec.groups[keyframe].rules';
const monitor = { 'serviceMonitor.enabled': true };
const dashboard = { 'dashboard.enabled': true };

const monitoringSettings: readonly Setting[] = [
  {
    value: 'serviceMonitor.enabled',
    set: true,
    shows: {
      'ServiceMonitor/keyframe spec.endpoints[0].port': 'metrics',
      'ServiceMonitor/keyframe spec.selector.matchLabels': withLabels({ 'app.kubernetes.io/component': 'metrics' }),
    },
  },
  {
    value: 'serviceMonitor.interval',
    set: '7s',
    given: monitor,
    shows: { 'ServiceMonitor/keyframe spec.endpoints[0].interval': '7s' },
  },
  {
    value: 'serviceMonitor.labels',
    set: { release: 'p' },
    given: monitor,
    shows: { 'ServiceMonitor/keyframe metadata.labels.release': 'p' },
  },
  {
    value: 'podMonitor.enabled',
    set: true,
    shows: {
      'PodMonitor/keyframe spec.podMetricsEndpoints[0].port': 'metrics',
      'PodMonitor/keyframe spec.selector.matchLabels': withLabels({ 'app.kubernetes.io/part-of': 'keyframe' }),
    },
  },
  {
    value: 'podMonitor.interval',
    set: '7s',
    given: { 'podMonitor.enabled': true },
    shows: { 'PodMonitor/keyframe spec.podMetricsEndpoints[0].interval': '7s' },
  },
  {
    value: 'podMonitor.labels',
    set: { release: 'p' },
    given: { 'podMonitor.enabled': true },
    shows: { 'PodMonitor/keyframe metadata.labels.release': 'p' },
  },
  {
    value: 'prometheusRule.enabled',
    set: true,
    shows: {
      [`${alerts}[0]`]: expect.objectContaining({
        alert: 'KeyframeNoLeader',
        expr: expect.stringContaining('namespace="keyframe"'),
      }),
    },
  },
  {
    value: 'prometheusRule.databaseSizeGiB',
    set: 100,
    given: rule,
    shows: {
      [`${alerts}[KeyframeDatabaseNearlyFull].expr`]: expect.stringMatching(/ > 0\.8 \* 107374182400$/),
      [`${alerts}[KeyframeDatabaseGrowsFast].expr`]: expect.stringMatching(/ > 107374182400$/),
    },
  },
  {
    value: 'prometheusRule.runbookUrl',
    set: 'https://wiki.test/keyframe',
    given: { ...rule, publicUrl: 'https://keyframe.test' },
    shows: {
      [`${alerts}[KeyframeNoLeader].annotations.runbook_url`]: 'https://wiki.test/keyframe#keyframenoleader',
      [`${alerts}[KeyframeNoLeader].annotations.runbook`]: undefined,
    },
  },
  {
    value: 'prometheusRule.labels',
    set: { release: 'p' },
    given: rule,
    shows: { 'PrometheusRule/keyframe metadata.labels.release': 'p' },
  },
  {
    value: 'dashboard.enabled',
    set: true,
    shows: {
      'ConfigMap/keyframe-dashboard metadata.labels.grafana_dashboard': '1',
      'ConfigMap/keyframe-dashboard data': { 'keyframe.json': expect.stringContaining('keyframe_controller_leader') },
    },
  },
  {
    value: 'dashboard.labels',
    set: { folder: 'ops' },
    given: dashboard,
    shows: { 'ConfigMap/keyframe-dashboard metadata.labels.folder': 'ops' },
  },
];

export const surroundingSettings: readonly Setting[] = [...rightsSettings, ...networkSettings, ...monitoringSettings];
