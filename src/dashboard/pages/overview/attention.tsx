import { type ReactNode, useState } from 'react';
import { generatePath, Link } from 'react-router';
import type { FleetConsumerView } from '../../../wire/consumers.ts';
import { dashboardPaths } from '../../../wire/dashboard-paths.ts';
import { Button } from '../../parts/button.tsx';
import { CopyCommand } from '../../parts/copy-command.tsx';
import { Moment } from '../../parts/moment.tsx';
import { Status } from '../../parts/status.tsx';
import type { ReasonGroup } from '../../text/fleet-summary.ts';
import { helpfulCommand, meaningOf } from '../../text/reasons.ts';
import { toneOf, wordOf } from './health.ts';

const firstShown = 3;

interface AttentionProps {
  readonly organization: string;
  readonly groups: readonly ReasonGroup[];
}

/** What is not healthy, by reason, with the command that shows the message of each SecretSync. */
export function Attention({ organization, groups }: AttentionProps): ReactNode {
  if (groups.length === 0) return undefined;
  return (
    <section className="section">
      <h2>SecretSyncs by reason</h2>
      <div className="groups">
        {groups.map((group) => (
          <Group key={`${group.health} ${group.reason}`} organization={organization} group={group} />
        ))}
      </div>
    </section>
  );
}

interface GroupProps {
  readonly organization: string;
  readonly group: ReasonGroup;
}

function Group({ organization, group: { reason, health, consumers } }: GroupProps): ReactNode {
  const [all, setAll] = useState(false);
  const shown = all ? consumers : consumers.slice(0, firstShown);
  return (
    <article className="group" aria-label={reason}>
      <header className="group-head">
        <h3>{reason}</h3>
        <Status tone={toneOf(health)}>{wordOf(health)}</Status>
        <span className="group-count">{consumers.length}</span>
        <p className="muted">{meaningOf(reason) ?? 'The message of the SecretSync says more.'}</p>
      </header>
      <ul className="group-list">
        {shown.map((consumer) => (
          <li key={`${consumer.uid} ${consumer.source ?? ''}`}>
            <Sync organization={organization} consumer={consumer} />
          </li>
        ))}
      </ul>
      {consumers.length > firstShown ? (
        <div className="group-more">
          <Button look="quiet" onClick={() => setAll(!all)}>
            {all ? 'Show fewer' : `Show all ${consumers.length}`}
          </Button>
        </div>
      ) : undefined}
    </article>
  );
}

interface SyncProps {
  readonly organization: string;
  readonly consumer: FleetConsumerView;
}

function Sync({ organization, consumer }: SyncProps): ReactNode {
  const { namespace, name, source, cluster, project, environment, changedAt } = consumer;
  const place = namespace === null ? name : `${namespace}/${name}`;
  return (
    <>
      <div className="row-text">
        <p className="row-title mono">{place}</p>
        <p className="row-facts">
          <span>in {cluster}</span>
          <span>
            reads{' '}
            <Link to={generatePath(dashboardPaths.environment, { organization, project, environment })}>
              {project}/{environment}
            </Link>
            {source === null ? '' : ` as ${source}`}
          </span>
          <span>
            last change <Moment at={changedAt} />
          </span>
        </p>
      </div>
      <CopyCommand name={`show the message of ${place} in ${cluster}`}>{helpfulCommand(consumer)}</CopyCommand>
    </>
  );
}
