import { type ComponentProps, type ReactNode, type RefObject, useId } from 'react';
import { FieldFault } from './field-fault.tsx';

export interface TextFieldProps extends Pick<
  ComponentProps<'input'>,
  'aria-describedby' | 'autoCapitalize' | 'maxLength' | 'placeholder' | 'required'
> {
  readonly label: string;
  readonly value: string;
  readonly onChange: (text: string) => void;
  readonly fieldRef?: RefObject<HTMLInputElement | null>;
  /** A name or a code, which the browser must not correct. */
  readonly isExact?: boolean;
  /** In the letters of keys and codes. */
  readonly isMono?: boolean;
  /** What is wrong with the text; null if nothing is. Undefined for a field that never says so itself. */
  readonly fault?: string | null;
}

/** A field for a line of text. */
export function TextField({
  label,
  onChange,
  fieldRef,
  isExact = false,
  isMono = false,
  fault,
  ...input
}: TextFieldProps): ReactNode {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input
        {...(isExact ? { autoCapitalize: 'off', spellCheck: false } : {})}
        {...(fault === undefined ? {} : { 'aria-invalid': fault !== null, 'aria-describedby': `${id}-fault` })}
        {...input}
        ref={fieldRef}
        id={id}
        className={isMono ? 'input mono' : 'input'}
        onChange={(event) => onChange(event.target.value)}
        autoComplete="off"
      />
      {fault === undefined ? undefined : <FieldFault id={`${id}-fault`}>{fault}</FieldFault>}
    </div>
  );
}
