import type { Caller, Principal } from '../../domain/principal.ts';
import type { Transaction } from '../../store/transaction.ts';

/**
 * Proof that a caller may do one action: what the services' methods ask for. Only the doors (`Access`, `KeylessAccess`
 * and `ResourceAccess`) can make one, so that a method is never reached before its authorisation.
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
   * Judges once more, inside a transaction and by what is committed now; from here to its end no withdrawal of the
   * right is. Throws what the door throws.
   */
  abstract confirm(tx: Transaction): Promise<void>;
}
