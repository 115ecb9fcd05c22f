import { type ReactNode, useState } from 'react';
import { Link } from 'react-router';
import type { KeyPlan, PlannedKey } from '../text/planned-keys.ts';
import { Button } from './button.tsx';
import { Plan, PlanRow } from './plan.tsx';

const firstShown = 100;

/** Keys and what becomes of them, the first hundred of many. */
export function PlannedKeys({
  name,
  changes,
  linkTo,
}: {
  readonly name: string;
  readonly changes: readonly PlannedKey[];
  /** The page of a key, which compares its versions. */
  readonly linkTo?: (key: string) => string;
}): ReactNode {
  const [all, setAll] = useState(false);
  const shown = all ? changes : changes.slice(0, firstShown);
  return (
    <>
      <Plan name={name}>
        {shown.map(({ key, change, note }) => (
          <PlanRow
            key={key}
            change={change}
            name={key}
            actions={
              linkTo === undefined ? undefined : (
                <Link className="button button-quiet" to={linkTo(key)} aria-label={`Versions of ${key}`}>
                  Versions
                </Link>
              )
            }
          >
            {note === undefined ? undefined : <p className="muted small">{note}</p>}
          </PlanRow>
        ))}
      </Plan>
      {shown.length === changes.length ? undefined : (
        <Button look="quiet" onClick={() => setAll(true)}>
          Show all {changes.length.toLocaleString('en')}
        </Button>
      )}
    </>
  );
}

/** Keys that a plan leaves as they are, with the reasons. */
export function LeftKeys({ left }: { readonly left: KeyPlan['left'] }): ReactNode {
  if (left.length === 0) return undefined;
  return (
    <ul className="left-keys small muted" aria-label="Left as they are">
      {left.slice(0, firstShown).map(({ key, reason }) => (
        <li key={key}>
          <span className="mono">{key}</span> {reason}
        </li>
      ))}
      {left.length > firstShown ? <li>and {(left.length - firstShown).toLocaleString('en')} more</li> : undefined}
    </ul>
  );
}
