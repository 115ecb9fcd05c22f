import { type ReactNode, useId } from 'react';
import { ClusterState } from '../../parts/cluster-state.tsx';
import { Fact, Facts } from '../../parts/facts.tsx';
import { Moment } from '../../parts/moment.tsx';
import { Status, type Tone } from '../../parts/status.tsx';
import type { ShownCluster } from '../../text/clusters.ts';
import { toneOf } from '../overview/health.ts';

interface ClusterCardProps {
  readonly cluster: ShownCluster;
  /** The release of the server. */
  readonly serverVersion: string | undefined;
}

/** One cluster: its state, the release of its controller, what it may do, and its SecretSyncs by reason. */
export function ClusterCard({ cluster, serverVersion }: ClusterCardProps): ReactNode {
  const { name, isHome, state, release, report } = cluster;
  const id = useId();
  return (
    <section className="group" aria-labelledby={id}>
      <header className="group-head">
        <h2 id={id} className="mono">
          {name}
        </h2>
        {isHome ? <span className="badge">Home</span> : undefined}
        {report === undefined ? <LastSeen {...cluster} /> : <ClusterState {...report} />}
      </header>
      <div className="group-facts">
        <Facts>
          <Fact name="State">{state === undefined ? undefined : <State state={state} />}</Fact>
          <Fact name="Release">
            {release === undefined ? undefined : <Release release={release} serverVersion={serverVersion} />}
          </Fact>
          <Fact name="Rules">
            <Rules {...cluster} />
          </Fact>
          <Fact name="SecretSyncs">
            <SecretSyncs {...cluster} />
          </Fact>
        </Facts>
      </div>
    </section>
  );
}

/** Of a cluster that reports nothing of the organization. */
function LastSeen({ seenAt }: Pick<ShownCluster, 'seenAt'>): ReactNode {
  if (seenAt === undefined) return undefined;
  if (seenAt === null) return <span className="muted small">never seen</span>;
  return (
    <span className="muted small">
      seen <Moment at={seenAt} />
    </span>
  );
}

type State = NonNullable<ShownCluster['state']>;

const states: Readonly<Record<State, readonly [tone: Tone, word: string, meaning: string]>> = {
  enabled: ['good', 'Enabled', ''],
  disabled: ['warn', 'Disabled', 'Nothing is done for it.'],
  forgotten: ['neutral', 'Forgotten', 'Its tokens are revoked.'],
};

function State({ state }: { readonly state: State }): ReactNode {
  const [tone, word, meaning] = states[state];
  return (
    <>
      <Status tone={tone}>{word}</Status> <span className="muted">{meaning}</span>
    </>
  );
}

interface ReleaseProps {
  readonly release: string | null;
  readonly serverVersion: string | undefined;
}

function Release({ release, serverVersion }: ReleaseProps): ReactNode {
  if (release === null) return <span className="muted">Unknown</span>;
  const isServers = serverVersion === undefined || release === serverVersion;
  return (
    <>
      {release} {isServers ? undefined : <span className="muted">The server has {serverVersion}.</span>}
    </>
  );
}

function Rules({ rules, isHome }: Pick<ShownCluster, 'rules' | 'isHome'>): ReactNode {
  if (rules === null && isHome) return 'None: it may do what the AccessGrants in it allow.';
  if (rules === null || rules.length === 0) return 'None: it may do nothing in this organization.';
  return (
    <ul className="fact-lines">
      {rules.map((rule) => (
        <li key={rule}>{rule}</li>
      ))}
    </ul>
  );
}

function SecretSyncs({ groups }: Pick<ShownCluster, 'groups'>): ReactNode {
  if (groups.length === 0) return 'None reads this organization.';
  return (
    <ul className="statuses">
      {groups.map(({ reason, health, consumers }) => (
        <li key={`${health} ${reason}`}>
          <Status tone={toneOf(health)}>
            {reason} {consumers.length.toLocaleString('en')}
          </Status>
        </li>
      ))}
    </ul>
  );
}
