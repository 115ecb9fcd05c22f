import { type UseQueryResult, queryOptions, useQuery } from '@tanstack/react-query';
import type { FleetConsumerView } from '../../wire/consumers.ts';
import { type FleetSummary, summarizeFleet } from '../text/fleet-summary.ts';
import { type ApiError, callApi } from './client.ts';

const pollMs = 10_000;
/** Of 1,000 SecretSyncs each. */
const maxPages = 20;

interface FleetPage {
  readonly consumers: readonly FleetConsumerView[];
  readonly nextCursor: string | null;
}

function fleetQuery(organization: string) {
  return queryOptions<readonly FleetConsumerView[], ApiError>({
    queryKey: ['fleet', organization],
    queryFn: async () => {
      const found: FleetConsumerView[] = [];
      let cursor: string | null = null;
      for (let page = 0; page < maxPages; page += 1) {
        const query: string = cursor === null ? '' : `?cursor=${encodeURIComponent(cursor)}`;
        const { consumers, nextCursor } = await callApi<FleetPage>(`/fleet/${organization}${query}`);
        found.push(...consumers);
        if (nextCursor === null) break;
        cursor = nextCursor;
      }
      return found;
    },
    refetchInterval: pollMs,
  });
}

/** The same as a list. */
export function useConsumers(organization: string): UseQueryResult<readonly FleetConsumerView[], ApiError> {
  return useQuery(fleetQuery(organization));
}

/** What reads the environments of an organization, requested again every ten seconds. */
export function useFleet(organization: string): UseQueryResult<FleetSummary, ApiError> {
  return useQuery({ ...fleetQuery(organization), select: summarizeFleet });
}
