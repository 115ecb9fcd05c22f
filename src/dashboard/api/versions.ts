import {
  type InfiniteData,
  type UseInfiniteQueryResult,
  type UseMutationResult,
  keepPreviousData,
  useInfiniteQuery,
} from '@tanstack/react-query';
import { call } from '../../client/call.ts';
import type { DestroyedVersionView, RollbackView, VersionListView } from '../../wire/versions.ts';
import { type Place, paramsOf, pathOf } from '../text/place.ts';
import { type ApiError, api } from './client.ts';
import { keysQuery } from './secrets.ts';
import { timelineKey } from './timeline.ts';
import { useChange } from './use-change.ts';
import { useOnce } from './use-once.ts';

const pageSize = 20;

/**
 * The versions of a key, newest first, without values, twenty at a time.
 *
 * @param version the present one: with another, the list is requested again
 */
export function useVersions(
  place: Place,
  key: string,
  version: number,
): UseInfiniteQueryResult<InfiniteData<VersionListView>, ApiError> {
  return useInfiniteQuery<VersionListView, ApiError, InfiniteData<VersionListView>, readonly unknown[], string>({
    queryKey: ['versions', pathOf(place), key, version],
    queryFn: async ({ pageParam }) => {
      const query = { limit: String(pageSize), ...(pageParam === '' ? {} : { cursor: pageParam }) };
      const request = { params: { ...paramsOf(place), key }, query };
      return (await call(api, 'GET /versions/{org}/{project}/{env}/{key}', request)).body;
    },
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
    placeholderData: keepPreviousData,
  });
}

export interface Rollback {
  readonly targetVersion: number;
  /** The present version; 0 for a deleted key, which is then restored. */
  readonly expectedVersion: number;
  readonly comment: string;
}

/** Gives a key the value of an earlier version, as a new one. */
export function useRollback(place: Place, key: string): UseMutationResult<RollbackView, ApiError, Rollback> {
  const once = useOnce();
  return useVersionChange<RollbackView, Rollback>(place, key, ({ comment, ...rest }) => {
    const body = {
      ...rest,
      ...(rest.expectedVersion === 0 ? { undelete: true } : {}),
      ...(comment === '' ? {} : { comment }),
    };
    return once(body, async (idempotencyKey) => {
      const request = { params: { ...paramsOf(place), key }, body, idempotencyKey };
      return (await call(api, 'POST /versions/{org}/{project}/{env}/{key}/rollback', request)).body;
    });
  });
}

export interface Destruction {
  readonly version: number;
  /** What becomes of other versions with the same value; undefined until the user has decided. */
  readonly sameValue: boolean | undefined;
}

/** Erases the value of a version for good. */
export function useDestroy(place: Place, key: string): UseMutationResult<DestroyedVersionView, ApiError, Destruction> {
  return useVersionChange<DestroyedVersionView, Destruction>(place, key, async ({ version, sameValue }) => {
    const request = { params: { ...paramsOf(place), key, version }, body: { sameValue } };
    return (await call(api, 'POST /versions/{org}/{project}/{env}/{key}/{version}/destroy', request)).body;
  });
}

function useVersionChange<View, Input>(
  place: Place,
  key: string,
  mutationFn: (input: Input) => Promise<View>,
): UseMutationResult<View, ApiError, Input> {
  return useChange(mutationFn, keysQuery(place).queryKey, ['versions', pathOf(place), key], timelineKey(pathOf(place)));
}
