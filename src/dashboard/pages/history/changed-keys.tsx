import type { ReactNode } from 'react';
import type { ChangeView } from '../../../wire/changes.ts';

type ChangedKey = ChangeView['keys'][number];

/** The keys of a revision: created, set or deleted. Of many, the first ones. */
export function ChangedKeys({ keys, max }: { readonly keys: readonly ChangedKey[]; readonly max: number }): ReactNode {
  return (
    <ul className="key-chips">
      {keys.slice(0, max).map((changed) => (
        <li key={changed.key} className={`chip chip-${changeOf(changed)}`}>
          <span aria-hidden="true">{signs[changeOf(changed)]}</span>
          <span className="visually-hidden">{words[changeOf(changed)]} </span>
          <span className="mono">{changed.key}</span>
        </li>
      ))}
      {keys.length > max ? (
        <li className="muted small">and {(keys.length - max).toLocaleString('en')} more</li>
      ) : undefined}
    </ul>
  );
}

const signs = { add: '+', set: '~', delete: '−' } as const;
const words = { add: 'created', set: 'set', delete: 'deleted' } as const;

/** What a revision did to a key. One that was deleted before continues its versions, and counts as set. */
export function changeOf({ version }: ChangedKey): keyof typeof signs {
  if (version === null) return 'delete';
  return version === 1 ? 'add' : 'set';
}
