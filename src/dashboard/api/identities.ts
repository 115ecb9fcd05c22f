import { type UseMutationResult, type UseQueryResult, queryOptions, useQuery } from '@tanstack/react-query';
import type { IdentityListView, IdentityView } from '../../wire/identities.ts';
import { type ApiError, callApi } from './client.ts';
import { useChange } from './use-change.ts';

const identitiesQuery = queryOptions<readonly IdentityView[], ApiError>({
  queryKey: ['identities'],
  queryFn: async () => (await callApi<IdentityListView>('/identities')).identities,
});

/** The accounts of an issuer of OpenID Connect that are linked to the user, newest first. */
export function useIdentities(): UseQueryResult<readonly IdentityView[], ApiError> {
  return useQuery(identitiesQuery);
}

/** Unlinks an account by its id. */
export function useUnlink(): UseMutationResult<void, ApiError, string> {
  return useChange((id) => callApi(`/identities/${id}`, { method: 'DELETE' }), identitiesQuery.queryKey);
}
