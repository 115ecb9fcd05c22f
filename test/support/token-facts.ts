import type { ResourceCredential, ResourceToken } from '../../src/services/resource-tokens.ts';

/** A token of a ServiceToken as the database shows it to the judgement: live and granted Read, unless given otherwise. */
export function tokenWith(
  credentials: readonly ResourceCredential[],
  more: Partial<ResourceToken> = {},
): ResourceToken {
  return {
    tokenId: 'token',
    name: 'team-a/ci',
    organizationId: 'organization',
    scope: 'environment',
    projectId: 'project',
    environmentId: 'environment',
    permission: 'read',
    suspendedAt: null,
    revokedAt: null,
    credentials,
    ...more,
  };
}
