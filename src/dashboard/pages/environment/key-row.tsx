import { memo, type ReactNode } from 'react';
import { Link } from 'react-router';
import { Moment } from '../../parts/moment.tsx';
import type { KeyRow } from '../../text/key-rows.ts';
import type { Place } from '../../text/place.ts';
import { Mask, SecretValue } from './secret-value.tsx';

const marks = { add: 'New', set: 'Changed', delete: 'Deleted' } as const;

/** The cells of a key. */
export const KeyCells = memo(function KeyCells({
  row: { key, secret, mark },
  place,
}: {
  readonly row: KeyRow;
  readonly place: Place;
}): ReactNode {
  return (
    <>
      <th scope="row" className={mark === 'delete' ? 'key-name key-deleted' : 'key-name'}>
        <Link className="mono" to={{ search: `?key=${encodeURIComponent(key)}` }} preventScrollReset title={key}>
          {key}
        </Link>
        {mark === undefined ? undefined : <span className={`mark mark-${mark}`}>{marks[mark]}</span>}
      </th>
      <td className="key-value">
        {secret === undefined ? <Mask /> : <SecretValue key={secret.version} name={key} place={place} />}
      </td>
      <td className="key-version muted">{secret === undefined ? '–' : `v${secret.version}`}</td>
      <td className="key-changed muted">
        {secret === undefined ? (
          'not saved yet'
        ) : (
          <>
            <Moment at={secret.updatedAt} /> <span title={secret.updatedByName}>by {secret.updatedByName}</span>
          </>
        )}
      </td>
    </>
  );
});
