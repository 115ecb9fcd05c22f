import type { DomainError } from '../../../domain/errors/domain-error.ts';
import type { Repair } from '../secret-claims/drift.ts';

/** The facts about one version of the Secret. */
export interface VerifiedSecret {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly serial: number | undefined;
  readonly metadataFits: boolean;
  readonly isReplaceable: boolean;
}

/** The state of one ServiceToken between two reconciles. All of it can be lost. */
export interface TokenState {
  readonly uid: string;
  verified: VerifiedSecret | undefined;
  /** What another client did to the Secret, until a write repairs it. */
  drift: Repair | undefined;
  /** The refusal that was audited, and its subject, so that the same refusal is not audited at each reconcile. */
  denied: { readonly about: string; readonly error: DomainError } | undefined;
  /** The serial that the last Warning Event about expiry was for. */
  warned: number | undefined;
}

/** The states of all ServiceTokens by key. A ServiceToken that was deleted and created again starts with a new state. */
export class TokenStates {
  readonly #byKey = new Map<string, TokenState>();

  /** Returns the state of the ServiceToken with this uid. Creates it if there is none. */
  ensure(key: string, uid: string): TokenState {
    const known = this.#byKey.get(key);
    if (known?.uid === uid) return known;
    const state: TokenState = { uid, verified: undefined, drift: undefined, denied: undefined, warned: undefined };
    this.#byKey.set(key, state);
    return state;
  }

  forget(key: string): void {
    this.#byKey.delete(key);
  }
}
