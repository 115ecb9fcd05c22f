import type { Access } from '../services/access.ts';
import type { Environments } from '../services/environments.ts';
import type { Me } from '../services/me.ts';
import type { Organizations } from '../services/organizations.ts';
import type { Projects } from '../services/projects.ts';
import type { Secrets } from '../services/secrets.ts';
import type { ServiceTokens } from '../services/service-tokens.ts';
import type { Versions } from '../services/versions.ts';

/** What the routes call. A service's method opens only to the handle that `access` gave for its action. */
export interface HttpServices {
  readonly access: Access;
  readonly me: Me;
  readonly organizations: Organizations;
  readonly projects: Projects;
  readonly environments: Environments;
  readonly secrets: Secrets;
  readonly versions: Versions;
  readonly serviceTokens: ServiceTokens;
}
