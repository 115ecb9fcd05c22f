import type { TokenPermission } from '../../../src/domain/grants.ts';
import type {
  KeylessPrincipal,
  ServiceTokenPrincipal,
  TokenScope,
  UserPrincipal,
} from '../../../src/domain/principal.ts';

/** Callers of the tests of the policy, all of one organization. */

export const organizationId = 'organization-1';

export function user(instanceAdmin: boolean): UserPrincipal {
  const actor = { type: 'user', id: 'user-1', name: 'Ada' } as const;
  return { ...actor, instanceAdmin, credentialId: 'credential-1', tokenCreator: null, expiresAt: null };
}

export function serviceToken(scope: TokenScope, permission: TokenPermission): ServiceTokenPrincipal {
  return {
    type: 'service_token',
    id: 'token-1',
    name: 'ci',
    organizationId,
    scope,
    projectId: scope === 'organization' ? null : 'project-1',
    environmentId: scope === 'environment' ? 'environment-1' : null,
    permission,
    credentialId: 'credential-1',
    expiresAt: null,
  };
}

export const keylessToken: KeylessPrincipal = {
  type: 'service_token',
  id: 'token-1',
  name: 'SecretSyncs of team-a (cluster prod)',
  isKeyless: true,
  organizationId,
  scope: 'environment',
  projectId: 'project-1',
  environmentId: 'environment-1',
  permission: 'read',
  claim: { cluster: 'prod', namespace: 'team-a' },
};
