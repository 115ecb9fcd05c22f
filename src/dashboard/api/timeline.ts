import {
  type InfiniteData,
  type QueryClient,
  type QueryKey,
  type UseInfiniteQueryResult,
  type UseMutationResult,
  type UseQueryResult,
  useInfiniteQuery,
  useQuery,
} from '@tanstack/react-query';
import type { ChangeView } from '../../wire/changes.ts';
import type { SnapshotListView, SnapshotView } from '../../wire/snapshots.ts';
import { type Place, pathOf } from '../text/place.ts';
import { type ApiError, callApi } from './client.ts';
import { useChange } from './use-change.ts';
import { useOnce } from './use-once.ts';

const pageSize = 50;

interface ChangePage {
  readonly changes: readonly ChangeView[];
  readonly nextCursor: string | null;
}

/** What the queries of an environment's history have in common in their keys. */
export function timelineKey(path: string): QueryKey {
  return ['timeline', path];
}

function listKey(path: string, list: 'changes' | 'snapshots'): QueryKey {
  return [...timelineKey(path), list];
}

/** Whether the history of an environment begins with a revision, as far as it is loaded. */
export function hasNewestChange(client: QueryClient, path: string, revisionId: unknown): boolean {
  const loaded = client.getQueryData<InfiniteData<ChangePage>>(listKey(path, 'changes'));
  const newest = loaded?.pages[0]?.changes[0];
  return newest === undefined || newest.revisionId === revisionId;
}

/** The revisions of an environment, newest first, fifty at a time. */
export function useChanges(place: Place): UseInfiniteQueryResult<InfiniteData<ChangePage>, ApiError> {
  return usePages<ChangePage>(place, 'changes');
}

/** The snapshots of an environment, newest first, fifty at a time. */
export function useSnapshots(place: Place): UseInfiniteQueryResult<InfiniteData<SnapshotListView>, ApiError> {
  return usePages<SnapshotListView>(place, 'snapshots');
}

function usePages<Page extends { readonly nextCursor: string | null }>(
  place: Place,
  list: 'changes' | 'snapshots',
): UseInfiniteQueryResult<InfiniteData<Page>, ApiError> {
  const path = pathOf(place);
  return useInfiniteQuery<Page, ApiError, InfiniteData<Page>, QueryKey, string>({
    queryKey: listKey(path, list),
    queryFn: ({ pageParam }) => {
      const cursor = pageParam === '' ? '' : `&cursor=${encodeURIComponent(pageParam)}`;
      return callApi<Page>(`/${list}/${path}?limit=${pageSize}${cursor}`);
    },
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
  });
}

/** A snapshot by its id. */
export function useSnapshot(place: Place, id: string): UseQueryResult<SnapshotView, ApiError> {
  return useQuery<SnapshotView, ApiError>({
    queryKey: ['snapshot', pathOf(place), id],
    queryFn: () => callApi<SnapshotView>(`/snapshots/${pathOf(place)}/${encodeURIComponent(id)}`),
  });
}

export interface NewSnapshot {
  readonly name: string;
  readonly description: string;
}

/** Takes a snapshot. Empty texts are not sent. */
export function useCreateSnapshot(place: Place): UseMutationResult<SnapshotView, ApiError, NewSnapshot> {
  const once = useOnce();
  return useChange(
    ({ name, description }: NewSnapshot) => {
      const body = { ...(name === '' ? {} : { name }), ...(description === '' ? {} : { description }) };
      return once(body, (idempotencyKey) =>
        callApi<SnapshotView>(`/snapshots/${pathOf(place)}`, { method: 'POST', body, idempotencyKey }),
      );
    },
    timelineKey(pathOf(place)),
  );
}
