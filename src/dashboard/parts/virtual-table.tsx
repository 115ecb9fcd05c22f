import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useLayoutEffect, useRef, useState, useSyncExternalStore } from 'react';

const narrow = window.matchMedia('(width < 40rem)');

function subscribe(listener: () => void): () => void {
  narrow.addEventListener('change', listener);
  return () => narrow.removeEventListener('change', listener);
}

/** Whether the window is as narrow as a phone. */
function useIsNarrow(): boolean {
  return useSyncExternalStore(subscribe, () => narrow.matches);
}

export interface VirtualTableProps<Row> {
  /** Its name for screen readers. */
  readonly name: string;
  /** Sets the widths of the columns. */
  readonly className: string;
  readonly columns: readonly string[];
  readonly rows: readonly Row[];
  readonly rowKey: (row: Row) => string;
  /** In pixels, in a wide window and in a narrow one: all rows are equally high. */
  readonly rowHeight: { readonly wide: number; readonly narrow: number };
  /** The cells of a row. */
  readonly children: (row: Row) => ReactNode;
}

/** A table of which only the rows near the window are in the page, so that ten thousand scroll like ten. */
export function VirtualTable<Row>({
  name,
  className,
  columns,
  rows,
  rowKey,
  rowHeight,
  children,
}: VirtualTableProps<Row>): ReactNode {
  const body = useRef<HTMLTableSectionElement>(null);
  const [scrollMargin, setScrollMargin] = useState(0);
  const height = useIsNarrow() ? rowHeight.narrow : rowHeight.wide;
  useLayoutEffect(() => {
    const top = body.current?.getBoundingClientRect().top ?? 0;
    setScrollMargin(Math.round(top + window.scrollY));
  }, [rows.length, height]);
  const virtualizer = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => height,
    overscan: 10,
    scrollMargin,
    useFlushSync: false,
    getItemKey: (index) => {
      const row = rows[index];
      return row === undefined ? index : rowKey(row);
    },
  });
  useLayoutEffect(() => virtualizer.measure(), [virtualizer, height]);
  return (
    <table aria-label={name} aria-rowcount={rows.length + 1} className={`grid ${className}`}>
      <thead className="grid-head">
        <tr aria-rowindex={1} className="grid-row">
          {columns.map((column) => (
            <th key={column} scope="col">
              {column}
            </th>
          ))}
        </tr>
      </thead>
      <tbody ref={body} className="grid-body" style={{ height: virtualizer.getTotalSize() }}>
        {virtualizer.getVirtualItems().map(({ index, key, start }) => {
          const row = rows[index];
          if (row === undefined) return undefined;
          const style = { height, transform: `translateY(${start - scrollMargin}px)` };
          return (
            <tr key={key} aria-rowindex={index + 2} className="grid-row" style={style}>
              {children(row)}
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
