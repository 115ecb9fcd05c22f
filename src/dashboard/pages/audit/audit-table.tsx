import type { ReactNode } from 'react';
import { Link } from 'react-router';
import type { AuditEntryView } from '../../../wire/audit.ts';
import type { ActorNames } from '../../api/actor-names.ts';
import { Moment } from '../../parts/moment.tsx';
import { Status, type Tone } from '../../parts/status.tsx';
import { VirtualTable } from '../../parts/virtual-table.tsx';
import { actorText } from '../../text/actor-text.ts';
import { targetText } from '../../text/audit-target.ts';

export interface AuditTableProps {
  /** Newest first. */
  readonly entries: readonly AuditEntryView[];
  readonly names: ActorNames;
  /** Whether these are still the entries of the former filter. */
  readonly isFormer: boolean;
  /** The query that opens an entry. */
  readonly linkTo: (id: string) => string;
}

const columns = ['What', 'Who', 'When', 'Outcome'];
const rowHeight = { wide: 60, narrow: 84 };

export function AuditTable({ entries, names, isFormer, linkTo }: AuditTableProps): ReactNode {
  return (
    <VirtualTable
      name="Audit entries"
      className={isFormer ? 'audit-grid grid-former' : 'audit-grid'}
      columns={columns}
      rows={entries}
      rowKey={({ id }) => id}
      rowHeight={rowHeight}
    >
      {(entry) => (
        <>
          <th scope="row" className="two-lines grid-name">
            <Link to={linkTo(entry.id)}>{entry.action}</Link>
            <span className="small muted">{targetText(entry.target, names)}</span>
          </th>
          <td className="two-lines grid-place">
            <span>{entry.actor.name}</span>
            <span className="small muted">{actorText(actorWords[entry.actor.type], entry.cluster)}</span>
          </td>
          <td className="grid-used muted">
            <Moment at={entry.at} />
          </td>
          <td className="grid-state">
            <OutcomeStatus {...entry} />
          </td>
        </>
      )}
    </VirtualTable>
  );
}

export const actorWords: Readonly<Record<AuditEntryView['actor']['type'], string>> = {
  user: 'User',
  service_token: 'Service token',
  resource: 'Custom resource',
  system: 'The server',
};

const outcomes: Readonly<Record<AuditEntryView['outcome'], readonly [tone: Tone, word: string]>> = {
  success: ['good', 'Done'],
  denied: ['danger', 'Denied'],
  failed: ['warn', 'Failed'],
};

/** What became of a request. A dry run has only planned. */
export function OutcomeStatus({ outcome, target }: Pick<AuditEntryView, 'outcome' | 'target'>): ReactNode {
  const isPlan = outcome === 'success' && target['dryRun'] === true;
  const [tone, word] = isPlan ? (['neutral', 'Planned'] as const) : outcomes[outcome];
  return <Status tone={tone}>{word}</Status>;
}
