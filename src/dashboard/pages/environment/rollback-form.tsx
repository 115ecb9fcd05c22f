import { type ComponentProps, type ReactNode, useId, useState } from 'react';
import { useRollback } from '../../api/versions.ts';
import { Button } from '../../parts/button.tsx';
import { Notice } from '../../parts/notice.tsx';
import { useFirstFocus } from '../../parts/form/use-first-focus.ts';
import type { Place } from '../../text/place.ts';

export interface RollbackFormProps {
  readonly name: string;
  readonly place: Place;
  readonly target: number;
  /** The present version; 0 if the key is deleted. */
  readonly present: number;
  readonly onDone: (report: string) => void;
}

/** Asks before a key gets the value of an earlier version. */
export function RollbackForm({ name, place, target, present, onDone }: RollbackFormProps): ReactNode {
  const rollback = useRollback(place, name);
  // A repetition after a lost response expects the same version as the first request, so that it is the same request.
  const [seen, setSeen] = useState<number | undefined>(present);
  const [comment, setComment] = useState('');
  const id = useId();
  const first = useFirstFocus<HTMLInputElement>();
  const submit: ComponentProps<'form'>['onSubmit'] = (event) => {
    event.preventDefault();
    if (rollback.isPending) return;
    rollback.mutate(
      { targetVersion: target, expectedVersion: seen ?? present, comment: comment.trim() },
      {
        onSuccess: ({ version }) => onDone(`Version ${version} has the value of version ${target}.`),
        onError: ({ code }) => void (code === 'version_mismatch' && setSeen(undefined)),
      },
    );
  };
  return (
    <form className="version-panel" onSubmit={submit}>
      <p>
        {present === 0 ? 'The key exists again' : 'The key gets a new version'} with the value of v{target}. No version
        is removed.
      </p>
      <div className="field">
        <label htmlFor={id}>Comment</label>
        <input
          ref={first}
          id={id}
          className="input"
          value={comment}
          onChange={(event) => setComment(event.target.value)}
          maxLength={1000}
          autoComplete="off"
        />
      </div>
      {rollback.error === null ? undefined : <Notice>{rollback.error.message}</Notice>}
      <div className="drawer-buttons">
        <Button look="primary" type="submit" busy={rollback.isPending}>
          {present === 0 ? `Restore v${target}` : `Roll back to v${target}`}
        </Button>
      </div>
    </form>
  );
}
