import { type ReactNode, useId, useRef } from 'react';
import { Button } from './button.tsx';

interface AskFirstProps {
  /** The name of the first button for screen readers, which says what it is about. */
  readonly label: string;
  /** The text of both buttons. */
  readonly verb: string;
  readonly question: string;
  readonly detail: ReactNode;
  /** Of the first button. */
  readonly look?: 'plain' | 'danger';
  readonly busy: boolean;
  readonly onConfirm: () => void;
}

/** A button, and the dialog that asks before something is removed. */
export function AskFirst({ label, verb, question, detail, look = 'plain', busy, onConfirm }: AskFirstProps): ReactNode {
  const dialog = useRef<HTMLDialogElement>(null);
  const title = useId();
  return (
    <>
      <Button look={look} busy={busy} onClick={() => dialog.current?.showModal()} aria-label={label}>
        {verb}
      </Button>
      <dialog ref={dialog} className="dialog" aria-labelledby={title}>
        <h2 id={title}>{question}</h2>
        {typeof detail === 'string' ? <p>{detail}</p> : detail}
        <div className="dialog-buttons">
          <Button onClick={() => dialog.current?.close()}>Cancel</Button>
          <Button
            look="danger"
            onClick={() => {
              dialog.current?.close();
              onConfirm();
            }}
          >
            {verb}
          </Button>
        </div>
      </dialog>
    </>
  );
}
