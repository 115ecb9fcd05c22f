import { type UseQueryResult, queryOptions, useQuery } from '@tanstack/react-query';
import { call } from '../../client/call.ts';
import { allPages } from '../../client/pages.ts';
import type { ConsumerView, FleetConsumerView } from '../../wire/consumers.ts';
import { isUnderWay } from '../text/consumers.ts';
import { type FleetSummary, summarizeFleet } from '../text/fleet-summary.ts';
import type { Newest } from '../text/newest.ts';
import { type Place, paramsOf, pathOf } from '../text/place.ts';
import { type ApiError, api } from './client.ts';

const pollMs = 10_000;
const arrivalPollMs = 2_000;

function fleetQuery(organization: string) {
  return queryOptions<readonly FleetConsumerView[], ApiError>({
    queryKey: ['fleet', organization],
    queryFn: async () => {
      const params = { org: organization };
      const pages = await allPages(
        async (cursor) => (await call(api, 'GET /fleet/{org}', { params, query: { cursor } })).body,
      );
      return pages.flatMap(({ consumers }) => consumers);
    },
    refetchInterval: pollMs,
  });
}

/**
 * What reads an environment, requested again every ten seconds, and more often while the newest revision is under way.
 *
 * @param newest the newest revision; undefined while it loads
 */
export function useConsumers(
  place: Place,
  newest: Newest | undefined,
): UseQueryResult<readonly ConsumerView[], ApiError> {
  return useQuery<readonly ConsumerView[], ApiError>({
    queryKey: ['consumers', pathOf(place)],
    queryFn: async () => {
      const params = paramsOf(place);
      const endpoint = 'GET /environments/{org}/{project}/{env}/consumers';
      const pages = await allPages(async (cursor) => (await call(api, endpoint, { params, query: { cursor } })).body);
      return pages.flatMap(({ consumers }) => consumers);
    },
    refetchInterval: ({ state: { data } }) => (isUnderWay(data ?? [], newest) ? arrivalPollMs : pollMs),
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
