import type { ReactNode } from 'react';
import { readVersionValue } from '../../api/secrets.ts';
import { Button } from '../../parts/button.tsx';
import { Notice } from '../../parts/notice.tsx';
import { useRevealed } from '../../state/revealed.ts';
import { dropFromDraft, keepInDraft, type PlannedChange } from '../../text/draft.ts';
import type { Place } from '../../text/place.ts';
import type { HeldKeys } from './held-keys.ts';
import { Mask } from './secret-value.tsx';

export interface ConflictProps {
  readonly place: Place;
  readonly change: PlannedChange;
  readonly held: HeldKeys;
}

interface Sides {
  readonly base: string | undefined;
  readonly theirs: string | undefined;
}

/** A key that another user changed too: what it was, what they made of it, and what the user wants. */
export function Conflict({ place, change: { key, entry, version }, held }: ConflictProps): ReactNode {
  const { baseVersion } = entry;
  const read = async (of: number): Promise<string | undefined> =>
    of === 0 ? undefined : readVersionValue(place, key, of);
  const { value, isBusy, error, reveal, hide } = useRevealed<Sides>(async () => {
    const [base, theirs] = await Promise.all([read(baseVersion), read(version)]);
    return { base, theirs };
  });
  const yours = entry.kind === 'set' ? entry.value : undefined;
  const isShown = value !== undefined;
  return (
    <div className="conflict">
      <div className="sides">
        <Side title="When you began" version={baseVersion} isShown={isShown} value={value?.base} />
        <Side title="Theirs" version={version} isShown={isShown} value={value?.theirs} />
        <Side title="Yours" version={entry.kind === 'set' ? undefined : 0} isShown={isShown} value={yours} />
      </div>
      {error === undefined ? undefined : <Notice>{error}</Notice>}
      <div className="conflict-buttons">
        <Button
          onClick={() => held.change((draft) => keepInDraft(draft, key, version))}
          aria-label={`Keep yours: ${key}`}
        >
          Keep yours
        </Button>
        <Button onClick={() => held.change((draft) => dropFromDraft(draft, [key]))} aria-label={`Take theirs: ${key}`}>
          Take theirs
        </Button>
        <Button look="quiet" busy={isBusy} onClick={isShown ? hide : reveal}>
          {isShown ? 'Hide values' : 'Show values'}
        </Button>
      </div>
    </div>
  );
}

interface SideProps {
  readonly title: string;
  /** 0 if the key does not exist on this side; undefined for a version that is not made yet. */
  readonly version: number | undefined;
  readonly isShown: boolean;
  readonly value: string | undefined;
}

function Side({ title, version, isShown, value }: SideProps): ReactNode {
  return (
    <div className="side">
      <p className="side-title">
        {title} {version === undefined || version === 0 ? undefined : <span className="muted">v{version}</span>}
      </p>
      {version === 0 ? (
        <p className="muted">does not exist</p>
      ) : isShown && value !== undefined ? (
        <pre className="value-block">{value}</pre>
      ) : (
        <Mask />
      )}
    </div>
  );
}
