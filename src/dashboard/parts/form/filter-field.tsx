import { type ReactNode, useId } from 'react';
import { hasTokenText } from '../../text/token-text.ts';

export interface FilterFieldProps {
  /** Its name and its placeholder. */
  readonly name: string;
  /** At first. The field keeps what is typed: the address follows later. */
  readonly value: string;
  readonly onChange: (value: string) => void;
  /** A token was pasted. The field is empty again. */
  readonly onToken?: (text: string) => void;
}

/** A field that filters a list while the user types. */
export function FilterField({ name, value, onChange, onToken }: FilterFieldProps): ReactNode {
  const id = useId();
  return (
    <>
      <label htmlFor={id} className="visually-hidden">
        {name}
      </label>
      <input
        id={id}
        type="search"
        className="input"
        placeholder={name}
        defaultValue={value}
        onChange={({ target }) => {
          const text = target.value;
          if (onToken === undefined || !hasTokenText(text)) return onChange(text);
          target.value = '';
          onChange('');
          onToken(text);
        }}
        autoComplete="off"
        spellCheck={false}
      />
    </>
  );
}
