import { type UseQueryResult, keepPreviousData, useQuery } from '@tanstack/react-query';
import type { CopyView } from '../../wire/copies.ts';
import { type Place, pathOf } from '../text/place.ts';
import { type ApiError, callApi } from './client.ts';

export interface ComparisonSides {
  /** An environment that the user may write: the server compares values as the plan of a copy into it. */
  readonly into: Place;
  readonly from: Place;
  /** The ids of their revisions: with others, they are compared again. */
  readonly revisions: readonly string[];
}

/** Which keys of two environments have equal values, as the server says. Undefined sides compare nothing. */
export function useComparison(sides: ComparisonSides | undefined): UseQueryResult<CopyView, ApiError> {
  const { into, from, revisions } = sides ?? {};
  return useQuery<CopyView, ApiError>({
    queryKey: ['comparison', into, from, revisions],
    queryFn: () =>
      into === undefined || from === undefined
        ? Promise.reject(new Error('there is nothing to compare'))
        : callApi<CopyView>(`/environments/${pathOf(into)}/copy`, {
            method: 'POST',
            body: {
              from: { project: from.project, environment: from.environment },
              mode: 'mirror',
              dryRun: true,
            },
          }),
    enabled: sides !== undefined,
    // Each request is audited.
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: keepPreviousData,
  });
}
