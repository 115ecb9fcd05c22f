import type { StateCache } from '../secrets/state-cache.ts';
import type { ChangeFeed } from './change-feed.ts';

/** Removes destroyed values from memory too. A read never returns them, with or without this notification. */
export function dropDestroyed(changes: Pick<ChangeFeed, 'subscribe'>, states: Pick<StateCache, 'drop'>): void {
  changes.subscribe({
    onEvent: (event) => {
      if (event.kind === 'environment' && event.destroyed === true) states.drop(event.environmentId);
    },
    onReady: () => undefined,
  });
}
