import * as schemas from './schemas.ts';
import type { Variable } from './variable.ts';

/** Which Secrets `init` creates. */

const roles = ['init'] as const;
const details = '[init](#init)';

export const initVariables = {
  INIT_ROOT_KEY_SECRET: {
    schema: schemas.secretKey,
    roles,
    format: '`name/key`',
    description: 'The Secret to create for the root key, and the key in it.',
    details,
  },
  INIT_POSTGRES_SECRET: {
    schema: schemas.objectName,
    roles,
    format: 'the name of a Secret',
    description:
      'The Secret to create for the password and the address of a new PostgreSQL; needs `KEYFRAME_INIT_POSTGRES_HOST`.',
    details,
  },
  INIT_POSTGRES_RUN_SECRET: {
    schema: schemas.objectName,
    roles,
    format: 'the name of a Secret',
    description:
      'The Secret to create for the address as which the servers connect to that PostgreSQL; needs `KEYFRAME_INIT_POSTGRES_HOST`.',
    details,
  },
  INIT_POSTGRES_HOST: {
    schema: schemas.objectName,
    roles,
    format: 'a host name',
    description: 'The host of that PostgreSQL; needs one of the two Secrets.',
    details,
  },
  INIT_ADMIN_SECRET: {
    schema: schemas.objectName,
    roles,
    format: 'the name of a Secret',
    description: "The Secret to create for the first administrator's token; needs `KEYFRAME_BOOTSTRAP_ADMIN_EMAIL`.",
    details,
  },
  INIT_CLUSTER_TOKEN_SECRET: {
    schema: schemas.objectName,
    roles,
    format: 'the name of a Secret',
    description: 'The Secret to create for the home token, which the API and the controller mount.',
    details,
  },
  INIT_CLUSTER_CA_SECRET: {
    schema: schemas.objectName,
    roles,
    format: 'the name of a Secret',
    description:
      'The Secret to create for the CA of the port of controllers, which is valid for 10 years; needs `KEYFRAME_CLUSTER_TLS_NAMES`.',
    details,
  },
} satisfies Readonly<Record<string, Variable>>;
