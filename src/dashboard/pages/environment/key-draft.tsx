import { type ReactNode, useState } from 'react';
import { validateSecretValue } from '../../../wire/secret-rules.ts';
import { Button } from '../../parts/button.tsx';
import { useFirstFocus } from '../../parts/form/use-first-focus.ts';
import { isBeingSaved } from '../../text/commit.ts';
import { deleteInDraft, dropFromDraft, setInDraft } from '../../text/draft.ts';
import type { HeldKeys } from './held-keys.ts';
import { ValueField } from './value-field.tsx';

export interface KeyDraftProps {
  readonly name: string;
  /** Whether the key exists in the environment. */
  readonly isPresent: boolean;
  readonly held: HeldKeys;
  /** Opens the plan of the draft. */
  readonly onReview: () => void;
}

/** What the draft makes of a key. */
export function KeyDraft({ name, isPresent, held, onReview }: KeyDraftProps): ReactNode {
  const entry = held.draft.get(name);
  const [isOpen, setOpen] = useState(false);
  const drop = (): void => {
    setOpen(false);
    held.change((draft) => dropFromDraft(draft, [name]));
  };
  if (isBeingSaved(name, entry, held.commit)) {
    return (
      <section className="drawer-section">
        <p>{entry?.kind === 'delete' ? 'This deletion' : 'Your new value'} is being saved.</p>
      </section>
    );
  }
  if (entry?.kind === 'delete') {
    return (
      <section className="drawer-section">
        <p>The draft deletes this key. Its history stays.</p>
        <div className="drawer-buttons">
          <Button look="primary" onClick={onReview}>
            Review the draft
          </Button>
          <Button onClick={drop}>Keep it</Button>
        </div>
      </section>
    );
  }
  if (entry !== undefined || isOpen) {
    return (
      <NewValue
        name={name}
        typed={entry?.value}
        held={held}
        onReview={onReview}
        onDrop={drop}
        onInvalid={() => {
          drop();
          setOpen(true);
        }}
      />
    );
  }
  if (!isPresent) return undefined;
  return (
    <section className="drawer-buttons">
      <Button look="primary" onClick={() => setOpen(true)}>
        Change the value
      </Button>
      <Button look="danger" onClick={() => held.change((draft) => deleteInDraft(draft, held.versions, [name]))}>
        Delete
      </Button>
    </section>
  );
}

interface NewValueProps extends Pick<KeyDraftProps, 'name' | 'held' | 'onReview'> {
  /** Undefined before anything was typed. */
  readonly typed: string | undefined;
  readonly onDrop: () => void;
  /** What is typed now cannot be saved. So nothing that was typed before may be. */
  readonly onInvalid: () => void;
}

function NewValue({ name, typed, held, onReview, onDrop, onInvalid }: NewValueProps): ReactNode {
  const [text, setText] = useState(typed ?? '');
  const first = useFirstFocus<HTMLTextAreaElement>();
  const edit = (value: string): void => {
    setText(value);
    if (validateSecretValue(value) !== undefined) return onInvalid();
    held.change((draft) => setInDraft(draft, held.versions, new Map([[name, value]])));
  };
  return (
    <section className="drawer-section">
      <ValueField label="New value" value={text} onChange={edit} fieldRef={first} />
      <p className="muted small">
        {typed === undefined ? 'What you type becomes part of the draft.' : 'Part of the draft, and not saved yet.'}
      </p>
      <div className="drawer-buttons">
        {typed === undefined ? undefined : (
          <Button look="primary" onClick={onReview}>
            Review the draft
          </Button>
        )}
        <Button onClick={onDrop}>{typed === undefined ? 'Cancel' : 'Take it out of the draft'}</Button>
      </div>
    </section>
  );
}
