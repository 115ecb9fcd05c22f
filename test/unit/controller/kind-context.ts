import { NamespaceShares } from '../../../src/controller/frame/namespace-shares.ts';
import { EventLog } from '../../../src/controller/frame/event-log.ts';
import type { KindContext } from '../../../src/controller/frame/managed-kind.ts';

type Parts = Pick<KindContext, 'kube' | 'clock' | 'logger' | 'namespaces' | 'onRecovered'>;

/** What the manager gives a kind that watches all namespaces; nothing listens to its metrics. */
export function kindContext(parts: Parts): KindContext {
  return {
    ...parts,
    serverNow: () => parts.clock.now(),
    onServerStep: () => {},
    events: new EventLog(),
    metrics: {
      reconciled: () => {},
      secretWrite: () => {},
      orphanedTokenSuspended: () => {},
      syncStatesReported: () => {},
    },
    shares: new NamespaceShares(),
    instance: 'test',
    watchNamespaces: [],
    hasName: () => Promise.resolve(true),
    isHome: () => true,
    onWatchFailure: () => {},
  };
}
