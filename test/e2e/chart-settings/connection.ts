import type { Setting } from './setting.ts';

/** The values of the way from the controller to the API of its release. */

const server = 'Deployment/keyframe spec.template.spec';
const variable = (name: string): string => `${server}.containers[keyframe].env[KEYFRAME_${name}].value`;
const controllerPod = 'Deployment/keyframe-controller spec.template.spec';
const init = 'Job/keyframe-init spec.template.spec.containers[0]';

export const connectionSettings: readonly Setting[] = [
  {
    value: 'cluster.port',
    set: 8443,
    shows: {
      'Service/keyframe-cluster spec.ports[cluster]': { name: 'cluster', port: 8443, targetPort: 'cluster' },
      [`${controllerPod}.containers[keyframe].env[KEYFRAME_SERVER_URL].value`]:
        'https://keyframe-cluster.keyframe.svc:8443',
    },
  },
  {
    value: 'clusterTls.existingSecret',
    set: 'kf-cluster',
    shows: {
      [`${server}.volumes[cluster-tls].secret.secretName`]: 'kf-cluster',
      [variable('CLUSTER_TLS_CERTIFICATE_FILE')]: '/etc/keyframe/cluster-tls/tls.crt',
      [variable('CLUSTER_TLS_KEY_FILE')]: '/etc/keyframe/cluster-tls/tls.key',
      [variable('CLUSTER_CA_FILE')]: undefined,
      [`${init}.env[KEYFRAME_INIT_CLUSTER_CA_SECRET]`]: undefined,
      // Not its key.
      [`${controllerPod}.volumes[server-ca].secret`]: {
        secretName: 'kf-cluster',
        items: [{ key: 'ca.crt', path: 'ca.crt' }],
      },
    },
  },
  {
    value: 'controller.token.existingSecret',
    set: 'kf-token',
    shows: {
      [`${server}.volumes[cluster-token].secret`]: {
        secretName: 'kf-token',
        items: [{ key: 'token', path: 'token' }],
      },
      [`${controllerPod}.volumes[cluster-token].secret.secretName`]: 'kf-token',
      [`${init}.env[KEYFRAME_INIT_CLUSTER_TOKEN_SECRET]`]: undefined,
    },
  },
];
