import type { ReactNode } from 'react';
import { generatePath, Link } from 'react-router';
import type { ConsumerView } from '../../../wire/consumers.ts';
import { dashboardPaths } from '../../../wire/dashboard-paths.ts';
import { CopyCommand } from '../../parts/copy-command.tsx';
import { Moment } from '../../parts/moment.tsx';
import { Status } from '../../parts/status.tsx';
import { shownRevision } from '../../text/consumers.ts';
import { reasonOf } from '../../text/fleet-summary.ts';
import { concernsOf, isBehind, type Newest } from '../../text/newest.ts';
import type { Place } from '../../text/place.ts';
import { helpfulCommand, meaningOf } from '../../text/reasons.ts';
import { toneOf, wordOf } from '../overview/health.ts';

export interface ConsumerRowProps {
  readonly consumer: ConsumerView;
  readonly place: Place;
  /** Undefined while it loads. */
  readonly newest: Newest | undefined;
}

/** The way of the values: the SecretSync, its Secret, and the workloads that it follows. */
export function ConsumerRow({ consumer, place, newest }: ConsumerRowProps): ReactNode {
  const { namespace, name, source, pinned, health, secretName, syncedAt } = consumer;
  const title = namespace === null ? name : `${namespace}/${name}`;
  return (
    <li className="consumer" aria-label={title}>
      <div className="consumer-way">
        <Step name="SecretSync">
          <span className="mono">{title}</span>
          {pinned ? <span className="badge">Pinned</span> : undefined}
          {source === null ? undefined : <span className="consumer-fact">source {source}</span>}
        </Step>
        <Step name="Secret">
          <span className="mono">{secretName}</span>
          <span className="consumer-fact">
            <Revision consumer={consumer} place={place} newest={newest} />
            {syncedAt === null ? undefined : (
              <>
                {' '}
                since <Moment at={syncedAt} />
              </>
            )}
          </span>
        </Step>
        <Step name="Workloads">
          <Workloads consumer={consumer} />
        </Step>
        <States consumer={consumer} newest={newest} />
      </div>
      {health === 'healthy' ? undefined : <Fault consumer={consumer} title={title} />}
    </li>
  );
}

/** Everything that keeps it from being well; green only if nothing does. */
function States({ consumer, newest }: Pick<ConsumerRowProps, 'consumer' | 'newest'>): ReactNode {
  const found = newest === undefined ? [] : concernsOf({ consumer, newest });
  const states = found.length > 0 ? found : [consumer.health];
  return (
    <span className="statuses">
      {states.map((state) => (
        <Status key={state} tone={toneOf(state)}>
          {wordOf(state)}
        </Status>
      ))}
    </span>
  );
}

function Step({ name, children }: { readonly name: string; readonly children: ReactNode }): ReactNode {
  return (
    <div className="consumer-step">
      <p className="consumer-label">{name}</p>
      {children}
    </div>
  );
}

function Revision({ consumer, place, newest }: ConsumerRowProps): ReactNode {
  const text = shownRevision(consumer, newest);
  const { syncedRevision } = consumer;
  const isOld = newest !== undefined && isBehind(consumer, newest);
  if (syncedRevision === null || syncedRevision === 0)
    return <span className={isOld ? 'consumer-old' : ''}>{text}</span>;
  const pathname = generatePath(dashboardPaths.history, { ...place });
  return (
    <Link className={isOld ? 'consumer-old' : ''} to={{ pathname, search: `?revision=${syncedRevision}` }}>
      {text}
    </Link>
  );
}

function Workloads({ consumer: { rollout } }: Pick<ConsumerRowProps, 'consumer'>): ReactNode {
  if (rollout === null) return <span className="muted">Not followed: no spec.rollout</span>;
  const { converged, convergedRevision, workloads } = rollout;
  return (
    <>
      <ul className="workloads">
        {workloads.map(({ kind, name, revision, replicas, updatedReplicas }) => (
          <li key={`${kind} ${name}`}>
            <span className="mono">
              {kind}/{name}
            </span>
            <span className="consumer-fact">
              {revision === null ? undefined : `revision ${revision}, `}
              {replicas === null ? 'pods not known' : `${updatedReplicas ?? 0} of ${replicas} pods`}
            </span>
          </li>
        ))}
      </ul>
      <Status tone={converged ? 'good' : 'warn'}>
        {converged ? 'Converged' : convergedRevision === null ? 'Not converged' : `Converged with ${convergedRevision}`}
      </Status>
    </>
  );
}

/** Why it is not healthy, and the command that shows the message. */
function Fault({ consumer, title }: Pick<ConsumerRowProps, 'consumer'> & { readonly title: string }): ReactNode {
  const reason = reasonOf(consumer);
  return (
    <div className="consumer-fault">
      <p>
        <strong>{reason}</strong>{' '}
        <span className="muted">
          {meaningOf(reason) ?? 'The message of the SecretSync says more.'} Last change{' '}
          <Moment at={consumer.changedAt} />.
        </span>
      </p>
      <CopyCommand name={`show the message of ${title} in ${consumer.cluster}`}>{helpfulCommand(consumer)}</CopyCommand>
    </div>
  );
}
