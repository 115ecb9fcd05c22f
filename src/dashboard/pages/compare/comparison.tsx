import { type ReactNode, useMemo, useState } from 'react';
import type { SecretKeyListView } from '../../../wire/secrets.ts';
import { type ComparisonSides, useComparison } from '../../api/comparison.ts';
import { useLiveChanges } from '../../api/live-changes.ts';
import { useKeys } from '../../api/secrets.ts';
import { Failure } from '../../parts/failure.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Notice } from '../../parts/notice.tsx';
import { SavedNotice } from '../../parts/saved-notice.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { type ComparedKey, compareKeys } from '../../text/comparison.ts';
import { type Place, rightsAt } from '../../text/place.ts';
import type { EnvironmentFacts } from '../environment/shell.tsx';
import { ComparedKeys } from './compared-keys.tsx';
import { Promotion } from './promotion.tsx';

export interface ComparisonProps {
  readonly facts: EnvironmentFacts;
  /** Of the same organization. */
  readonly other: Omit<Place, 'organization'> & { readonly isProtected: boolean };
}

/** The keys of two environments, and what the user takes over from the other one. */
export function Comparison({ facts, other }: ComparisonProps): ReactNode {
  const { organization } = facts.place;
  const { project, environment } = other;
  const there = useMemo(() => ({ organization, project, environment }), [organization, project, environment]);
  const otherKeys = useKeys(there);
  useLiveChanges(there);
  const waiting = <Skeleton name="Comparing" rows={8} />;
  return (
    <Loaded query={facts.keys} waiting={waiting}>
      {(hereList) => (
        <Loaded query={otherKeys} waiting={waiting}>
          {(thereList) =>
            facts.isReady ? (
              <Compared facts={facts} there={there} isProtected={other.isProtected} lists={{ hereList, thereList }} />
            ) : (
              waiting
            )
          }
        </Loaded>
      )}
    </Loaded>
  );
}

interface ComparedProps {
  readonly facts: EnvironmentFacts;
  readonly there: Place;
  /** Whether the other environment is. */
  readonly isProtected: boolean;
  readonly lists: { readonly hereList: SecretKeyListView; readonly thereList: SecretKeyListView };
}

function Compared({ facts, there, isProtected, lists: { hereList, thereList } }: ComparedProps): ReactNode {
  const { place, rights } = facts;
  const sides = sidesOf({ facts, there, isProtected, lists: { hereList, thereList } });
  const { data: equality, error, refetch } = useComparison(sides);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [isPromoting, setPromoting] = useState(false);
  const [report, setReport] = useState('');
  const rows = useMemo(
    () => compareKeys(hereList.secrets, thereList.secrets, equality),
    [hereList, thereList, equality],
  );
  if (sides !== undefined && equality === undefined) {
    if (error !== null) return <Failure error={error} onRetry={() => void refetch()} />;
    return <Skeleton name="Comparing" rows={8} />;
  }
  return (
    <>
      <SavedNotice place={place}>{report}</SavedNotice>
      {sides === undefined ? (
        <Notice kind="info">
          Only the names of keys are compared: whether values are equal is for users who may write one of the two
          environments.
        </Notice>
      ) : undefined}
      <ComparedKeys
        rows={rows}
        here={place}
        there={there}
        chosen={stillThere(rows, chosen)}
        onChoose={rights.mayWrite ? setChosen : undefined}
        onPromote={() => setPromoting(true)}
      />
      {isPromoting ? (
        <Promotion
          place={place}
          from={there}
          fromList={thereList}
          present={hereList.revisionId}
          rows={rows}
          chosen={stillThere(rows, chosen)}
          onClose={() => setPromoting(false)}
          onDone={(text) => {
            setReport(text);
            setChosen(new Set());
            setPromoting(false);
          }}
        />
      ) : undefined}
    </>
  );
}

/** The direction in which the user may copy: the server compares values as the plan of a copy. */
function sidesOf({ facts, there, isProtected, lists }: ComparedProps): ComparisonSides | undefined {
  const { place, rights, user } = facts;
  const revisions = [lists.hereList.revisionId, lists.thereList.revisionId];
  if (rights.mayWrite) return { into: place, from: there, revisions };
  const { mayWrite } = rightsAt(there, user ?? { organizations: [] }, { isProtected });
  return mayWrite ? { into: there, from: place, revisions } : undefined;
}

/** The chosen keys that still differ. */
function stillThere(rows: readonly ComparedKey[], chosen: ReadonlySet<string>): ReadonlySet<string> {
  if (chosen.size === 0) return chosen;
  return new Set(rows.flatMap(({ key, state }) => (state !== 'same' && chosen.has(key) ? [key] : [])));
}
