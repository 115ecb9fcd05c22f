import { type ReactNode, useId, useState } from 'react';
import { Button } from '../../parts/button.tsx';
import { ClusterState } from '../../parts/cluster-state.tsx';
import type { ClusterConsumers } from '../../text/consumers.ts';
import type { Newest } from '../../text/newest.ts';
import type { Place } from '../../text/place.ts';
import { ConsumerRow } from './consumer-row.tsx';

const firstShown = 50;

export interface ClusterSectionProps {
  readonly cluster: ClusterConsumers;
  readonly place: Place;
  /** Undefined while it loads. */
  readonly newest: Newest | undefined;
}

/** What reads the environment in one cluster. */
export function ClusterSection({ cluster, place, newest }: ClusterSectionProps): ReactNode {
  const { name, seenAt, isStale, consumers } = cluster;
  const [all, setAll] = useState(false);
  const id = useId();
  const shown = all ? consumers : consumers.slice(0, firstShown);
  return (
    <section className="group" aria-labelledby={id}>
      <header className="group-head">
        <h2 id={id} className="mono">
          {name}
        </h2>
        <ClusterState isStale={isStale} seenAt={seenAt} />
        <span className="group-count">{consumers.length.toLocaleString('en')}</span>
        {isStale ? <p className="muted">What is below may be old: the controller has stopped reporting.</p> : undefined}
      </header>
      <ul className="consumers">
        {shown.map((consumer) => (
          <ConsumerRow
            key={`${consumer.uid} ${consumer.source ?? ''}`}
            consumer={consumer}
            place={place}
            newest={newest}
          />
        ))}
      </ul>
      {shown.length === consumers.length ? undefined : (
        <div className="group-more">
          <Button look="quiet" onClick={() => setAll(true)}>
            Show all {consumers.length.toLocaleString('en')}
          </Button>
        </div>
      )}
    </section>
  );
}
