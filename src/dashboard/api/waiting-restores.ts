import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import type { WaitingRestoreListView, WaitingRestoreView } from '../../wire/waiting-restores.ts';
import { type ApiError, callApi } from './client.ts';

const pollMs = 5_000;

/** The restores of an organization that wait for an approval, requested again every five seconds. */
export function useWaitingRestores(organization: string): UseQueryResult<readonly WaitingRestoreView[], ApiError> {
  return useQuery({
    queryKey: ['waiting-restores', organization],
    queryFn: async () => (await callApi<WaitingRestoreListView>(`/fleet/${organization}/restores`)).restores,
    refetchInterval: pollMs,
  });
}
