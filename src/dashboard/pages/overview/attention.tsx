import { type ReactNode, useState } from 'react';
import type { FleetConsumerView } from '../../../wire/consumers.ts';
import { Button } from '../../parts/button.tsx';
import { CopyCommand } from '../../parts/copy-command.tsx';
import { Moment } from '../../parts/moment.tsx';
import { Status } from '../../parts/status.tsx';
import type { ReasonGroup } from '../../text/fleet-summary.ts';
import { helpfulCommand, meaningOf } from '../../text/reasons.ts';
import { toneOf, wordOf } from './health.ts';

const firstShown = 3;

/** What is not healthy, by reason, with the command that shows the message of each SecretSync. */
export function Attention({ groups }: { readonly groups: readonly ReasonGroup[] }): ReactNode {
  if (groups.length === 0) return undefined;
  return (
    <section className="section">
      <h2>SecretSyncs by reason</h2>
      <div className="groups">
        {groups.map((group) => (
          <Group key={`${group.health} ${group.reason}`} group={group} />
        ))}
      </div>
    </section>
  );
}

function Group({ group: { reason, health, consumers } }: { readonly group: ReasonGroup }): ReactNode {
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
            <Sync consumer={consumer} />
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

function Sync({ consumer }: { readonly consumer: FleetConsumerView }): ReactNode {
  const { namespace, name, source, cluster, project, environment, changedAt } = consumer;
  const place = namespace === null ? name : `${namespace}/${name}`;
  return (
    <>
      <div className="row-text">
        <p className="row-title mono">{place}</p>
        <p className="row-facts">
          <span>in {cluster}</span>
          <span>
            reads {project}/{environment}
            {source === null ? '' : ` as ${source}`}
          </span>
          <span>
            since <Moment at={changedAt} />
          </span>
        </p>
      </div>
      <CopyCommand name={`show the message of ${place} in ${cluster}`}>{helpfulCommand(consumer)}</CopyCommand>
    </>
  );
}
