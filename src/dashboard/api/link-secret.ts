import { useSyncExternalStore } from 'react';
import { dashboardPaths } from '../../wire/dashboard-paths.ts';

/**
 * The secret of a sign-in link, which follows `#` in its address. It is taken out of the address before anything is drawn,
 * and kept in this variable alone. So it is in no history, storage or request for a page.
 */
let secret: string | undefined;
const listeners = new Set<() => void>();

function take(): void {
  const { pathname, hash } = window.location;
  if (pathname !== dashboardPaths.link || hash.length < 2) return;
  window.history.replaceState(window.history.state, '', pathname);
  secret = hash.slice(1);
  for (const listener of listeners) listener();
}

take();
// Another link that is opened in the same tab loads no page.
window.addEventListener('hashchange', take);

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** The secret of the link that the visitor opened last; undefined if there is none. */
export function useLinkSecret(): string | undefined {
  return useSyncExternalStore(subscribe, () => secret);
}

/** Forgets the secret, which was used. */
export function forgetLinkSecret(): void {
  secret = undefined;
}
