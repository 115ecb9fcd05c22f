import type { ReactNode } from 'react';
import { useIsChanging } from '../../api/use-change.ts';
import { Button } from '../button.tsx';

export interface FormEndProps {
  readonly onCancel: () => void;
  readonly busy?: boolean;
  /** What the button that submits says. */
  readonly children: string;
}

/** The buttons at the end of a form. */
export function FormEnd({ onCancel, busy = false, children }: FormEndProps): ReactNode {
  const isChanging = useIsChanging();
  return (
    <div className="form-end">
      <Button busy={isChanging} onClick={onCancel}>
        Cancel
      </Button>
      <Button look="primary" type="submit" busy={busy}>
        {children}
      </Button>
    </div>
  );
}
