import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { ApiError } from './client.ts';
import { meQuery } from './me.ts';

const retries = 2;

/**
 * One try for what the server refuses; two more for what did not reach it. If the session has ended, the user is requested
 * again, and the frame goes to the sign-in.
 */
export function createQueryClient(): QueryClient {
  const onError = (error: unknown): void => {
    if (!(error instanceof ApiError) || error.status !== 401) return;
    const me = client.getQueryState(meQuery.queryKey);
    if (me?.status === 'success') void client.invalidateQueries({ queryKey: meQuery.queryKey });
  };
  const client = new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      queries: {
        staleTime: 10_000,
        retry: (count, error) => count < retries && error instanceof ApiError && isPassing(error),
        retryDelay: (attempt) => 500 * 2 ** attempt,
        // Requests to this server do not need the internet.
        networkMode: 'always',
      },
      mutations: { networkMode: 'always' },
    },
  });
  return client;
}

function isPassing({ status }: ApiError): boolean {
  return status === 0 || status >= 502;
}
