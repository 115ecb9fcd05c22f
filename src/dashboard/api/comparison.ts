import { type UseQueryResult, keepPreviousData, useQuery } from '@tanstack/react-query';
import { call } from '../../client/call.ts';
import type { CopyView } from '../../wire/copies.ts';
import { type Place, paramsOf } from '../text/place.ts';
import { type ApiError, api } from './client.ts';

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
    queryFn: async () => {
      if (into === undefined || from === undefined) throw new Error('there is nothing to compare');
      const { project, environment } = from;
      const answer = await call(api, 'POST /environments/{org}/{project}/{env}/copy', {
        params: paramsOf(into),
        body: { from: { project, environment }, mode: 'mirror', dryRun: true },
      });
      return answer.body;
    },
    enabled: sides !== undefined,
    // Each request is audited.
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: keepPreviousData,
  });
}
