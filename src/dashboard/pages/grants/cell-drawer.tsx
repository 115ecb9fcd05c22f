import type { ReactNode } from 'react';
import { generatePath, Link } from 'react-router';
import { dashboardPaths } from '../../../wire/dashboard-paths.ts';
import { CopyCommand } from '../../parts/copy-command.tsx';
import { Drawer } from '../../parts/drawer.tsx';
import { Fact, Facts } from '../../parts/facts.tsx';
import { Moment } from '../../parts/moment.tsx';
import { type AccessCell, type AccessRow, grantManifest } from '../../text/access-matrix.ts';
import { helpfulCommand, meaningOf } from '../../text/reasons.ts';
import { AccessStatus, type Column } from './access-table.tsx';

export interface CellDrawerProps {
  readonly organization: string;
  readonly row: AccessRow;
  readonly column: Column;
  readonly cell: AccessCell;
  readonly onClose: () => void;
}

/** What a namespace does with an environment, and the grant that allows it. */
export function CellDrawer({ organization, row, column, cell, onClose }: CellDrawerProps): ReactNode {
  const { namespace, cluster } = row;
  const { token, consumers, state } = cell;
  const place = { organization, project: column.project, environment: column.environment };
  return (
    <Drawer title={`${namespace} in ${cluster}`} actions={<AccessStatus state={state} />} onClose={onClose}>
      <Facts>
        <Fact name="Environment">
          <Link to={generatePath(dashboardPaths.environment, place)}>
            {place.project} / {place.environment}
          </Link>
        </Fact>
        <Fact name="Token">
          {token === undefined ? undefined : (
            <Link to={`${generatePath(dashboardPaths.tokens, { organization })}?state=all&token=${token.id}`}>
              {token.name}
            </Link>
          )}
        </Fact>
        <Fact name="Last used">
          {typeof token?.lastUsedAt === 'string' ? <Moment at={token.lastUsedAt} /> : undefined}
        </Fact>
        <Fact name="Revoked">{typeof token?.revokedAt === 'string' ? <Moment at={token.revokedAt} /> : undefined}</Fact>
      </Facts>
      <section className="drawer-section">
        <h3>SecretSyncs</h3>
        {consumers.length === 0 ? (
          <p className="muted">None now. The token stays until the environment is purged.</p>
        ) : undefined}
        {consumers.map((consumer) => (
          <div key={`${consumer.uid} ${consumer.source ?? ''}`} className="sync-facts">
            <p>
              <strong>{consumer.name}</strong> <span className="muted">{consumer.reason}</span>
            </p>
            {consumer.ready ? undefined : <p className="muted small">{meaningOf(consumer.reason)}</p>}
            <CopyCommand name={`show ${consumer.name}`}>{helpfulCommand(consumer)}</CopyCommand>
          </div>
        ))}
      </section>
      {consumers.some(({ reason }) => reason === 'AccessDenied') ? (
        <section className="drawer-section">
          <h3>A grant that allows it</h3>
          <p className="muted">Users who may create AccessGrants in {cluster} apply it with kubectl apply -f.</p>
          <CopyCommand name="the grant">{grantManifest(namespace, place)}</CopyCommand>
        </section>
      ) : undefined}
    </Drawer>
  );
}
