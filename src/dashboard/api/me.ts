import { type UseQueryResult, queryOptions, useQuery } from '@tanstack/react-query';
import type { MeView } from '../../wire/me.ts';
import { type ApiError, callApi } from './client.ts';

export type User = Extract<MeView, { type: 'user' }>;

const pollMs = 60_000;

/** The signed-in user. It is requested again each minute, which shows the end of the session. */
export const meQuery = queryOptions<User, ApiError>({
  queryKey: ['me'],
  queryFn: () => callApi<User>('/me'),
  refetchInterval: pollMs,
});

export function useMe(): UseQueryResult<User, ApiError> {
  return useQuery(meQuery);
}
