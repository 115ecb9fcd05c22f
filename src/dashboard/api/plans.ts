import { type UseMutationResult, type UseQueryResult, useQuery } from '@tanstack/react-query';
import { type RequestOf, call } from '../../client/call.ts';
import type { RevertView } from '../../wire/changes.ts';
import type { CopyView } from '../../wire/copies.ts';
import type { RestoreView } from '../../wire/snapshots.ts';
import { type Place, paramsOf, pathOf } from '../text/place.ts';
import { type ApiError, api } from './client.ts';
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
export interface PlanRequest<View> {
  /** What it does where, for the keys of queries. */
  readonly key: readonly unknown[];
  readonly send: (fields: PlanFields, idempotencyKey?: string) => Promise<View>;
}

/** The fields of the body that make a plan, or apply one. */
type PlanFields = Pick<
  NonNullable<RequestOf<'POST /changes/{org}/{project}/{env}/{revision}/revert'>['body']>,
  'dryRun' | 'planHash' | 'expectedRevision' | 'comment'
>;

/** How a revision, by number or id, is reverted. */
export function revertRequest(
  place: Place,
  { revision, overwrite }: { readonly revision: string; readonly overwrite: boolean },
): PlanRequest<RevertView> {
  const params = { ...paramsOf(place), revision };
  return {
    key: ['revert', params, overwrite],
    send: async (fields, idempotencyKey) => {
      const request = { params, body: { overwrite, ...fields }, idempotencyKey };
      return (await call(api, 'POST /changes/{org}/{project}/{env}/{revision}/revert', request)).body;
    },
  };
}

export interface RestoreChoice {
  readonly snapshotId: string;
  readonly prune: boolean;
  readonly includeDeleted: boolean;
  readonly backup: boolean;
}

/** How an environment is restored. Keys that have the value already get no version. */
export function restoreRequest(place: Place, choice: RestoreChoice): PlanRequest<RestoreView> {
  const params = paramsOf(place);
  return {
    key: ['restore', params, choice],
    send: async (fields, idempotencyKey) => {
      const request = { params, body: { ...choice, skipUnchanged: true, ...fields }, idempotencyKey };
      return (await call(api, 'POST /snapshots/{org}/{project}/{env}/restore', request)).body;
    },
  };
}

export interface CopyChoice {
  readonly from: Place;
  /** The id of the revision of `from`, or its number. */
  readonly revision: string;
  readonly mode: 'changed' | 'mirror';
  readonly keys?: { readonly include: readonly string[] } | { readonly exclude: readonly string[] };
}

/** How keys of another environment of the organization, or of an earlier revision of the same one, are copied into an environment. */
export function copyRequest(place: Place, { from, revision, ...rest }: CopyChoice): PlanRequest<CopyView> {
  const { project, environment } = from;
  const params = paramsOf(place);
  // The body of a request has numbers as numbers.
  const source = { project, environment, revision: /^\d+$/.test(revision) ? Number(revision) : revision };
  return {
    key: ['copy', params, source, rest],
    send: async (fields, idempotencyKey) => {
      const request = { params, body: { from: source, ...rest, ...fields }, idempotencyKey };
      return (await call(api, 'POST /environments/{org}/{project}/{env}/copy', request)).body;
    },
  };
}

/** The plan of a request. It is made once, and again only with `refetch`: each dry run is audited. */
export function usePlan<View extends Planned>({ key, send }: PlanRequest<View>): UseQueryResult<View, ApiError> {
  return useQuery<View, ApiError>({
    queryKey: ['plan', ...key],
    queryFn: () => send({ dryRun: true }),
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
  { key, send }: PlanRequest<View>,
): UseMutationResult<View, ApiError, Application> {
  const once = useOnce();
  return useChange(
    ({ plan: { planHash, revisionId }, comment }: Application) => {
      const fields = { planHash, expectedRevision: revisionId, ...(comment === '' ? {} : { comment }) };
      return once({ key, fields }, (idempotencyKey) => send(fields, idempotencyKey));
    },
    keysQuery(place).queryKey,
    timelineKey(pathOf(place)),
  );
}
