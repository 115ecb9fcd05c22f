import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { call } from '../../client/call.ts';
import type { WaitingRestoreView } from '../../wire/waiting-restores.ts';
import { type ApiError, api } from './client.ts';

const pollMs = 5_000;

/** The restores of an organization that wait for an approval, requested again every five seconds. */
export function useWaitingRestores(organization: string): UseQueryResult<readonly WaitingRestoreView[], ApiError> {
  return useQuery({
    queryKey: ['waiting-restores', organization],
    queryFn: async () =>
      (await call(api, 'GET /fleet/{org}/restores', { params: { org: organization } })).body.restores,
    refetchInterval: pollMs,
  });
}
