import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { call } from '../../client/call.ts';
import type { OrganizationView } from '../../wire/tenancy.ts';
import { type ApiError, api } from './client.ts';

/** An organization, with what it forbids. */
export function useOrganization(
  organization: string,
  { enabled }: { readonly enabled: boolean },
): UseQueryResult<OrganizationView, ApiError> {
  return useQuery<OrganizationView, ApiError>({
    queryKey: ['organization', organization],
    queryFn: async () => (await call(api, 'GET /organizations/{org}', { params: { org: organization } })).body,
    enabled,
  });
}
