import { type ReactNode, useState } from 'react';
import type { VersionView } from '../../../wire/versions.ts';
import { useVersions } from '../../api/versions.ts';
import { Button } from '../../parts/button.tsx';
import { Failure } from '../../parts/failure.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import type { Place, Rights } from '../../text/place.ts';
import { VersionRow } from './version-row.tsx';

export interface HistoryProps {
  readonly name: string;
  readonly place: Place;
  /** The present version; 0 if the key is deleted. */
  readonly version: number;
  readonly rights: Rights;
}

/** The versions of a key: who, when and why, and what can be done with each. */
export function History({ name, place, version, rights }: HistoryProps): ReactNode {
  const versions = useVersions(place, name, version);
  const [report, setReport] = useState('');
  const all = versions.data?.pages.flatMap((page) => page.versions);
  return (
    <section className="drawer-section" aria-label="History">
      <h3>History</h3>
      <output className="report">{report}</output>
      {all !== undefined ? (
        <ol className="timeline">
          {all.map((entry) => (
            <li key={entry.version}>
              <VersionRow
                entry={entry}
                name={name}
                place={place}
                present={version}
                other={otherOf(entry, all, version)}
                rights={rights}
                onDone={setReport}
              />
            </li>
          ))}
        </ol>
      ) : versions.error !== null ? (
        <Failure error={versions.error} onRetry={() => void versions.refetch()} />
      ) : (
        <Skeleton name="Loading the history" rows={3} />
      )}
      {all !== undefined && versions.isFetchNextPageError ? (
        <Failure error={versions.error} onRetry={() => void versions.fetchNextPage()} />
      ) : versions.hasNextPage ? (
        <Button busy={versions.isFetchingNextPage} onClick={() => void versions.fetchNextPage()}>
          Show earlier versions
        </Button>
      ) : undefined}
    </section>
  );
}

/** What a version is compared with: the present one, and the present one with the one before it. */
function otherOf(entry: VersionView, all: readonly VersionView[], present: number): VersionView | undefined {
  const newest = present === 0 ? all[0]?.version : present;
  const wanted = entry.version === newest ? entry.version - 1 : newest;
  const found = all.find(({ version }) => version === wanted);
  return found?.destroyedAt === null && entry.destroyedAt === null ? found : undefined;
}
