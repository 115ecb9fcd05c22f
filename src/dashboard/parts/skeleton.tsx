import type { ReactNode } from 'react';

export interface SkeletonProps {
  /** What is loading, for screen readers: "Loading the keys". */
  readonly name: string;
  /** How many rows it has; each is as high as a row of the list that follows. */
  readonly rows: number;
  readonly look?: 'row' | 'tall';
}

const widths = ['38%', '26%', '44%', '31%', '22%'];

/** Stands in place of rows that are loading, with their size. */
export function Skeleton({ name, rows, look = 'row' }: SkeletonProps): ReactNode {
  return (
    <output className="skeleton" aria-label={name}>
      {Array.from({ length: rows }, (_, row) => (
        <span key={row} className={`skeleton-${look}`}>
          <span className="bone" style={{ width: widths[row % widths.length] }} />
        </span>
      ))}
    </output>
  );
}
