import { type UseMutationResult, type UseQueryResult, useQuery } from '@tanstack/react-query';
import { type Place, pathOf } from '../text/place.ts';
import { type ApiError, callApi } from './client.ts';
import { keysQuery } from './secrets.ts';
import { timelineKey } from './timeline.ts';
import { useChange } from './use-change.ts';
import { useOnce } from './use-once.ts';

/** What a dry run returned. */
export interface Planned {
  readonly planHash?: string;
  /** The present revision for which the plan was made. */
  readonly revisionId: string;
}

/** A request that plans with `dryRun`, and does what the plan says with its `planHash`. */
export interface PlanRequest {
  /** Below /api/v1. */
  readonly path: string;
  readonly body: object;
}

/** How a revision, by number or id, is reverted. */
export function revertRequest(
  place: Place,
  { revision, overwrite }: { readonly revision: string; readonly overwrite: boolean },
): PlanRequest {
  return { path: `/changes/${pathOf(place)}/${encodeURIComponent(revision)}/revert`, body: { overwrite } };
}

export interface RestoreChoice {
  readonly snapshotId: string;
  readonly prune: boolean;
  readonly includeDeleted: boolean;
  readonly backup: boolean;
}

/** How an environment is restored. Keys that have the value already get no version. */
export function restoreRequest(place: Place, choice: RestoreChoice): PlanRequest {
  return { path: `/snapshots/${pathOf(place)}/restore`, body: { ...choice, skipUnchanged: true } };
}

export interface CopyChoice {
  readonly from: Place;
  /** The id of the revision of `from`, or its number. */
  readonly revision: string;
  readonly mode: 'changed' | 'mirror';
  readonly keys?: { readonly include: readonly string[] } | { readonly exclude: readonly string[] };
}

/** How keys of another environment of the organization, or of an earlier revision of the same one, are copied into an environment. */
export function copyRequest(place: Place, { from, revision, ...rest }: CopyChoice): PlanRequest {
  const { project, environment } = from;
  return {
    path: `/environments/${pathOf(place)}/copy`,
    // The body of a request has numbers as numbers.
    body: { from: { project, environment, revision: /^\d+$/.test(revision) ? Number(revision) : revision }, ...rest },
  };
}

/** The plan of a request. It is made once, and again only with `refetch`: each dry run is audited. */
export function usePlan<View extends Planned>({ path, body }: PlanRequest): UseQueryResult<View, ApiError> {
  return useQuery<View, ApiError>({
    queryKey: ['plan', path, body],
    queryFn: () => callApi<View>(path, { method: 'POST', body: { ...body, dryRun: true } }),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
}

export interface Application {
  readonly plan: Planned;
  readonly comment: string;
}

/** Does exactly what a plan says, or nothing. */
export function useApply<View extends Planned>(
  place: Place,
  { path, body }: PlanRequest,
): UseMutationResult<View, ApiError, Application> {
  const once = useOnce();
  return useChange(
    ({ plan: { planHash, revisionId }, comment }: Application) => {
      const applied = { ...body, planHash, expectedRevision: revisionId, ...(comment === '' ? {} : { comment }) };
      return once({ path, ...applied }, (idempotencyKey) =>
        callApi<View>(path, { method: 'POST', body: applied, idempotencyKey }),
      );
    },
    keysQuery(place).queryKey,
    timelineKey(pathOf(place)),
  );
}
