import type { Access } from '../services/access.ts';
import type { AuditEntries } from '../services/audit-entries.ts';
import type { ChangeStreams } from '../services/change-streams.ts';
import type { Changes } from '../services/changes.ts';
import type { Destructions } from '../services/destructions.ts';
import type { Environments } from '../services/environments.ts';
import type { Me } from '../services/me.ts';
import type { Members } from '../services/members.ts';
import type { Organizations } from '../services/organizations.ts';
import type { PersonalTokens } from '../services/personal-tokens.ts';
import type { Projects } from '../services/projects.ts';
import type { Restores } from '../services/restores.ts';
import type { Secrets } from '../services/secrets.ts';
import type { ServiceTokens } from '../services/service-tokens.ts';
import type { Snapshots } from '../services/snapshots.ts';
import type { Users } from '../services/users.ts';
import type { Versions } from '../services/versions.ts';

/** What the routes call. A service's method opens only to the handle that `access` gave for its action. */
export interface HttpServices {
  readonly access: Access;
  readonly me: Me;
  readonly users: Users;
  readonly personalTokens: PersonalTokens;
  readonly organizations: Organizations;
  readonly members: Members;
  readonly projects: Projects;
  readonly environments: Environments;
  readonly secrets: Secrets;
  readonly versions: Versions;
  readonly destructions: Destructions;
  readonly snapshots: Snapshots;
  readonly restores: Restores;
  readonly serviceTokens: ServiceTokens;
  readonly changes: Changes;
  readonly changeStreams: ChangeStreams;
  readonly auditEntries: AuditEntries;
}
