import { useLocation, useSearchParams } from 'react-router';
import { hasTokenText } from '../text/token-text.ts';

/** The filters of a list, in the query of the page's address. They are names and ids, and never values. */
export interface Filters {
  /** Empty if it is not set. */
  readonly get: (name: string) => string;
  /**
   * Sets several at once; one that is empty or has a token is removed. It adds no entry to the history. On another page,
   * to which the user went meanwhile, it does nothing.
   */
  readonly set: (changes: Readonly<Record<string, string>>) => void;
  /** The query with changes, for a link. */
  readonly with: (changes: Readonly<Record<string, string>>) => string;
}

export function useFilters(): Filters {
  const [query, setQuery] = useSearchParams();
  const { pathname } = useLocation();
  return {
    get: (name) => query.get(name) ?? '',
    // Of the address itself: two changes at once are rendered once, and the second must not undo the first.
    set: (changes) => {
      if (location.pathname !== pathname) return;
      setQuery(changed(new URLSearchParams(location.search), changes), { replace: true });
    },
    with: (changes) => `?${changed(query, changes).toString()}`,
  };
}

function changed(former: URLSearchParams, changes: Readonly<Record<string, string>>): URLSearchParams {
  const next = new URLSearchParams(former);
  for (const [name, value] of Object.entries(changes)) {
    if (value === '' || hasTokenText(value)) next.delete(name);
    else next.set(name, value);
  }
  return next;
}
