import type { Setting } from './setting.ts';

/** The values of mode agent. */

const agent = {
  mode: 'agent',
  'server.url': 'https://keyframe.example.com',
  'server.instance': 'abcdefghijklmnopqrstuvwxyz',
  clusterName: 'fra-1',
  'bootstrap.adminEmail': '',
};
const pod = 'Deployment/keyframe-controller spec.template.spec';
const main = `${pod}.containers[keyframe]`;
const token = `${pod}.volumes[cluster-token].projected.sources[0].serviceAccountToken`;
const without = (name: keyof typeof agent): object =>
  Object.fromEntries(Object.entries(agent).filter(([value]) => value !== name));

export const agentSettings: readonly Setting[] = [
  {
    value: 'mode',
    set: 'agent',
    given: { ...without('mode') },
    shows: {
      'Deployment/keyframe kind': undefined,
      'StatefulSet/keyframe-postgres kind': undefined,
      'Job/keyframe-init kind': undefined,
      'Pod/keyframe-smoke-test kind': undefined,
      'Service/keyframe kind': undefined,
      'ServiceAccount/keyframe-api kind': undefined,
      'Service/keyframe-metrics kind': 'Service',
      'PodDisruptionBudget/keyframe-server kind': undefined,
      'PodDisruptionBudget/keyframe-controller kind': 'PodDisruptionBudget',
      'NetworkPolicy/keyframe spec': undefined,
      'NetworkPolicy/keyframe-controller spec.ingress': [{ ports: [{ port: 'metrics' }] }],
      [`${pod}.serviceAccountName`]: 'keyframe-controller',
      [`${pod}.initContainers`]: undefined,
      [`${main}.volumeMounts[cluster-token].readOnly`]: true,
    },
  },
  {
    value: 'server.url',
    set: 'https://keyframe.corp.test:8443/',
    given: agent,
    shows: { [`${main}.env[KEYFRAME_SERVER_URL].value`]: 'https://keyframe.corp.test:8443' },
  },
  {
    value: 'server.instance',
    set: 'a'.repeat(26),
    given: agent,
    shows: { [`${token}.audience`]: `keyframe/${'a'.repeat(26)}/clusters/fra-1` },
  },
  {
    value: 'server.ca.existingSecret',
    set: 'corp-ca',
    given: agent,
    shows: {
      [`${main}.env[KEYFRAME_SERVER_CA_FILE].value`]: '/etc/keyframe/server-ca/ca.crt',
      [`${main}.volumeMounts[server-ca].mountPath`]: '/etc/keyframe/server-ca',
      [`${pod}.volumes[server-ca].secret`]: { secretName: 'corp-ca', items: [{ key: 'ca.crt', path: 'ca.crt' }] },
    },
  },
  {
    value: 'server.ca.key',
    set: 'root.pem',
    given: { ...agent, 'server.ca.existingSecret': 'corp-ca' },
    shows: { [`${pod}.volumes[server-ca].secret.items`]: [{ key: 'root.pem', path: 'ca.crt' }] },
  },
];
