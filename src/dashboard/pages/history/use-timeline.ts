import { useMemo } from 'react';
import type { SecretKeyListView } from '../../../wire/secrets.ts';
import type { ApiError } from '../../api/client.ts';
import { useChanges, useSnapshots } from '../../api/timeline.ts';
import type { Place, Rights } from '../../text/place.ts';
import { type MergedTimeline, mergeTimeline } from '../../text/timeline.ts';

export interface Timeline extends MergedTimeline {
  /** Whether nothing can be shown yet. */
  readonly isLoading: boolean;
  /** Why there is nothing, or nothing more, to show. */
  readonly error: ApiError | null;
  readonly isFetchingMore: boolean;
  readonly fetchMore: () => void;
  readonly retry: () => void;
}

/** The revisions and snapshots of an environment, merged as far as both are loaded. */
export function useTimeline(place: Place): Timeline {
  const changes = useChanges(place);
  const snapshots = useSnapshots(place);
  const merged = useMemo(
    () =>
      mergeTimeline(
        { items: changes.data?.pages.flatMap((page) => page.changes) ?? [], hasMore: changes.hasNextPage },
        { items: snapshots.data?.pages.flatMap((page) => page.snapshots) ?? [], hasMore: snapshots.hasNextPage },
      ),
    [changes.data, changes.hasNextPage, snapshots.data, snapshots.hasNextPage],
  );
  return {
    ...merged,
    isLoading: changes.data === undefined || snapshots.data === undefined,
    error: changes.error ?? snapshots.error,
    isFetchingMore: changes.isFetchingNextPage || snapshots.isFetchingNextPage,
    fetchMore: () => void (merged.next === 'changes' ? changes : snapshots).fetchNextPage(),
    retry: () => {
      if (changes.isError) void changes.refetch();
      if (snapshots.isError) void snapshots.refetch();
    },
  };
}

/** What the drawers of the history take. */
export interface HistoryDrawerProps {
  readonly place: Place;
  /** The present keys; undefined while they load. */
  readonly present: SecretKeyListView | undefined;
  readonly rights: Rights;
  readonly timeline: Timeline;
  readonly onClose: () => void;
  /** Takes a sentence about what was done. */
  readonly onDone: (report: string) => void;
}
