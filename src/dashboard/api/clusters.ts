import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { call } from '../../client/call.ts';
import type { ClusterRulesView, ClusterView } from '../../wire/clusters.ts';
import { type ApiError, api } from './client.ts';

const pollMs = 60_000;

interface Enabled {
  readonly enabled: boolean;
}

/** The known clusters, with what an organization allows each; for its admins. */
export function useClusterRules(
  organization: string,
  { enabled }: Enabled,
): UseQueryResult<readonly ClusterRulesView[], ApiError> {
  return useQuery<readonly ClusterRulesView[], ApiError>({
    queryKey: ['cluster-rules', organization],
    queryFn: async () => {
      const params = { org: organization };
      return (await call(api, 'GET /organizations/{org}/clusters', { params })).body.clusters;
    },
    refetchInterval: pollMs,
    enabled,
  });
}

/** The clusters of the instance with their states; for instance admins. */
export function useClusters({ enabled }: Enabled): UseQueryResult<readonly ClusterView[], ApiError> {
  return useQuery<readonly ClusterView[], ApiError>({
    queryKey: ['clusters'],
    queryFn: async () => (await call(api, 'GET /clusters')).body.clusters,
    refetchInterval: pollMs,
    enabled,
  });
}
