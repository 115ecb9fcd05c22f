import { type ComponentProps, type ReactNode, useState } from 'react';
import { useRollback } from '../../api/versions.ts';
import { Button } from '../../parts/button.tsx';
import { CommentField } from '../../parts/form/comment-field.tsx';
import { useFirstFocus } from '../../parts/form/use-first-focus.ts';
import { Refusal } from '../../parts/refusal.tsx';
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
      <CommentField value={comment} onChange={setComment} fieldRef={first} />
      <Refusal error={rollback.error} />
      <div className="drawer-buttons">
        <Button look="primary" type="submit" busy={rollback.isPending}>
          {present === 0 ? `Restore v${target}` : `Roll back to v${target}`}
        </Button>
      </div>
    </form>
  );
}
