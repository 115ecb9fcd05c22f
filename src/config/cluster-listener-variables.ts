import * as schemas from './schemas.ts';
import type { Variable } from './variable.ts';

/** Those of the port of controllers. */

const roles = ['all', 'api'] as const;
const details = '[The port of controllers](#the-port-of-controllers)';

export const clusterListenerVariables = {
  CLUSTER_PORT: {
    schema: schemas.portNumber,
    roles,
    unset: 'no port for controllers alone',
    format: '0 to 65535; 0 for any free port',
    description: 'Port that serves only the requests of controllers, by https.',
    details,
  },
  CLUSTER_CA_FILE: {
    schema: schemas.anyText,
    roles,
    readableFile: true,
    format: 'the path of a PEM file',
    description: 'Certificate of the CA with which the server signs its certificate for that port.',
    details,
  },
  CLUSTER_CA_KEY_FILE: {
    schema: schemas.anyText,
    roles,
    readableFile: true,
    format: 'the path of a PEM file',
    description: 'Private key of that CA.',
    details,
  },
  CLUSTER_TLS_CERTIFICATE_FILE: {
    schema: schemas.anyText,
    roles,
    readableFile: true,
    format: 'the path of a PEM file',
    description: 'Certificate for that port, with its chain, in place of one that the server signs.',
    details,
  },
  CLUSTER_TLS_KEY_FILE: {
    schema: schemas.anyText,
    roles,
    readableFile: true,
    format: 'the path of a PEM file',
    description: 'Private key of that certificate.',
    details,
  },
  CLUSTER_TLS_NAMES: {
    schema: schemas.dnsNames,
    roles: [...roles, 'init'],
    format: 'DNS names with commas between',
    description: 'Names by which controllers reach that port; the CA that `init` creates can sign for no other ones.',
    details,
  },
} satisfies Readonly<Record<string, Variable>>;
