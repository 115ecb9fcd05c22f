import type { Caller, Principal } from '../../domain/principal.ts';
import type { Transaction } from '../../store/transaction.ts';

/**
 * Proof that a caller may do one action. The methods of the services require it. Only the doors (`Access`,
 * `KeylessAccess` and `ResourceAccess`) can make one, so that a method is never reached before its authorisation.
 */
export abstract class Handle<P extends Principal, A extends string = string> {
  // Private, so that no other object is taken for a handle because it looks like one.
  readonly #caller: Caller<P>;
  readonly action: A;

  constructor(caller: Caller<P>, action: A) {
    this.#caller = caller;
    this.action = action;
  }

  get caller(): Caller<P> {
    return this.#caller;
  }

  /**
   * Judges again, inside a transaction and by what is committed now. Until its end the right cannot be
   * withdrawn. Throws what the door throws.
   */
  abstract confirm(tx: Transaction): Promise<void>;
}
