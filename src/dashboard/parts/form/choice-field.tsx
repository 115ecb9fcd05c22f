import { type ReactNode, useId } from 'react';
import { ChevronIcon } from '../icons.tsx';

export interface ChoiceFieldProps {
  readonly label: string;
  /** Whether only screen readers get the label. */
  readonly isLabelHidden?: boolean;
  readonly value: string;
  readonly options: readonly (readonly [value: string, text: string])[];
  readonly onChange: (value: string) => void;
  /** Below the field. */
  readonly help?: ReactNode;
}

/** A field in which one of several is chosen. */
export function ChoiceField({
  label,
  isLabelHidden = false,
  value,
  options,
  onChange,
  help,
}: ChoiceFieldProps): ReactNode {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id} className={isLabelHidden ? 'visually-hidden' : undefined}>
        {label}
      </label>
      <span className="select">
        <select
          id={id}
          className="input"
          value={value}
          onChange={(event) => onChange(event.target.value)}
          aria-describedby={help === undefined ? undefined : `${id}-help`}
        >
          {options.map(([option, text]) => (
            <option key={option} value={option}>
              {text}
            </option>
          ))}
        </select>
        <ChevronIcon />
      </span>
      {help === undefined ? undefined : (
        <p id={`${id}-help`} className="muted small">
          {help}
        </p>
      )}
    </div>
  );
}
