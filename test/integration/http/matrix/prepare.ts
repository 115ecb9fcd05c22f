import type { Actor } from './callers.ts';
import type { Founder, Place } from './places.ts';

/** Who will ask about which place, and what is to come of it. */
export interface Wanted {
  readonly founder: Founder;
  readonly place: Place;
  readonly actor: Actor;
  /** Whether the request will succeed. If so, it changes a separate resource, else it uses an existing one. */
  readonly succeeds: boolean;
}

/** What a request holds beside its method and template. */
export interface Prepared {
  /** Another place than the wanted one, with the same relation to the actor. */
  readonly place?: Place;
  /** The names in the path below the place's. */
  readonly params?: Readonly<Record<string, string>>;
  /** With its question mark. */
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** Makes what a request is about, and the request. */
export type Prepare = (wanted: Wanted) => Prepared | Promise<Prepared>;
