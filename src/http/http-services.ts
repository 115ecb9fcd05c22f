import type { Access } from '../services/access/access.ts';
import type { AuditEntries } from '../services/audit/audit-entries.ts';
import type { ChangeStreams } from '../services/changes/change-streams.ts';
import type { Reverts } from '../services/changes/reverts.ts';
import type { Changes } from '../services/changes/changes.ts';
import type { Consumers } from '../services/fleet/consumers.ts';
import type { Copies } from '../services/secrets/copy/copies.ts';
import type { Destructions } from '../services/secrets/destructions.ts';
import type { Environments } from '../services/tenancy/environments.ts';
import type { Me } from '../services/people/me.ts';
import type { Members } from '../services/people/members.ts';
import type { Organizations } from '../services/tenancy/organizations.ts';
import type { PersonalTokens } from '../services/tokens/personal-tokens.ts';
import type { Projects } from '../services/tenancy/projects.ts';
import type { Restores } from '../services/snapshots/restore/restores.ts';
import type { RoleBindings } from '../services/people/role-bindings.ts';
import type { Secrets } from '../services/secrets/secrets.ts';
import type { ServiceTokens } from '../services/tokens/service-tokens.ts';
import type { Sessions } from '../services/sign-in/sessions.ts';
import type { Snapshots } from '../services/snapshots/snapshots.ts';
import type { Users } from '../services/people/users.ts';
import type { Versions } from '../services/secrets/versions.ts';

/** The services that routes call. Each method requires the handle that `access` returned for its action. */
export interface HttpServices {
  readonly access: Access;
  readonly me: Me;
  readonly users: Users;
  readonly personalTokens: PersonalTokens;
  readonly sessions: Sessions;
  readonly organizations: Organizations;
  readonly members: Members;
  readonly roleBindings: RoleBindings;
  readonly projects: Projects;
  readonly environments: Environments;
  readonly secrets: Secrets;
  readonly versions: Versions;
  readonly destructions: Destructions;
  readonly copies: Copies;
  readonly snapshots: Snapshots;
  readonly restores: Restores;
  readonly serviceTokens: ServiceTokens;
  readonly changes: Changes;
  readonly reverts: Reverts;
  readonly changeStreams: ChangeStreams;
  readonly consumers: Consumers;
  readonly auditEntries: AuditEntries;
}
