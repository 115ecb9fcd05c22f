import { type ReactNode, type RefObject, useId } from 'react';
import { validateSecretValue } from '../../../wire/secret-rules.ts';

export interface ValueFieldProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly fieldRef?: RefObject<HTMLTextAreaElement | null>;
}

/** Names white space at the ends of a value, which is not seen, and often not meant. */
function edgeText(value: string): string {
  if (/[\r\n]$/.test(value)) return 'The value ends with a line break.';
  return /^\s|\s$/.test(value) ? 'The value begins or ends with white space.' : '';
}

/** A field for a value. The browser neither completes it nor sends it to a spell checker. */
export function ValueField({ label, value, onChange, fieldRef }: ValueFieldProps): ReactNode {
  const id = useId();
  const fault = validateSecretValue(value);
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <textarea
        ref={fieldRef}
        id={id}
        className="input mono value-field"
        rows={4}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        autoComplete="off"
        autoCapitalize="off"
        autoCorrect="off"
        spellCheck={false}
        aria-invalid={fault !== undefined}
        aria-describedby={`${id}-fault`}
      />
      <p id={`${id}-fault`} className="field-fault">
        {fault === undefined ? '' : `The value ${fault}.`}
      </p>
      <output className="muted small">{edgeText(value)}</output>
    </div>
  );
}
