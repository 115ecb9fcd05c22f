import type { ReactNode } from 'react';

export interface EmptyProps {
  readonly title: string;
  /** What to do about it. */
  readonly children?: ReactNode;
}

/** Stands in place of a list without entries. */
export function Empty({ title, children }: EmptyProps): ReactNode {
  return (
    <div className="empty-box">
      <p className="empty-title">{title}</p>
      {children}
    </div>
  );
}
