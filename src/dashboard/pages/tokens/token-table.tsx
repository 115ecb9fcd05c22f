import type { ReactNode } from 'react';
import { Link } from 'react-router';
import type { ListedToken } from '../../api/service-tokens.ts';
import { Deadline, Moment } from '../../parts/moment.tsx';
import { Status, type Tone } from '../../parts/status.tsx';
import { VirtualTable } from '../../parts/virtual-table.tsx';
import type { ShownState } from '../../text/service-token.ts';

/** A token with what the page says of it. */
export interface NamedToken {
  readonly token: ListedToken;
  readonly state: ShownState;
  readonly place: string;
}

export interface TokenTableProps {
  readonly tokens: readonly NamedToken[];
  /** The query that opens a token. */
  readonly linkTo: (id: string) => string;
}

const columns = ['Name', 'Access', 'Last used', 'State'];
const rowHeight = { wide: 60, narrow: 84 };

export function TokenTable({ tokens, linkTo }: TokenTableProps): ReactNode {
  return (
    <VirtualTable
      name="Service tokens"
      className="token-grid"
      columns={columns}
      rows={tokens}
      rowKey={({ token }) => token.id}
      rowHeight={rowHeight}
    >
      {({ token, state, place }) => (
        <>
          <th scope="row" className="two-lines grid-name">
            <Link to={linkTo(token.id)}>{token.name}</Link>
            <span className="small muted">
              <KindNote token={token} />
            </span>
          </th>
          <td className="two-lines grid-place">
            <span>{place}</span>
            <span className="small muted">{token.permission === 'read' ? 'Reads' : 'Reads and writes'}</span>
          </td>
          <td className="grid-used muted">{token.lastUsedAt === null ? 'Never' : <Moment at={token.lastUsedAt} />}</td>
          <td className="two-lines grid-state">
            <TokenStatus state={state} />
            <StateNote token={token} state={state} />
          </td>
        </>
      )}
    </VirtualTable>
  );
}

/** What proves the token, and who made it. */
function KindNote({ token }: Pick<NamedToken, 'token'>): ReactNode {
  const { holder, federation, createdByName, createdAt } = token;
  if (holder !== null) return `Keyless, for ${holder.namespace} in ${holder.cluster}`;
  return (
    <>
      {federation === undefined ? 'By' : `Federated (${federation.issuer}), by`} {createdByName}{' '}
      <Moment at={createdAt} />
    </>
  );
}

const tones: Readonly<Record<ShownState, Tone>> = {
  active: 'good',
  expiring: 'warn',
  suspended: 'warn',
  issuer_changed: 'danger',
  issuer_deleted: 'danger',
  expired: 'neutral',
  revoked: 'danger',
};
const words: Readonly<Record<ShownState, string>> = {
  active: 'Active',
  expiring: 'Expires soon',
  suspended: 'Suspended',
  issuer_changed: 'Issuer changed',
  issuer_deleted: 'Issuer deleted',
  expired: 'Expired',
  revoked: 'Revoked',
};

export function TokenStatus({ state }: { readonly state: ShownState }): ReactNode {
  return <Status tone={tones[state]}>{words[state]}</Status>;
}

function StateNote({ token, state }: Pick<NamedToken, 'token' | 'state'>): ReactNode {
  if (state === 'issuer_changed') return <span className="small muted">Waits for acceptance</span>;
  if (state === 'issuer_deleted') return <span className="small muted">Needs a new token</span>;
  const endedAt = state === 'revoked' ? token.revokedAt : state === 'suspended' ? token.suspendedAt : null;
  return (
    <span className="small muted">
      {endedAt === null ? <Expiry at={token.expiresAt} isNamed={state === 'active'} /> : <Moment at={endedAt} />}
    </span>
  );
}

function Expiry({ at, isNamed }: { readonly at: string | null; readonly isNamed: boolean }): ReactNode {
  if (at === null) return 'No expiry';
  return (
    <>
      {isNamed ? 'Expires ' : ''}
      <Deadline at={at} />
    </>
  );
}
