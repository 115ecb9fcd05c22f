import { browserSupportsWebAuthn } from '@simplewebauthn/browser';
import { type ComponentProps, type ReactNode, useId, useRef, useState } from 'react';
import type { PasskeyView } from '../../../wire/passkeys.ts';
import { useConfirmPasskey, useCreatePasskey, usePasskeys, useRemovePasskey } from '../../api/passkeys.ts';
import { Button } from '../../parts/button.tsx';
import { KeyIcon } from '../../parts/icons.tsx';
import { Moment } from '../../parts/moment.tsx';
import { Notice } from '../../parts/notice.tsx';
import { Refusal } from '../../parts/refusal.tsx';
import { browserName } from '../../text/browser-name.ts';
import { AskFirst } from '../../parts/ask-first.tsx';
import { Waiting } from '../../parts/waiting.tsx';
import { CreatedBy } from './created-by.tsx';

interface PasskeysProps {
  /** Where passkeys work; undefined if the server does not offer them. */
  readonly origin: string | undefined;
  /** Why the server has none. */
  readonly off: 'no_public_url' | 'ip_address' | null | undefined;
}

/** The passkeys of the user: add one, remove one, and confirm those of a backup. */
export function Passkeys({ origin, off }: PasskeysProps): ReactNode {
  const { data: passkeys, error, refetch } = usePasskeys();
  const create = useCreatePasskey();
  const remove = useRemovePasskey();
  const confirm = useConfirmPasskey();
  const [done, setDone] = useState('');
  const changes = [create, remove, confirm];
  const refused = changes.find((change) => change.error !== null)?.error ?? null;
  const busy = changes.some(({ isPending }) => isPending);
  const run = (change: typeof create, argument: string, report: string): void => {
    setDone('');
    for (const { reset } of changes) reset();
    change.mutate(argument, { onSuccess: () => setDone(report) });
  };
  return (
    <section className="methods" aria-labelledby="passkeys">
      <div className="methods-head">
        <h2 id="passkeys">Passkeys</h2>
        {origin === window.location.origin && browserSupportsWebAuthn() ? (
          <AddPasskey busy={busy} onAdd={(name) => run(create, name, `The passkey ${name} is registered.`)} />
        ) : undefined}
      </div>
      <Availability origin={origin} off={off} />
      <Refusal error={refused} />
      <output className="visually-hidden">{done}</output>
      {passkeys === undefined ? (
        <Waiting error={error} name="passkeys" onRetry={() => void refetch()} />
      ) : (
        <PasskeyList
          passkeys={passkeys}
          busy={busy}
          onConfirm={({ id, name }) => run(confirm, id, `The passkey ${name} works again.`)}
          onRemove={({ id, name }) => run(remove, id, `The passkey ${name} is removed.`)}
        />
      )}
    </section>
  );
}

interface PasskeyListProps {
  readonly passkeys: readonly PasskeyView[];
  readonly busy: boolean;
  readonly onConfirm: (passkey: PasskeyView) => void;
  readonly onRemove: (passkey: PasskeyView) => void;
}

function PasskeyList({ passkeys, busy, onConfirm, onRemove }: PasskeyListProps): ReactNode {
  if (passkeys.length === 0) return <p className="empty">You have no passkeys.</p>;
  return (
    <>
      {passkeys.some(({ unusableSince }) => unusableSince !== null) ? <BackupNotice /> : undefined}
      <ul className="rows" aria-label="Passkeys">
        {passkeys.map((passkey) => (
          <PasskeyRow
            key={passkey.id}
            passkey={passkey}
            busy={busy}
            onConfirm={() => onConfirm(passkey)}
            onRemove={() => onRemove(passkey)}
          />
        ))}
      </ul>
    </>
  );
}

function BackupNotice(): ReactNode {
  return (
    <Notice kind="info">
      The server was restored from a backup, which may bring back passkeys of lost devices. Confirm those that you still
      have, and remove the others.
    </Notice>
  );
}

