import { type ReactNode, useState } from 'react';
import { counted } from '../text/counted.ts';
import { Button } from './button.tsx';

const portion = 100;

export interface PortionProps<Entry> {
  /** None if a filter leaves none. */
  readonly entries: readonly Entry[];
  /** Shows these of them. */
  readonly children: (shown: readonly Entry[]) => ReactNode;
}

/** The first hundred entries of a list, and a button that shows a hundred more: a page of thousands of rows is slow. */
export function Portion<Entry>({ entries, children }: PortionProps<Entry>): ReactNode {
  const [limit, setLimit] = useState(portion);
  if (entries.length === 0) return <p className="muted">No entry matches.</p>;
  const more = Math.min(portion, entries.length - limit);
  return (
    <>
      {children(entries.slice(0, limit))}
      {more > 0 ? (
        <div className="list-more">
          <Button onClick={() => setLimit(limit + portion)}>Show {more} more</Button>
          <span className="muted small">
            {limit.toLocaleString('en')} of {counted(entries.length, 'entry', 'entries')}
          </span>
        </div>
      ) : undefined}
    </>
  );
}
