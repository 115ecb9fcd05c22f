import type { DomainError } from '../../../domain/errors/domain-error.ts';

/** What is known of the Secret in just this version. */
export interface VerifiedSecret {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly serial: number | undefined;
  readonly metadataFits: boolean;
  readonly isReplaceable: boolean;
}

/** What is remembered of one ServiceToken between two reconciles; nothing that has to outlive the process. */
export interface TokenState {
  readonly uid: string;
  verified: VerifiedSecret | undefined;
  /** The refusal that was audited, and what it was about: the same one is not audited at each reconcile. */
  denied: { readonly about: string; readonly error: DomainError } | undefined;
  /** The serial whose end a Warning Event has told of. */
  warned: number | undefined;
}

/** The states of all ServiceTokens by key. One that was made again under its name begins anew. */
export class TokenStates {
  readonly #byKey = new Map<string, TokenState>();

  /** The state of one in this incarnation, made if there is none. */
  ensure(key: string, uid: string): TokenState {
    const known = this.#byKey.get(key);
    if (known?.uid === uid) return known;
    const state: TokenState = { uid, verified: undefined, denied: undefined, warned: undefined };
    this.#byKey.set(key, state);
    return state;
  }

  forget(key: string): void {
    this.#byKey.delete(key);
  }
}
