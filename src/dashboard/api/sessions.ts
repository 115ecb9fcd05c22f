import {
  type UseMutationResult,
  type UseQueryResult,
  queryOptions,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { call } from '../../client/call.ts';
import type { SessionView } from '../../wire/sessions.ts';
import { clearDrafts } from '../state/drafts.ts';
import { ApiError, api, apiWithToken } from './client.ts';
import { meQuery, readMe, type User } from './me.ts';
import { useChange } from './use-change.ts';

const sessionsQuery = queryOptions<readonly SessionView[], ApiError>({
  queryKey: ['sessions'],
  queryFn: async () => (await call(api, 'GET /sessions')).body.sessions,
});

/** The sessions of the user that have not ended, newest first. */
export function useSessions(): UseQueryResult<readonly SessionView[], ApiError> {
  return useQuery(sessionsQuery);
}

/**
 * Begins a session with a personal token, and returns its user.
 *
 * @throws ApiError also if the browser did not keep the cookie
 */
export async function signIn(token: string): Promise<User> {
  await call(apiWithToken(token), 'POST /sessions');
  return signedInUser();
}

/**
 * Returns the user of the session that has just begun.
 *
 * @throws ApiError also if the browser did not keep the cookie
 */
export async function signedInUser(): Promise<User> {
  return readMe().catch((error: unknown) => {
    if (!(error instanceof ApiError) || error.status !== 401) throw error;
    const detail = 'The browser did not keep the session. Open this page with https, and allow cookies for it.';
    throw new ApiError(detail, { status: 401, code: 'no_cookie', retryAfterSeconds: undefined });
  });
}

/** Ends sessions by their ids, one after the other. */
export function useEndSessions(): UseMutationResult<void, ApiError, readonly string[]> {
  return useChange(async (ids) => {
    for (const id of ids) await call(api, 'DELETE /sessions/{id}', { params: { id } });
  }, sessionsQuery.queryKey);
}

/** Ends the session of this browser, and forgets what the page knows. */
export function useSignOut(): UseMutationResult<void, ApiError, void> {
  const client = useQueryClient();
  return useMutation<void, ApiError>({
    mutationFn: async () => {
      const { session } = client.getQueryData(meQuery.queryKey) ?? (await readMe());
      if (session) await call(api, 'DELETE /sessions/{id}', { params: { id: session.id } });
    },
    onSuccess: () => {
      client.clear();
      clearDrafts();
    },
  });
}
