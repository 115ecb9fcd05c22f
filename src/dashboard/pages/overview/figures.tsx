import type { ReactNode } from 'react';
import { Status } from '../../parts/status.tsx';
import { counted } from '../../text/counted.ts';
import type { FleetSummary } from '../../text/fleet-summary.ts';

export interface VerdictProps {
  /** Undefined while it loads. */
  readonly fleet: FleetSummary | undefined;
  /** Whether the newest attempt to load it failed. */
  readonly isUnknown: boolean;
}

/** Some of all SecretSyncs, with a verb: "1 of 3 SecretSyncs needs". */
function share(count: number, total: number, [one, many]: readonly [string, string]): string {
  return `${count} of ${counted(total, 'SecretSync')} ${count === 1 ? one : many}`;
}

/** The answer to the question of the page, in a line. */
export function Verdict({ fleet, isUnknown }: VerdictProps): ReactNode {
  if (isUnknown && fleet === undefined) return <Status tone="neutral">The state of the clusters is not known.</Status>;
  if (fleet === undefined) return <Status tone="neutral">Looking at the clusters…</Status>;
  const { counts, total } = fleet;
  const stale = fleet.clusters.filter(({ isStale }) => isStale).length;
  if (isUnknown) return <Status tone="warn">The server no longer says how it is. What is below may be old.</Status>;
  if (total === 0) return <Status tone="neutral">No SecretSync reads these environments yet.</Status>;
  if (counts.stalled > 0) {
    return <Status tone="danger">{share(counts.stalled, total, ['needs', 'need'])} a person.</Status>;
  }
  if (stale > 0)
    return <Status tone="warn">{counted(stale, 'cluster')} stopped reporting. What is below may be old.</Status>;
  if (counts.progressing > 0) {
    return <Status tone="warn">{share(counts.progressing, total, ['is', 'are'])} not done yet.</Status>;
  }
  if (counts.suspended > 0) {
    return (
      <Status tone="good">
        All is well; {counted(counts.suspended, 'SecretSync is', 'SecretSyncs are')} suspended.
      </Status>
    );
  }
  return <Status tone="good">All is well: every Secret holds the newest values.</Status>;
}

export interface FiguresProps {
  readonly fleet: FleetSummary | undefined;
  /** Undefined while they load. */
  readonly environments: number | undefined;
}

/** The numbers at the top. */
export function Figures({ fleet, environments }: FiguresProps): ReactNode {
  const stale = fleet?.clusters.filter(({ isStale }) => isStale).length ?? 0;
  const open = fleet === undefined ? 0 : fleet.counts.stalled + fleet.counts.progressing;
  return (
    <dl className="figures">
      <Figure name="Environments" value={environments} />
      <Figure name="Clusters" value={fleet?.clusters.length} note={stale === 0 ? undefined : `${stale} stale`} />
      <Figure name="SecretSyncs" value={fleet?.total} note={suspendedNote(fleet)} />
      <Figure name="Not healthy" value={fleet === undefined ? undefined : open} isBad={open > 0} />
    </dl>
  );
}

function suspendedNote(fleet: FleetSummary | undefined): string | undefined {
  const suspended = fleet?.counts.suspended ?? 0;
  return suspended === 0 ? undefined : `${suspended} suspended`;
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
