import { type ReactNode, useMemo } from 'react';
import { Button } from '../../parts/button.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Failure } from '../../parts/failure.tsx';
import { useNow } from '../../parts/use-now.ts';
import { Skeleton } from '../../parts/skeleton.tsx';
import { daysOf, matchingEntries } from '../../text/timeline.ts';
import { EventRow } from './event-row.tsx';
import type { Timeline } from './use-timeline.ts';

/** The entries of the history that match a filter, by day. */
export function Events({ timeline, filter }: { readonly timeline: Timeline; readonly filter: string }): ReactNode {
  const { entries, next, isLoading, error, isFetchingMore, fetchMore, retry } = timeline;
  const found = useMemo(() => matchingEntries(entries, filter), [entries, filter]);
  const now = useNow();
  if (isLoading) {
    if (error !== null) return <Failure error={error} onRetry={retry} />;
    return <Skeleton name="Loading the history" rows={8} look="tall" />;
  }
  const isFiltered = filter.trim() !== '';
  return (
    <>
      {found.length === 0 ? <NoEvents isFiltered={isFiltered} hasMore={next !== undefined} /> : undefined}
      <div className="days">
        {daysOf(found, new Date(now)).map(({ title, entries: members }) => (
          <section key={title} className="day" aria-label={title}>
            <h2>{title}</h2>
            <ol className="events">
              {members.map((entry) => (
                <EventRow key={entry.kind === 'revision' ? entry.change.revisionId : entry.snapshot.id} entry={entry} />
              ))}
            </ol>
          </section>
        ))}
      </div>
      {error === null ? undefined : <Failure error={error} onRetry={retry} />}
      {next === undefined ? undefined : (
        <Button busy={isFetchingMore} onClick={fetchMore}>
          {isFiltered ? 'Search earlier entries' : 'Show earlier entries'}
        </Button>
      )}
    </>
  );
}

function NoEvents({ isFiltered, hasMore }: { readonly isFiltered: boolean; readonly hasMore: boolean }): ReactNode {
  if (isFiltered) return <Empty title={hasMore ? 'None of the newest entries matches' : 'No entry matches'} />;
  return (
    <Empty title="Nothing has happened here yet">
      <p>Each change of a key and each snapshot will be here, with who made it and when.</p>
    </Empty>
  );
}
