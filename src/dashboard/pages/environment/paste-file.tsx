import { type ReactNode, useId, useMemo, useState } from 'react';
import { Button } from '../../parts/button.tsx';
import { Drawer } from '../../parts/drawer.tsx';
import { CheckField } from '../../parts/form/check-field.tsx';
import { useFirstFocus } from '../../parts/form/use-first-focus.ts';
import { Notice } from '../../parts/notice.tsx';
import { counted } from '../../text/counted.ts';
import { deleteInDraft, setInDraft } from '../../text/draft.ts';
import { type ReadFile, readFile } from '../../text/read-file.ts';
import type { HeldKeys } from './held-keys.ts';
import type { Unfinished } from './use-unfinished.ts';

export interface PasteFileProps extends Unfinished<string> {
  readonly held: HeldKeys;
}

/** Reads a pasted `.env` file, shows what it would change, and adds it to the draft. */
export function PasteFile({ held, typed: text, onType, onClose, onDone }: PasteFileProps): ReactNode {
  const [isMirror, setMirror] = useState(false);
  const file = useMemo(() => readFile(text, held.versions), [text, held.versions]);
  const first = useFirstFocus<HTMLTextAreaElement>();
  const id = useId();
  const count = file.fault === undefined ? file.added.length + file.present.length : 0;
  const removed = isMirror ? file.missing : [];
  const add = (): void => {
    if (count === 0) return;
    held.change((draft) => deleteInDraft(setInDraft(draft, held.versions, file.secrets), held.versions, removed));
    onDone();
  };
  return (
    <Drawer
      title="Paste a .env file"
      wide
      onClose={onClose}
      foot={
        <>
          <Button onClick={onDone}>Cancel</Button>
          <Button look="primary" busy={count === 0} onClick={add}>
            {count === 0 ? 'Add to the draft' : `Add ${counted(count + removed.length, 'change')} to the draft`}
          </Button>
        </>
      }
    >
      <div className="form">
        <div className="field">
          <label htmlFor={id}>Lines of KEY=value</label>
          <textarea
            ref={first}
            id={id}
            className="input mono value-field"
            rows={10}
            value={text}
            onChange={(event) => onType(event.target.value)}
            placeholder={'DATABASE_URL=postgres://…\nAPI_KEY="…"'}
            autoComplete="off"
            autoCapitalize="off"
            autoCorrect="off"
            spellCheck={false}
          />
        </div>
        {file.missing.length === 0 || count === 0 ? undefined : (
          <CheckField isChecked={isMirror} onChange={setMirror}>
            Delete the {counted(file.missing.length, 'key')} that the file does not have
          </CheckField>
        )}
        <Found file={file} removed={removed} />
      </div>
    </Drawer>
  );
}

function Found({ file, removed }: { readonly file: ReadFile; readonly removed: readonly string[] }): ReactNode {
  if (file.fault !== undefined) return <Notice>Nothing is read: {file.fault}.</Notice>;
  return (
    <output className="found">
      <KeyList title="New" look="add" keys={file.added} />
      <KeyList title="Set again" look="set" keys={file.present} />
      <KeyList title="Deleted" look="delete" keys={removed} />
      {file.warnings.length === 0 ? undefined : (
        <section>
          <h3>Read differently by other programs</h3>
          <ul className="warnings">
            {file.warnings.map(({ line, key, message }) => (
              <li key={`${line} ${message}`}>
                <span className="muted">line {line}</span> <code>{key}</code> {message}
              </li>
            ))}
          </ul>
        </section>
      )}
    </output>
  );
}

const shown = 200;

interface KeyListProps {
  readonly title: string;
  readonly look: 'add' | 'set' | 'delete';
  readonly keys: readonly string[];
}

function KeyList({ title, look, keys }: KeyListProps): ReactNode {
  if (keys.length === 0) return undefined;
  return (
    <section>
      <h3>
        {title} <span className="muted">{keys.length}</span>
      </h3>
      <ul className={`key-list key-list-${look}`}>
        {keys.slice(0, shown).map((key) => (
          <li key={key} className="mono">
            {key}
          </li>
        ))}
        {keys.length > shown ? <li className="muted">and {keys.length - shown} more</li> : undefined}
      </ul>
    </section>
  );
}
