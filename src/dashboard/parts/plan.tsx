import type { ReactNode } from 'react';

const signs = { add: '+', set: '~', delete: '−' } as const;
const words = { add: 'New', set: 'Changed', delete: 'Deleted' } as const;

export interface PlanRowProps {
  readonly change: keyof typeof signs;
  readonly name: string;
  /** At the end of the row. */
  readonly actions?: ReactNode;
  /** Below the name. */
  readonly children?: ReactNode;
}

/** One change of a plan. */
export function PlanRow({ change, name, actions, children }: PlanRowProps): ReactNode {
  return (
    <li className={`plan-row plan-${change}`}>
      <span className="plan-sign" aria-hidden="true">
        {signs[change]}
      </span>
      <div className="plan-text">
        <p className="plan-name">
          <span className="visually-hidden">{words[change]}: </span>
          <span className="mono">{name}</span>
        </p>
        {children}
      </div>
      {actions}
    </li>
  );
}

/** What will change, a row for each key. */
export function Plan({ name, children }: { readonly name: string; readonly children: ReactNode }): ReactNode {
  return (
    <ul className="plan" aria-label={name}>
      {children}
    </ul>
  );
}
