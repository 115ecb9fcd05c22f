import { expect } from '@jest/globals';
import type { CopyAnswer, CopyPlan } from '../../../src/services/secrets/copy/copies.ts';
import type { CopyEnds } from '../../../src/services/secrets/copy/copy-facts.ts';
import { type CopyLists, copyLists } from './environment-model.ts';
import { selections, type StepOf } from './environment-steps.ts';
import type { ModelledEnvironment } from './modelled-environment.ts';
import type { TestServices } from './services.ts';
import { type Found, type Settlement, settlementOf } from './settlement.ts';

interface Ends {
  readonly source: ModelledEnvironment;
  readonly destination: ModelledEnvironment;
}

/** Copies from one modelled environment to another, by a client who may read and write both. */
export async function copyBetween(
  { copies }: TestServices,
  { source, destination }: Ends,
  step: StepOf<'copy'>,
  number: number,
): Promise<readonly Settlement[]> {
  const { mode, past, isPlanned } = step;
  const { id, caller } = destination.clients.anywhere(number);
  const comment = destination.comment();
  const [keys, selected] = selections.get(step.selection) ?? [undefined, /./];
  // One more than there are, so that some are unknown.
  const wanted = past === undefined ? undefined : 1 + (past.which % (source.model.revision + 1));
  const revision = past?.byId === true ? source.revisionIds[wanted ?? 0] : wanted;
  if (past !== undefined && revision === undefined) return [];
  const input = { mode, keys, revision };
  let plan: CopyPlan | undefined;
  const enter = async (): Promise<CopyEnds> => ({
    destination: await destination.world.onEnvironment(caller, 'environment.copy'),
    source: await source.world.onEnvironment(caller, 'secret.list'),
  });
  const copying = async (): Promise<CopyAnswer> => {
    if (isPlanned) plan = await copies.plan(await enter(), input);
    return copies.copy(await enter(), { ...input, comment, ...(plan && { planHash: plan.planHash }) });
  };
  const listsAt = (before: number, from: number): CopyLists =>
    copyLists(destination.model.at(before), {
      source: source.model.at(from),
      mode,
      isSelected: (key) => selected.test(key),
    });
  const isOutdated = ({ revision: planned, from }: CopyPlan): boolean =>
    planned < destination.model.revision || (wanted === undefined && from.revision < source.model.revision);
  const foundAt = (present: number, from: number): Found[] => [
    { model: destination.model, revision: present },
    { model: source.model, revision: from, isPast: wanted !== undefined },
  ];
  const copied = await settlementOf(copying(), {
    standings: [destination.standing, source.standing],
    refusals: {
      not_found: () => wanted !== undefined && source.once((_state, present) => present < wanted),
      plan_outdated: () => plan !== undefined && isOutdated(plan),
    },
    answered: ({ revision: reached, revisionId, from, ...lists }) => {
      const { created, updated, deleted } = lists;
      const isChange = created.length + updated.length + deleted.length > 0;
      const settle = (): void => {
        const before = isChange ? reached - 1 : reached;
        if (wanted === undefined) expect(from.revision).toBeGreaterThanOrEqual(source.from);
        else expect(from.revision).toBe(wanted);
        expect(from.revisionId).toBe(source.revisionIds[from.revision]);
        expect(lists).toEqual(listsAt(before, from.revision));
        if (plan !== undefined) expect(plan).toMatchObject({ ...lists, from, revision: before });
        if (!isChange) return;
        const values = new Map([...created, ...updated].map((key) => [key, source.model.at(from.revision).get(key)]));
        const set = new Map([...values].map(([key, entry]) => [key, entry?.[0] ?? '']));
        destination.model.write(set, deleted, { changedBy: id, comment });
        destination.revisionIds.push(revisionId);
      };
      const found = foundAt(isChange ? reached - 1 : reached, from.revision);
      return { found, settle, ...(isChange ? { changed: destination.model } : {}) };
    },
  });
  if (plan === undefined) return [copied];
  // A dry run sees both at one moment too, whatever came of the copy.
  const { revision: planned, from } = plan;
  const expectPlan = (): void => expect(plan).toMatchObject(listsAt(planned, from.revision));
  return [{ found: foundAt(planned, from.revision), settle: expectPlan }, copied];
}
