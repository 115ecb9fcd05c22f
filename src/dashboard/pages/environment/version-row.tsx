import { type ReactNode, useState } from 'react';
import type { VersionView } from '../../../wire/versions.ts';
import { useIsChanging } from '../../api/use-change.ts';
import { Button } from '../../parts/button.tsx';
import { Moment } from '../../parts/moment.tsx';
import { actorText } from '../../text/actor-text.ts';
import type { Place, Rights } from '../../text/place.ts';
import { DestroyForm } from './destroy-form.tsx';
import { RollbackForm } from './rollback-form.tsx';
import { VersionDiff } from './version-diff.tsx';

const verbs = { created: 'Created', updated: 'Changed', rolled_back: 'Rolled back' } as const;

export interface VersionRowProps {
  readonly entry: VersionView;
  readonly name: string;
  readonly place: Place;
  /** The present version; 0 if the key is deleted. */
  readonly present: number;
  /** The version to compare it with; undefined if there is none with a value. */
  readonly other: VersionView | undefined;
  readonly rights: Rights;
  /** Takes a sentence about what was done. */
  readonly onDone: (report: string) => void;
}

type Open = 'compare' | 'rollback' | 'destroy';

/** A version, and below it what the user does with it. */
export function VersionRow({ entry, name, place, present, other, rights, onDone }: VersionRowProps): ReactNode {
  const [open, setOpen] = useState<Open>();
  const isChanging = useIsChanging();
  const { version } = entry;
  const done = (report: string): void => {
    setOpen(undefined);
    onDone(report);
  };
  return (
    <article className="version" aria-label={`Version ${version}`}>
      <VersionFacts entry={entry} isPresent={version === present} />
      <div className="version-buttons">
        {actionsOf({ entry, present, other, rights }).map(([panel, label]) => (
          <Button
            key={panel}
            look="quiet"
            busy={isChanging}
            aria-expanded={open === panel}
            onClick={() => setOpen(open === panel ? undefined : panel)}
          >
            {label}
          </Button>
        ))}
      </div>
      {open === 'compare' && other !== undefined ? (
        <VersionDiff name={name} place={place} versions={[version, other.version]} />
      ) : undefined}
      {open === 'rollback' ? (
        <RollbackForm name={name} place={place} target={version} present={present} onDone={done} />
      ) : undefined}
      {open === 'destroy' ? <DestroyForm name={name} place={place} version={version} onDone={done} /> : undefined}
    </article>
  );
}

/** What the user may do with a version. The present one is neither rolled back to nor destroyed. */
function actionsOf({
  entry,
  present,
  other,
  rights,
}: Pick<VersionRowProps, 'entry' | 'present' | 'other' | 'rights'>): readonly (readonly [Open, string])[] {
  const actions: [Open, string][] = [];
  if (other !== undefined) actions.push(['compare', `Compare with v${other.version}`]);
  if (entry.destroyedAt !== null || entry.version === present || !rights.mayWrite) return actions;
  actions.push(['rollback', present === 0 ? 'Restore' : 'Roll back']);
  if (rights.mayDestroy) actions.push(['destroy', 'Destroy']);
  return actions;
}

function VersionFacts({ entry, isPresent }: { readonly entry: VersionView; readonly isPresent: boolean }): ReactNode {
  const { version, changeType, createdAt, changedByName, changedByCluster, comment, destroyedAt, destroyedByName } =
    entry;
  return (
    <>
      <p className="version-title">
        <strong>v{version}</strong>
        {isPresent ? <span className="badge">Present</span> : undefined}
        <span className="muted">
          {verbs[changeType]} <Moment at={createdAt} /> by {actorText(changedByName, changedByCluster)}
        </span>
      </p>
      {comment === null ? undefined : <p className="version-comment">{comment}</p>}
      {destroyedAt === null ? undefined : (
        <p className="version-destroyed">
          Value destroyed <Moment at={destroyedAt} /> by {destroyedByName}
        </p>
      )}
    </>
  );
}
