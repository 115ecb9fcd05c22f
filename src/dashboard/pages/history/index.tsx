import { type ReactNode, useState } from 'react';
import { useSearchParams } from 'react-router';
import { Button } from '../../parts/button.tsx';
import { FilterField } from '../../parts/form/filter-field.tsx';
import { Notice } from '../../parts/notice.tsx';
import { SavedNotice } from '../../parts/saved-notice.tsx';
import { type EnvironmentFacts, EnvironmentShell } from '../environment/shell.tsx';
import { Events } from './events.tsx';
import { NewSnapshot } from './new-snapshot.tsx';
import { RevisionDrawer } from './revision-drawer.tsx';
import { SnapshotDrawer } from './snapshot-drawer.tsx';
import { useTimeline } from './use-timeline.ts';

/** What happened in an environment: its revisions and snapshots on one axis. */
export function HistoryPage(): ReactNode {
  return (
    <EnvironmentShell documentTitle={(environment) => `History of ${environment}`}>
      {(facts) => <History {...facts} />}
    </EnvironmentShell>
  );
}

function History({ place, keys, rights }: EnvironmentFacts): ReactNode {
  const [parameters, setParameters] = useSearchParams();
  const [filter, setFilter] = useState('');
  const [isNew, setNew] = useState(false);
  const [saved, setSaved] = useState('');
  const [taken, setTaken] = useState('');
  const timeline = useTimeline(place);
  const close = (): void => setParameters({});
  const done = (text: string): void => {
    setTaken('');
    setSaved(text);
    close();
  };
  const tookSnapshot = (text: string): void => {
    setSaved('');
    setTaken(text);
    setNew(false);
  };
  const revision = parameters.get('revision');
  const snapshot = parameters.get('snapshot');
  const shared = { place, present: keys.data, rights, timeline, onClose: close, onDone: done };
  return (
    <>
      <SavedNotice place={place}>{saved}</SavedNotice>
      {taken === '' ? undefined : <Notice kind="info">{taken}</Notice>}
      <div className="toolbar">
        <FilterField name="Filter by key, person or comment" value="" onChange={setFilter} />
        {rights.mayTakeSnapshots ? (
          <span className="toolbar-end">
            <Button onClick={() => setNew(true)}>Take a snapshot</Button>
          </span>
        ) : undefined}
      </div>
      <Events timeline={timeline} filter={filter} />
      {revision === null ? undefined : <RevisionDrawer key={revision} revision={revision} {...shared} />}
      {snapshot === null ? undefined : <SnapshotDrawer key={snapshot} id={snapshot} {...shared} />}
      {isNew ? <NewSnapshot place={place} onClose={() => setNew(false)} onDone={tookSnapshot} /> : undefined}
    </>
  );
}
