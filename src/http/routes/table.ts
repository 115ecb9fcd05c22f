import type { Route } from '../route.ts';
import { environmentRoutes } from './environments.ts';
import { meRoutes } from './me.ts';
import { organizationRoutes } from './organizations.ts';
import { projectRoutes } from './projects.ts';
import { secretRoutes } from './secrets.ts';
import { serviceTokenRoutes } from './service-tokens.ts';
import { versionRoutes } from './versions.ts';

/** Every route below /api/v1. A new resource gets a file of its own and a line here. */
export const routeTable: readonly Route[] = [
  ...meRoutes,
  ...organizationRoutes,
  ...projectRoutes,
  ...environmentRoutes,
  ...secretRoutes,
  ...versionRoutes,
  ...serviceTokenRoutes,
];
