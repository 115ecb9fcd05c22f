import type { ChangeView, StreamEventView } from '../../../wire/changes.ts';
import type { ApiClient } from '../../../client/api-client.ts';
import { call } from '../../../client/call.ts';
import { pagesOf } from '../../../client/pages.ts';
import type { WatchedChangeOutput } from '../../output/shapes.ts';
import { type Scope, scopeParams } from '../../settings/scope.ts';
import { readKeys } from '../secret/secrets-api.ts';

/** What `watch` makes of an event: a change with who made it and when, or another beginning. */
export type WatchedEvent =
  | { readonly kind: 'change'; readonly change: WatchedChangeOutput }
  | { readonly kind: 'ready' | 'reset'; readonly revision: number }
  | { readonly kind: 'none' };

/**
 * Completes the events of a stream. They name keys and versions alone: the list of changes says who and when, and the keys
 * that exist show whether a key is new.
 */
export class ChangeReader {
  readonly #scope: Scope;
  readonly #since: string | undefined;
  #keys: Set<string> | undefined;
  #position: string | undefined;
  readonly #details = new Map<string, ChangeView>();

  constructor({ scope, since }: { readonly scope: Scope; readonly since: string | undefined }) {
    this.#scope = scope;
    this.#since = since;
  }

  async read(event: StreamEventView, api: ApiClient): Promise<WatchedEvent> {
    switch (event.event) {
      case 'ready':
        if (this.#keys === undefined) await this.#begin(api, this.#since ?? positionOf(event.data));
        return { kind: 'ready', revision: event.data.revision };
      case 'reset':
        await this.#begin(api, positionOf(event.data));
        return { kind: 'reset', revision: event.data.revision };
      case 'change':
        return await this.#change(event.data, api);
      default:
        // A newer server may have other events.
        return { kind: 'none' };
    }
  }

  async #begin(api: ApiClient, position: string): Promise<void> {
    this.#keys = await this.#keysAt(api, position);
    this.#position = position;
    this.#details.clear();
  }

  async #keysAt(api: ApiClient, revision: string): Promise<Set<string>> {
    if (revision === '0') return new Set();
    const { secrets } = await readKeys(api, this.#scope, { revision });
    return new Set(secrets.map(({ key }) => key));
  }

  async #change({ revisionId }: { readonly revisionId: string }, api: ApiClient): Promise<WatchedEvent> {
    if (!this.#details.has(revisionId)) await this.#readDetails(api);
    const found = this.#details.get(revisionId);
    // The database was recovered to an earlier point in between: the next event says so.
    if (found === undefined) return { kind: 'none' };
    this.#details.delete(revisionId);
    this.#position = revisionId;
    return { kind: 'change', change: { ...found, keys: found.keys.map((changed) => this.#signed(changed)) } };
  }

  /** All changes since the last one that was shown: one request for a burst of them. */
  async #readDetails(api: ApiClient): Promise<void> {
    const params = scopeParams(this.#scope);
    const since = this.#position;
    const pages = pagesOf(async (cursor) => {
      const query = { since, limit: '1000', cursor };
      return (await call(api, 'GET /changes/{org}/{project}/{env}', { params, query })).body;
    });
    for await (const page of pages) {
      for (const change of page.changes) this.#details.set(change.revisionId, change);
    }
  }

  #signed({ key, version }: ChangeView['keys'][number]): WatchedChangeOutput['keys'][number] {
    const keys = (this.#keys ??= new Set());
    if (version === null) {
      keys.delete(key);
      return { key, version, action: 'deleted' };
    }
    const action = keys.has(key) ? 'changed' : 'added';
    keys.add(key);
    return { key, version, action };
  }
}

/** How requests name a revision: the id of revision 0 is unknown after the first change. */
function positionOf({ revision, revisionId }: { readonly revision: number; readonly revisionId: string }): string {
  return revision === 0 ? '0' : revisionId;
}
