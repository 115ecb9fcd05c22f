import type { ReactNode } from 'react';
import { generatePath, Link } from 'react-router';
import { dashboardPaths } from '../../../wire/dashboard-paths.ts';
import type { WaitingRestoreView } from '../../../wire/waiting-restores.ts';
import { CopyCommand } from '../../parts/copy-command.tsx';
import { Moment } from '../../parts/moment.tsx';
import { LeftKeys, PlannedKeys } from '../../parts/planned-keys.tsx';
import { Status } from '../../parts/status.tsx';
import { approvalCommand, namedKeys, planSummary } from '../../text/waiting-plan.ts';

interface WaitingRestoreProps {
  readonly organization: string;
  readonly restore: WaitingRestoreView;
}

/** A plan, and the command that approves exactly it. */
export function WaitingRestore({ organization, restore }: WaitingRestoreProps): ReactNode {
  const { cluster, clusterSeenAt, stale, namespace, name, project, environment, revision, plan, changedAt } = restore;
  const place = namespace === null ? name : `${namespace}/${name}`;
  const { changes, left, unnamed } = namedKeys(plan);
  const history = generatePath(dashboardPaths.history, { organization, project, environment });
  return (
    <article className="group waiting-restore" aria-label={place}>
      <header className="group-head">
        <h2 className="mono">{place}</h2>
        <Status tone={stale ? 'neutral' : 'warn'}>{stale ? 'Not up to date' : 'Waits for an approval'}</Status>
        <p className="muted">
          Restores{' '}
          <Link to={history}>
            {project} / {environment}
          </Link>
          , which is at revision {revision}, in {cluster}. Planned <Moment at={changedAt} />. {planSummary(plan)}
        </p>
        {stale ? (
          <p className="muted">
            The controller of {cluster} last reported{' '}
            {clusterSeenAt === null ? 'nothing' : <Moment at={clusterSeenAt} />}, so the plan may be another one by now.
          </p>
        ) : undefined}
      </header>
      <div className="waiting-plan">
        <PlannedKeys name={`Plan of ${place}`} changes={changes} />
        <LeftKeys left={left} />
        {unnamed === 0 ? undefined : (
          <p className="muted small">
            and {unnamed.toLocaleString('en')} more keys, which no list names: of each kind the first 100 are shown
          </p>
        )}
      </div>
      <footer className="waiting-approval">
        <Approval restore={restore} place={place} />
      </footer>
    </article>
  );
}

function Approval({ restore, place }: { readonly restore: WaitingRestoreView; readonly place: string }): ReactNode {
  const command = approvalCommand(restore);
  if (command === undefined) {
    return <p className="muted">Users with the role developer see its namespace, and the command that approves it.</p>;
  }
  return (
    <>
      <p className="muted">
        Approve exactly this plan, with the verb <code>approve</code> in {restore.namespace}:
      </p>
      <CopyCommand name={`approve ${place}`}>{command}</CopyCommand>
    </>
  );
}
