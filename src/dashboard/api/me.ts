import { type UseQueryResult, queryOptions, useQuery } from '@tanstack/react-query';
import { call } from '../../client/call.ts';
import type { MeView } from '../../wire/me.ts';
import { type ApiError, api } from './client.ts';

export type User = Extract<MeView, { type: 'user' }>;

const pollMs = 60_000;

/** Reads the user of the session. */
export async function readMe(): Promise<User> {
  const { body } = await call(api, 'GET /me');
  if (body.type !== 'user') throw new Error('the session is not that of a user');
  return body;
}

/** The signed-in user. It is requested again each minute, which shows the end of the session. */
export const meQuery = queryOptions<User, ApiError>({
  queryKey: ['me'],
  queryFn: readMe,
  refetchInterval: pollMs,
});

export function useMe(): UseQueryResult<User, ApiError> {
  return useQuery(meQuery);
}
