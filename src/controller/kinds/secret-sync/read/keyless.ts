import type { Asker } from '../../../../domain/asker.ts';
import { requireSyncGrant } from '../../../../domain/grant-refusal.ts';
import { type GrantNeed, type GrantRule, covers } from '../../../../domain/grants.ts';
import { sha256 } from '../../../../lib/digest.ts';
import type { ControllerEvent, EventFilter } from '../../../frame/dependencies.ts';
import type { AskerDeps } from '../../asker-of.ts';
import { slugsOf } from '../../../environment-ref.ts';
import type { Source } from '../spec/source.ts';

/** Sources without a token reference read with the keyless service token of the namespace, under its AccessGrants. */

/** Checks the grants for a source again, in memory only. Throws DomainError forbidden. */
export function confirmKeyless({ namespace, name, grants, ownGrant }: Asker<'SecretSync'>, source: Source): void {
  requireSyncGrant({ namespace: namespace ?? '', name, grants, ownGrant }, slugsOf(source), sha256);
}

/**
 * Whether the namespace has the grants that a SecretSync's keyless sources need. Other edits of grants matter only while one
 * of them is missing, because the message of a refusal says what the namespace is granted.
 */
export class GrantVerdicts implements EventFilter {
  readonly #rulesFor: () => readonly GrantRule[];
  readonly #needs: readonly GrantNeed[];
  #judged: readonly boolean[];

  constructor(grants: Pick<AskerDeps['grants'], 'rulesFor'>, namespace: string, sources: readonly Source[]) {
    this.#rulesFor = () => grants.rulesFor(namespace);
    this.#needs = sources.map((source) => ({ kind: 'SecretSync', permission: 'read', ...slugsOf(source) }));
    this.#judged = this.#judge();
  }

  /** Makes the result depend on the grants as they are now. */
  renew(): void {
    this.#judged = this.#judge();
  }

  /** Whether a verdict is a refusal, or differs from the one that the result depends on. */
  take(_event: ControllerEvent): boolean {
    return this.#judge().some((isGranted, index) => !isGranted || isGranted !== this.#judged[index]);
  }

  reset(): void {
    // There are no expectations: each event is judged by the present grants.
  }

  #judge(): readonly boolean[] {
    const rules = this.#rulesFor();
    return this.#needs.map((need) => covers(rules, need));
  }
}
