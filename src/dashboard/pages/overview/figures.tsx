import type { ReactNode } from 'react';
import { Status } from '../../parts/status.tsx';
import { Verdict } from '../../parts/verdict.tsx';
import type { FleetSummary } from '../../text/fleet-summary.ts';

export interface FleetVerdictProps {
  /** Undefined while it loads. */
  readonly fleet: FleetSummary | undefined;
  /** Whether the newest attempt to load it failed. */
  readonly isOld: boolean;
}

/** The answer to the question of the page. */
export function FleetVerdict({ fleet, isOld }: FleetVerdictProps): ReactNode {
  if (fleet === undefined) {
    return (
      <Status tone="neutral">{isOld ? 'The state of the clusters is not known.' : 'Looking at the clusters…'}</Status>
    );
  }
  if (fleet.total === 0 && !isOld) {
    return <Status tone="neutral">No SecretSync reads these environments yet.</Status>;
  }
  return <Verdict where={fleet} newest="the newest values" isOld={isOld} />;
}

export interface FiguresProps {
  readonly fleet: FleetSummary | undefined;
  /** Undefined while they load. */
  readonly environments: number | undefined;
}

/** The numbers at the top. */
export function Figures({ fleet, environments }: FiguresProps): ReactNode {
  const open = fleet === undefined ? 0 : fleet.counts.stalled + fleet.counts.progressing;
  return (
    <dl className="figures">
      <Figure name="Environments" value={environments} />
      <Figure name="Clusters" value={fleet?.clusters.length} note={noteOf(fleet?.staleClusters, 'stale')} />
      <Figure name="SecretSyncs" value={fleet?.total} note={noteOf(fleet?.counts.suspended, 'suspended')} />
      <Figure
        name="Not healthy"
        value={fleet === undefined ? undefined : open}
        note={noteOf(fleet?.counts.behind, 'behind')}
        isBad={open > 0}
      />
    </dl>
  );
}

function noteOf(count: number | undefined, word: string): string | undefined {
  return count === undefined || count === 0 ? undefined : `${count} ${word}`;
}

interface FigureProps {
  readonly name: string;
  readonly value: number | undefined;
  readonly note?: string | undefined;
  readonly isBad?: boolean;
}

function Figure({ name, value, note, isBad = false }: FigureProps): ReactNode {
  return (
    <div className="figure">
      <dt>{name}</dt>
      <dd className={isBad ? 'figure-value figure-bad' : 'figure-value'}>
        {value === undefined ? <span className="bone" style={{ width: '2rem' }} /> : value.toLocaleString('en')}
        {note === undefined ? undefined : <span className="figure-note">{note}</span>}
      </dd>
    </div>
  );
}
