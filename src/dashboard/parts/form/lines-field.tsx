import { type ReactNode, useId } from 'react';
import { FieldFault } from './field-fault.tsx';

export interface LinesFieldProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (text: string) => void;
  /** Below the field. */
  readonly help?: string | undefined;
  /** What is wrong with the lines; null if nothing is. */
  readonly fault: string | null;
}

/** A field for several exact texts, one in each line. */
export function LinesField({ label, value, onChange, help, fault }: LinesFieldProps): ReactNode {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <textarea
        id={id}
        className="input mono lines-field"
        rows={Math.min(6, value.split('\n').length)}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        autoComplete="off"
        autoCapitalize="off"
        autoCorrect="off"
        spellCheck={false}
        aria-invalid={fault !== null}
        aria-describedby={help === undefined ? `${id}-fault` : `${id}-help ${id}-fault`}
      />
      {help === undefined ? undefined : (
        <p id={`${id}-help`} className="muted small">
          {help}
        </p>
      )}
      <FieldFault id={`${id}-fault`}>{fault}</FieldFault>
    </div>
  );
}
