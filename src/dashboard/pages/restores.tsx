import type { ReactNode } from 'react';
import { useParams } from 'react-router';
import { useWaitingRestores } from '../api/waiting-restores.ts';
import { Empty } from '../parts/empty.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { Page } from '../parts/page.tsx';
import { Skeleton } from '../parts/skeleton.tsx';
import { WaitingRestore } from './restores/waiting-restore.tsx';

/** The restores that wait for an approval. It is given in the cluster, with the rights of Kubernetes. */
export function RestoresPage(): ReactNode {
  const { organization = '' } = useParams();
  const restores = useWaitingRestores(organization);
  return (
    <Page
      title="Restores"
      intro="SnapshotRestores that have planned, and wait for an approval. Each follows its environment: a commit makes another plan."
      wide
    >
      <Loaded query={restores} waiting={<Skeleton name="Loading the restores" rows={4} look="tall" />}>
        {(list) =>
          list.length === 0 ? (
            <Empty title="No restore waits for an approval">
              <p>
                A SnapshotRestore in a cluster plans first. Its plan is here until it is approved with kubectl. What was
                restored is in the history of the environment.
              </p>
            </Empty>
          ) : (
            <div className="groups">
              {list.map((restore) => (
                <WaitingRestore
                  key={`${restore.cluster} ${restore.uid}`}
                  organization={organization}
                  restore={restore}
                />
              ))}
            </div>
          )
        }
      </Loaded>
    </Page>
  );
}
