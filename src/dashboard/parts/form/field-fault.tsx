import type { ReactNode } from 'react';

/** Why a form cannot be sent as it is. Announced when it appears. */
export function FieldFault({ id, children }: { readonly id?: string; readonly children: ReactNode }): ReactNode {
  return (
    <p id={id} className="field-fault" role="alert">
      {children}
    </p>
  );
}
