import type { ReactNode } from 'react';

export interface CheckFieldProps {
  readonly isChecked: boolean;
  readonly onChange: (isChecked: boolean) => void;
  /** What is chosen. */
  readonly children: ReactNode;
}

/** A box that is checked or not. */
export function CheckField({ isChecked, onChange, children }: CheckFieldProps): ReactNode {
  return (
    <label className="check">
      <input type="checkbox" checked={isChecked} onChange={(event) => onChange(event.target.checked)} />
      {children}
    </label>
  );
}
