import type { ReactNode } from 'react';

/** Facts about one thing, each with its name. */
export function Facts({ children }: { readonly children: ReactNode }): ReactNode {
  return <dl className="fact-list">{children}</dl>;
}

export interface FactProps {
  readonly name: string;
  /** Without it, the fact is left out. */
  readonly children: ReactNode;
}

export function Fact({ name, children }: FactProps): ReactNode {
  if (children === undefined || children === null || children === '') return undefined;
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
