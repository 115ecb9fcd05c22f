import { type ReactNode, useMemo, useState } from 'react';
import type { SecretKeyListView, SecretKeyView } from '../../../wire/secrets.ts';
import { useKeysAt } from '../../api/secrets.ts';
import { FilterField } from '../../parts/form/filter-field.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { PlannedKeys } from '../../parts/planned-keys.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { counted } from '../../text/counted.ts';
import type { Place } from '../../text/place.ts';
import { keysSince } from '../../text/planned-keys.ts';

export interface StateThenProps {
  readonly place: Place;
  /** Number or id. */
  readonly revision: string;
  /** Undefined while it loads. */
  readonly present: SecretKeyListView | undefined;
}

/** The keys and versions of an environment as of a revision, and how the present ones differ. No values. */
export function StateThen({ place, revision, present }: StateThenProps): ReactNode {
  const then = useKeysAt(place, revision);
  return (
    <Loaded query={then} waiting={<Skeleton name="Loading the state" rows={4} />}>
      {({ secrets }) => (
        <>
          <Since then={secrets} present={present?.secrets} />
          <All secrets={secrets} />
        </>
      )}
    </Loaded>
  );
}

interface SinceProps {
  readonly then: readonly SecretKeyView[];
  readonly present: readonly SecretKeyView[] | undefined;
}

function Since({ then, present }: SinceProps): ReactNode {
  const changes = useMemo(() => (present === undefined ? undefined : keysSince(then, present)), [then, present]);
  return (
    <section className="drawer-section" aria-label="Changed since">
      <h3>Changed since</h3>
      {changes === undefined ? (
        <Skeleton name="Comparing" rows={2} />
      ) : changes.length === 0 ? (
        <p className="muted">Nothing. The environment is as it was then.</p>
      ) : (
        <PlannedKeys name="Changed since" changes={changes} />
      )}
    </section>
  );
}

const maxShown = 200;

function All({ secrets }: { readonly secrets: readonly SecretKeyView[] }): ReactNode {
  const [filter, setFilter] = useState('');
  const text = filter.trim().toLowerCase();
  const found = text === '' ? secrets : secrets.filter(({ key }) => key.toLowerCase().includes(text));
  return (
    <section className="drawer-section" aria-label="All keys then">
      <h3>{counted(secrets.length, 'key')} then</h3>
      {secrets.length > 10 ? <FilterField name="Filter by name" value="" onChange={setFilter} /> : undefined}
      {found.length === 0 ? undefined : (
        <ul className="plan state-keys">
          {found.slice(0, maxShown).map(({ key, version }) => (
            <li key={key}>
              <span className="mono">{key}</span>
              <span className="muted">v{version}</span>
            </li>
          ))}
        </ul>
      )}
      {found.length > maxShown ? (
        <p className="muted small">and {(found.length - maxShown).toLocaleString('en')} more; filter to find them</p>
      ) : undefined}
    </section>
  );
}
