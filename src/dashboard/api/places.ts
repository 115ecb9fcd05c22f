import { type UseQueryResult, queryOptions, useQuery } from '@tanstack/react-query';
import { call } from '../../client/call.ts';
import type { EnvironmentView, ProjectView } from '../../wire/tenancy.ts';
import { type ApiError, api } from './client.ts';

/** A project with its environments, by slug. */
export interface ProjectPlaces {
  readonly project: ProjectView;
  readonly environments: readonly EnvironmentView[];
}

const pollMs = 60_000;

function placesQuery(organization: string) {
  return queryOptions<readonly ProjectPlaces[], ApiError>({
    queryKey: ['places', organization],
    queryFn: async () => {
      const request = { params: { org: organization }, query: { environments: 'true' } } as const;
      const { projects } = (await call(api, 'GET /projects/{org}', request)).body;
      return projects.map(({ environments = [], ...project }) => ({ project, environments }));
    },
    refetchInterval: pollMs,
  });
}

/** The projects and environments of an organization that the user may see. */
export function usePlaces(organization: string): UseQueryResult<readonly ProjectPlaces[], ApiError> {
  return useQuery(placesQuery(organization));
}
