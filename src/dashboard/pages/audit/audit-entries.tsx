import type { ReactNode } from 'react';
import type { ActorNames } from '../../api/actor-names.ts';
import type { useAudit } from '../../api/audit.ts';
import { Button } from '../../parts/button.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Failure } from '../../parts/failure.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import type { Filters } from '../../parts/use-filters.ts';
import { isUnknownAction } from '../../text/audit-filter.ts';
import { AuditTable } from './audit-table.tsx';
import { EntryDrawer } from './entry-drawer.tsx';

export interface AuditEntriesProps {
  readonly audit: ReturnType<typeof useAudit>;
  readonly names: ActorNames;
  /** Of the filter. */
  readonly action: string;
  readonly filters: Filters;
}

/** The entries that were loaded, a button for earlier ones, and the one that is open. */
export function AuditEntries({ audit, names, action, filters }: AuditEntriesProps): ReactNode {
  const entries = audit.data?.pages.flatMap((page) => page.entries);
  if (entries === undefined) {
    if (audit.error !== null) return <Failure error={audit.error} onRetry={() => void audit.refetch()} />;
    return <Skeleton name="Loading the audit" rows={10} look="tall" />;
  }
  if (entries.length === 0) {
    return (
      <Empty title="No entry matches">
        {isUnknownAction(action) ? <p>No action is called {action}.</p> : undefined}
      </Empty>
    );
  }
  const open = entries.find(({ id }) => id === filters.get('entry'));
  return (
    <>
      <AuditTable
        entries={entries}
        names={names}
        isFormer={audit.isPlaceholderData}
        linkTo={(entry) => filters.with({ entry })}
      />
      <Earlier audit={audit} />
      {open === undefined ? undefined : (
        <EntryDrawer
          entry={open}
          onFilter={(changes) => filters.set({ ...changes, entry: '' })}
          onClose={() => filters.set({ entry: '' })}
        />
      )}
    </>
  );
}

/** A failure of a later page leaves what was loaded. */
function Earlier({ audit }: Pick<AuditEntriesProps, 'audit'>): ReactNode {
  if (audit.error !== null) {
    const retry = (): void => void (audit.isFetchNextPageError ? audit.fetchNextPage() : audit.refetch());
    return <Failure error={audit.error} onRetry={retry} />;
  }
  if (!audit.hasNextPage) return undefined;
  return (
    <div>
      <Button busy={audit.isFetchingNextPage} onClick={() => void audit.fetchNextPage()}>
        Load earlier entries
      </Button>
    </div>
  );
}
