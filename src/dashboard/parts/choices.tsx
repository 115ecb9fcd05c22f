import type { ReactNode } from 'react';

export interface ChoicesProps<Value extends string> {
  /** What is chosen, for screen readers. */
  readonly name: string;
  readonly choices: readonly { readonly value: Value; readonly text: string; readonly count?: number | undefined }[];
  readonly chosen: Value;
  readonly onChoose: (value: Value) => void;
}

/** A row of buttons of which one is chosen, each with the number of entries that it shows. */
export function Choices<Value extends string>({ name, choices, chosen, onChoose }: ChoicesProps<Value>): ReactNode {
  return (
    <fieldset className="choices">
      <legend className="visually-hidden">{name}</legend>
      {choices.map(({ value, text, count }) => (
        <button
          key={value}
          type="button"
          className="choice"
          aria-pressed={value === chosen}
          onClick={() => onChoose(value)}
        >
          {text} {count === undefined ? undefined : <span className="choice-count">{count.toLocaleString('en')}</span>}
        </button>
      ))}
    </fieldset>
  );
}
