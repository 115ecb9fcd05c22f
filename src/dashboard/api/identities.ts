import { type UseMutationResult, type UseQueryResult, queryOptions, useQuery } from '@tanstack/react-query';
import { call } from '../../client/call.ts';
import type { IdentityView } from '../../wire/identities.ts';
import { type ApiError, api } from './client.ts';
import { useChange } from './use-change.ts';

const identitiesQuery = queryOptions<readonly IdentityView[], ApiError>({
  queryKey: ['identities'],
  queryFn: async () => (await call(api, 'GET /identities')).body.identities,
});

/** The accounts of an issuer of OpenID Connect that are linked to the user, newest first. */
export function useIdentities(): UseQueryResult<readonly IdentityView[], ApiError> {
  return useQuery(identitiesQuery);
}

/** Unlinks an account by its id. */
export function useUnlink(): UseMutationResult<void, ApiError, string> {
  return useChange(async (id) => {
    await call(api, 'DELETE /identities/{id}', { params: { id } });
  }, identitiesQuery.queryKey);
}
