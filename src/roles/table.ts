import { adminToken } from './admin-token.ts';
import { init } from './init.ts';
import { migrate } from './migrate.ts';
import { preDelete } from './pre-delete.ts';
import { recovered } from './recovered.ts';
import type { Role } from './role.ts';
import { serveAll, serveApi, serveController } from './serve.ts';
import { smokeTest } from './smoke-test.ts';

/** Every role of the program, in the order of its help. */
export const roles: readonly Role[] = [
  serveAll,
  serveApi,
  serveController,
  migrate,
  init,
  preDelete,
  smokeTest,
  recovered,
  adminToken,
];