function Availability({ origin, off }: PasskeysProps): ReactNode {
  if (off === 'no_public_url') {
    return <p className="empty">Passkeys are off: the server does not know its public address.</p>;
  }
  if (off === 'ip_address') {
    return (
      <p className="empty">Passkeys are off: browsers have none for an IP address, such as that of this server.</p>
    );
  }
  if (origin === undefined || origin === window.location.origin) return undefined;
  return (
    <p className="empty">
      Passkeys work at <a href={origin}>{origin}</a>.
    </p>
  );
}

interface PasskeyRowProps {
  readonly passkey: PasskeyView;
  readonly busy: boolean;
  readonly onConfirm: () => void;
  readonly onRemove: () => void;
}

function PasskeyRow({ passkey, busy, onConfirm, onRemove }: PasskeyRowProps): ReactNode {
  const { name, createdAt, lastUsedAt, unusableSince, backedUp, rpId, createdBy } = passkey;
  return (
    <li className="row">
      <span className="row-icon">
        <KeyIcon />
      </span>
      <div className="row-text">
        <p className="row-title">
          <span>{name}</span>
          {unusableSince === null ? undefined : <span className="badge badge-warning">Needs confirmation</span>}
          {backedUp ? <span className="badge">Synced</span> : undefined}
        </p>
        <p className="row-facts">
          <span>
            Added <Moment at={createdAt} />
          </span>
          <span>{lastUsedAt === null ? 'Never used' : <>Last used {<Moment at={lastUsedAt} />}</>}</span>
          {rpId === window.location.hostname ? undefined : <span>For {rpId}</span>}
          <CreatedBy creator={createdBy} />
        </p>
      </div>
      <div className="row-buttons">
        {unusableSince === null ? undefined : (
          <Button look="primary" busy={busy} onClick={onConfirm} aria-label={`Confirm the passkey ${name}`}>
            Confirm
          </Button>
        )}
        <AskFirst
          label={`Remove the passkey ${name}`}
          verb="Remove"
          question={`Remove ${name}?`}
          detail="It signs in no more, and sessions that began with it end. Remove it from your device too."
          busy={busy}
          onConfirm={onRemove}
        />
      </div>
    </li>
  );
}

/** A button, and the dialog that asks for a name. */
function AddPasskey({ busy, onAdd }: { readonly busy: boolean; readonly onAdd: (name: string) => void }): ReactNode {
  const dialog = useRef<HTMLDialogElement>(null);
  const field = useRef<HTMLInputElement>(null);
  const ids = { title: useId(), field: useId(), help: useId() };
  const submit: ComponentProps<'form'>['onSubmit'] = (event) => {
    event.preventDefault();
    const name = field.current?.value.trim() ?? '';
    if (name === '') return field.current?.focus();
    dialog.current?.close();
    onAdd(name);
  };
  return (
    <>
      <Button look="primary" busy={busy} onClick={() => dialog.current?.showModal()}>
        Add a passkey
      </Button>
      <dialog ref={dialog} className="dialog" aria-labelledby={ids.title}>
        <form onSubmit={submit} noValidate>
          <h2 id={ids.title}>Add a passkey</h2>
          <p id={ids.help}>Your browser then asks where to keep it. The name helps you to recognize it.</p>
          <div className="field dialog-field">
            <label htmlFor={ids.field}>Name</label>
            <input
              ref={field}
              id={ids.field}
              className="input"
              defaultValue={browserName(navigator.userAgent)}
              maxLength={200}
              autoComplete="off"
              aria-describedby={ids.help}
              required
            />
          </div>
          <div className="dialog-buttons">
            <Button onClick={() => dialog.current?.close()}>Cancel</Button>
            <Button look="primary" type="submit">
              Continue
            </Button>
          </div>
        </form>
      </dialog>
    </>
  );
}
