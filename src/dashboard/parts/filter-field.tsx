import { type ReactNode, useId } from 'react';

export interface FilterFieldProps {
  /** Its name and its placeholder. */
  readonly name: string;
  /** At first. The field keeps what is typed: the address follows later. */
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** A field that filters a list while the user types. */
export function FilterField({ name, value, onChange }: FilterFieldProps): ReactNode {
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
        onChange={(event) => onChange(event.target.value)}
        autoComplete="off"
        spellCheck={false}
      />
    </>
  );
}
