import { type UseQueryResult, queryOptions, useQuery } from '@tanstack/react-query';
import type { ConsumerView, FleetConsumerView } from '../../wire/consumers.ts';
import { type Head, isUnderWay } from '../text/consumers.ts';
import { type FleetSummary, summarizeFleet } from '../text/fleet-summary.ts';
import { type Place, pathOf } from '../text/place.ts';
import { type ApiError, callApi } from './client.ts';

const pollMs = 10_000;
const arrivalPollMs = 2_000;
/** Of 1,000 SecretSyncs each. */
const maxPages = 20;

interface Page<Consumer> {
  readonly consumers: readonly Consumer[];
  readonly nextCursor: string | null;
}

/** All entries of a list of consumers, page by page. */
async function readAll<Consumer>(path: string): Promise<readonly Consumer[]> {
  const found: Consumer[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < maxPages; page += 1) {
    const query: string = cursor === null ? '' : `?cursor=${encodeURIComponent(cursor)}`;
    const { consumers, nextCursor } = await callApi<Page<Consumer>>(`${path}${query}`);
    found.push(...consumers);
    if (nextCursor === null) break;
    cursor = nextCursor;
  }
  return found;
}

function fleetQuery(organization: string) {
  return queryOptions<readonly FleetConsumerView[], ApiError>({
    queryKey: ['fleet', organization],
    queryFn: () => readAll<FleetConsumerView>(`/fleet/${organization}`),
    refetchInterval: pollMs,
  });
}

/**
 * What reads an environment, requested again every ten seconds, and more often while the newest revision is under way.
 *
 * @param head the newest revision; undefined while it loads
 */
export function useConsumers(place: Place, head: Head | undefined): UseQueryResult<readonly ConsumerView[], ApiError> {
  return useQuery<readonly ConsumerView[], ApiError>({
    queryKey: ['consumers', pathOf(place)],
    queryFn: () => readAll<ConsumerView>(`/environments/${pathOf(place)}/consumers`),
    refetchInterval: ({ state: { data } }) => (isUnderWay(data ?? [], head) ? arrivalPollMs : pollMs),
  });
}

/** The same as `useFleet`, as a list. */
export function useFleetConsumers(organization: string): UseQueryResult<readonly FleetConsumerView[], ApiError> {
  return useQuery(fleetQuery(organization));
}

/** What reads the environments of an organization, requested again every ten seconds. */
export function useFleet(organization: string): UseQueryResult<FleetSummary, ApiError> {
  return useQuery({ ...fleetQuery(organization), select: summarizeFleet });
}
