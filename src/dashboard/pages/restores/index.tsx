import { type ReactNode, useState } from 'react';
import { generatePath, Link, useParams } from 'react-router';
import { dashboardPaths } from '../../../wire/dashboard-paths.ts';
import type { WaitingRestoreView } from '../../../wire/waiting-restores.ts';
import { useWaitingRestores } from '../../api/waiting-restores.ts';
import { Empty } from '../../parts/empty.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Notice } from '../../parts/notice.tsx';
import { Page } from '../../parts/page.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { WaitingRestore } from './waiting-restore.tsx';

/** The restores that this page showed, and that wait no longer. */
function useGone(present: readonly WaitingRestoreView[] | undefined): readonly WaitingRestoreView[] {
  const [shown, setShown] = useState<readonly WaitingRestoreView[]>([]);
  if (present === undefined) return [];
  const added = present.filter((restore) => !shown.some((known) => isSame(known, restore)));
  if (added.length > 0) setShown([...shown, ...added]);
  return shown.filter((known) => !present.some((restore) => isSame(known, restore)));
}

function isSame(one: WaitingRestoreView, other: WaitingRestoreView): boolean {
  return one.uid === other.uid && one.cluster === other.cluster;
}

/** The restores that wait for an approval. It is given in the cluster, with the rights of Kubernetes. */
export function RestoresPage(): ReactNode {
  const { organization = '' } = useParams();
  const restores = useWaitingRestores(organization);
  const gone = useGone(restores.data);
  return (
    <Page
      title="Restores"
      intro="SnapshotRestores that have planned, and wait for an approval. Each follows its environment: a commit makes another plan."
      wide
    >
      {gone.map(({ uid, cluster, namespace, name, project, environment }) => (
        <Notice key={`${cluster} ${uid}`} kind="info">
          {namespace === null ? name : `${namespace}/${name}`} no longer waits.{' '}
          <Link to={generatePath(dashboardPaths.history, { organization, project, environment })}>
            See in the history whether it was restored
          </Link>
        </Notice>
      ))}
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
