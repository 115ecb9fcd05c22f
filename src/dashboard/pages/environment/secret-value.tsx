import { type ReactNode, useState } from 'react';
import { readValue } from '../../api/secrets.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { EyeIcon, EyeOffIcon } from '../../parts/icons.tsx';
import { useRefusal, useRevealed } from '../../state/revealed.ts';
import type { Place } from '../../text/place.ts';
import { firstLineOf } from '../../text/first-line.ts';
import { copyLater } from './copy-later.ts';

/** Stands for a value that is not in the page. It is no text of the page, so it cannot be copied or saved. */
export function Mask(): ReactNode {
  return (
    <span className="mask">
      <span className="visually-hidden">Hidden</span>
    </span>
  );
}

/** A value in a row of the table: masked until the user reveals it. Each reveal and each copy is one audited request. */
export function SecretValue({ name, place }: { readonly name: string; readonly place: Place }): ReactNode {
  const read = (): Promise<string> => readValue(place, name);
  const { value, isBusy, error, reveal, hide } = useRevealed(read);
  const [refused, setRefused] = useState<string>();
  const refusalOf = useRefusal();
  const fault = error ?? refused;
  return (
    <>
      <span className="value-text">
        {fault !== undefined ? (
          <span className="value-fault" role="alert" title={fault}>
            {fault}
          </span>
        ) : value === undefined ? (
          <Mask />
        ) : (
          <ValueLine value={value} />
        )}
      </span>
      <span className="tools">
        <button
          type="button"
          className="tool"
          aria-label={value === undefined ? `Reveal ${name}` : `Hide ${name}`}
          aria-busy={isBusy}
          title={value === undefined ? 'Reveal for 30 seconds' : 'Hide'}
          onClick={() => {
            setRefused(undefined);
            if (value === undefined) reveal();
            else hide();
          }}
        >
          {value === undefined ? <EyeIcon /> : <EyeOffIcon />}
        </button>
        <CopyButton
          name={`Copy the value of ${name}`}
          onCopy={() => {
            setRefused(undefined);
            return copyLater(read);
          }}
          onRefused={(cause) => setRefused(refusalOf(cause))}
        />
      </span>
    </>
  );
}

function ValueLine({ value }: { readonly value: string }): ReactNode {
  const { line, more } = firstLineOf(value);
  if (value === '') return <span className="muted">empty</span>;
  return (
    <>
      <code className="value-line">{line}</code>
      {more === 0 ? undefined : <span className="muted value-more">+{more} lines</span>}
    </>
  );
}
