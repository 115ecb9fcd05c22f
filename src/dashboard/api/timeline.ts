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
import { type BodyOf, call } from '../../client/call.ts';
import type { SnapshotListView, SnapshotView } from '../../wire/snapshots.ts';
import { type Place, paramsOf, pathOf } from '../text/place.ts';
import { type ApiError, api } from './client.ts';
import { useChange } from './use-change.ts';
import { useOnce } from './use-once.ts';

const pageSize = 50;

type ChangePage = BodyOf<'GET /changes/{org}/{project}/{env}'>;

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
  return usePages<ChangePage>(place, 'changes', async (request) => {
    return (await call(api, 'GET /changes/{org}/{project}/{env}', request)).body;
  });
}

/** The snapshots of an environment, newest first, fifty at a time. */
export function useSnapshots(place: Place): UseInfiniteQueryResult<InfiniteData<SnapshotListView>, ApiError> {
  return usePages<SnapshotListView>(place, 'snapshots', async (request) => {
    return (await call(api, 'GET /snapshots/{org}/{project}/{env}', request)).body;
  });
}

interface PageRequest {
  readonly params: ReturnType<typeof paramsOf>;
  readonly query: { readonly limit: string; readonly cursor?: string };
}

function usePages<Page extends { readonly nextCursor: string | null }>(
  place: Place,
  list: 'changes' | 'snapshots',
  read: (request: PageRequest) => Promise<Page>,
): UseInfiniteQueryResult<InfiniteData<Page>, ApiError> {
  return useInfiniteQuery<Page, ApiError, InfiniteData<Page>, QueryKey, string>({
    queryKey: listKey(pathOf(place), list),
    queryFn: ({ pageParam }) => {
      const cursor = pageParam === '' ? {} : { cursor: pageParam };
      return read({ params: paramsOf(place), query: { limit: String(pageSize), ...cursor } });
    },
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
  });
}

/** A snapshot by its id. */
export function useSnapshot(place: Place, id: string): UseQueryResult<SnapshotView, ApiError> {
  return useQuery<SnapshotView, ApiError>({
    queryKey: ['snapshot', pathOf(place), id],
    queryFn: async () => {
      const params = { ...paramsOf(place), id };
      return (await call(api, 'GET /snapshots/{org}/{project}/{env}/{id}', { params })).body;
    },
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
      return once(body, async (idempotencyKey) => {
        const request = { params: paramsOf(place), body, idempotencyKey };
        return (await call(api, 'POST /snapshots/{org}/{project}/{env}', request)).body;
      });
    },
    timelineKey(pathOf(place)),
  );
}
