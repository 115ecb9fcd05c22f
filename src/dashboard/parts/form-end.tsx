import type { ReactNode } from 'react';
import { Button } from './button.tsx';

export interface FormEndProps {
  readonly onCancel: () => void;
  readonly busy?: boolean;
  /** What the button that submits says. */
  readonly children: string;
}

/** The buttons at the end of a form. */
export function FormEnd({ onCancel, busy = false, children }: FormEndProps): ReactNode {
  return (
    <div className="form-end">
      <Button onClick={onCancel}>Cancel</Button>
      <Button look="primary" type="submit" busy={busy}>
        {children}
      </Button>
    </div>
  );
}
