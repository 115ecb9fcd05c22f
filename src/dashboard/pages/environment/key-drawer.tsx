import type { ReactNode } from 'react';
import { generatePath, Link } from 'react-router';
import { dashboardPaths } from '../../../wire/dashboard-paths.ts';
import type { SecretKeyView } from '../../../wire/secrets.ts';
import { Drawer } from '../../parts/drawer.tsx';
import { Moment } from '../../parts/moment.tsx';
import type { Place, Rights } from '../../text/place.ts';
import type { HeldKeys } from './held-keys.ts';
import { History } from './history.tsx';
import { CurrentValue } from './current-value.tsx';
import { KeyDraft } from './key-draft.tsx';

export interface KeyDrawerProps {
  readonly name: string;
  readonly place: Place;
  /** Undefined if the key does not exist, or only in the draft. */
  readonly secret: SecretKeyView | undefined;
  readonly rights: Rights;
  readonly held: HeldKeys;
  readonly onReview: () => void;
  readonly onClose: () => void;
}

/** Everything about a key. */
export function KeyDrawer({ name, place, secret, rights, held, onReview, onClose }: KeyDrawerProps): ReactNode {
  // Only in the draft: it has no history.
  const isNew = secret === undefined && held.draft.get(name)?.baseVersion === 0;
  return (
    <Drawer title={<span className="mono">{name}</span>} onClose={onClose}>
      {secret === undefined ? (
        <p className="muted">
          {isNew ? 'A new key, which is not saved yet.' : 'This key does not exist in the environment now.'}
        </p>
      ) : (
        <section className="drawer-section">
          <p className="muted">
            Version {secret.version}, <Moment at={secret.updatedAt} /> by {secret.updatedByName}
          </p>
          <CurrentValue key={secret.version} name={name} place={place} />
        </section>
      )}
      {rights.mayWrite ? (
        <KeyDraft name={name} isPresent={secret !== undefined} held={held} onReview={onReview} />
      ) : undefined}
      {secret === undefined ? undefined : (
        <p className="muted small">
          Every SecretSync of this environment may read the key.{' '}
          <Link to={generatePath(dashboardPaths.consumers, { ...place })}>See where the values go</Link>
        </p>
      )}
      {isNew ? undefined : <History name={name} place={place} version={secret?.version ?? 0} rights={rights} />}
    </Drawer>
  );
}
