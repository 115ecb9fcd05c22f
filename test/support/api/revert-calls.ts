import type { Caller } from '../../../src/domain/principal.ts';
import type { PlannedRevertAnswer, RevertAnswer, RevertInput } from '../../../src/services/changes/reverts.ts';
import type { TestServices, World } from './services.ts';

type Rest = Omit<RevertInput, 'reverted'>;

/** Reverts of changes of a world's environment, each authorised for itself as by an edge. */
export interface RevertCalls {
  revert(reverted: number | string, rest?: Rest): Promise<RevertAnswer>;
  plan(reverted: number | string, rest?: Rest): Promise<PlannedRevertAnswer>;
}

export function revertCalls(
  { reverts }: Pick<TestServices, 'reverts'>,
  world: Pick<World, 'onEnvironment'>,
  caller: Caller,
): RevertCalls {
  return {
    async revert(reverted, rest = {}) {
      return reverts.revert(await world.onEnvironment(caller, 'change.revert'), { reverted, ...rest });
    },
    async plan(reverted, rest = {}) {
      return reverts.plan(await world.onEnvironment(caller, 'change.revert'), { reverted, ...rest });
    },
  };
}
