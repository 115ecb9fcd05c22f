import type { PublicRoute, Route } from '../route.ts';
import { auditRoutes } from './audit.ts';
import { changeRoutes } from './changes.ts';
import { clusterRoutes } from './clusters.ts';
import { commandLoginRoutes, publicCommandLoginRoutes } from './command-logins.ts';
import { consumerRoutes } from './consumers.ts';
import { copyRoutes } from './copies.ts';
import { environmentRoutes } from './environments.ts';
import { invitationRoutes } from './invitations.ts';
import { identityRoutes } from './identities.ts';
import { meRoutes } from './me.ts';
import { memberRoutes } from './members.ts';
import { roleBindingRoutes } from './role-bindings.ts';
import { organizationRoutes } from './organizations.ts';
import { passkeyRoutes, publicPasskeyRoutes } from './passkeys.ts';
import { personalTokenRoutes } from './personal-tokens.ts';
import { projectRoutes } from './projects.ts';
import { secretRoutes } from './secrets.ts';
import { serviceTokenRoutes } from './service-tokens.ts';
import { sessionRoutes } from './sessions.ts';
import { publicSignInRoutes, signInRoutes } from './sign-in.ts';
import { publicSignInLinkRoutes, signInLinkRoutes } from './sign-in-links.ts';
import { snapshotRoutes } from './snapshots.ts';
import { trustedIssuerRoutes } from './trusted-issuers.ts';
import { userRoutes } from './users.ts';
import { versionRoutes } from './versions.ts';

/** Every route below /api/v1. A new resource gets its own file and a line here. */
export const routeTable: readonly Route[] = [
  ...meRoutes,
  ...userRoutes,
  ...personalTokenRoutes,
  ...organizationRoutes,
  ...sessionRoutes,
  ...signInRoutes,
  ...commandLoginRoutes,
  ...identityRoutes,
  ...passkeyRoutes,
  ...memberRoutes,
  ...roleBindingRoutes,
  ...invitationRoutes,
  ...signInLinkRoutes,
  ...projectRoutes,
  ...environmentRoutes,
  ...copyRoutes,
  ...secretRoutes,
  ...versionRoutes,
  ...snapshotRoutes,
  ...serviceTokenRoutes,
  ...changeRoutes,
  ...consumerRoutes,
  ...clusterRoutes,
  ...trustedIssuerRoutes,
  ...auditRoutes,
];

/** The routes that need no token. */
export const publicRouteTable: readonly PublicRoute[] = [
  ...publicSignInRoutes,
  ...publicPasskeyRoutes,
  ...publicCommandLoginRoutes,
  ...publicSignInLinkRoutes,
];
