import * as schemas from './schemas.ts';
import type { Variable } from './variable.ts';

/** The variables of a controller that works through a server in another process. */

const serverDetails = '[A controller without the database](#a-controller-without-the-database)';

export const agentVariables = {
  SERVER_URL: {
    schema: schemas.publicAddress,
    roles: ['controller'],
    unset: 'the controller opens the database itself',
    format: '`https://` and a host; `http://` only for `localhost`',
    description:
      'Address of a server of Keyframe that this controller works through; needs `KEYFRAME_CLUSTER_TOKEN_FILE`, and excludes the addresses of the database and the root key.',
    details: serverDetails,
  },
  SERVER_CA_FILE: {
    schema: schemas.anyText,
    roles: ['controller'],
    unset: 'the authorities that Node.js trusts',
    readableFile: true,
    format: 'the path of a PEM file with certificates',
    description: 'Authorities that sign the certificate of that server; read again when a certificate is refused.',
    details: serverDetails,
  },
  CLUSTER_TOKEN_FILE: {
    schema: schemas.anyText,
    roles: ['controller'],
    readableFile: true,
    format: 'a path',
    description:
      'File with the token of the cluster that this controller presents to that server; read at each request.',
    details: serverDetails,
  },
} satisfies Readonly<Record<string, Variable>>;
