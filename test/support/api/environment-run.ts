import { expect } from '@jest/globals';
import type { Caller } from '../../../src/domain/principal.ts';
import type { PlannedRevertAnswer, RevertAnswer } from '../../../src/services/changes/reverts.ts';
import type { RestoreAnswer, RestorePlan } from '../../../src/services/snapshots/restore/restores.ts';
import {
  EnvironmentModel,
  type ModelPatch,
  type ModelRestore,
  type ModelState,
  patchLists,
  restoreLists,
  revertLists,
} from './environment-model.ts';
import { type Call, selections, type Step, type StepOf } from './environment-steps.ts';
import { type RevertCalls, revertCalls } from './revert-calls.ts';
import { type SecretCalls, secretCalls } from './secret-calls.ts';
import type { TestServices, World } from './services.ts';
import { nothing, type Settlement, settlementOf } from './settlement.ts';
import { type SnapshotCalls, snapshotCalls } from './snapshot-calls.ts';

interface Client {
  readonly id: string;
  readonly secrets: SecretCalls;
  readonly snapshots: SnapshotCalls;
  readonly reverts: RevertCalls;
}

export interface KnownSnapshot {
  readonly id: string;
  readonly state: ModelState;
  /** The round that deleted it. */
  goneIn?: number;
}

/**
 * Runs rounds of calls, those of a round at once, on a real environment and on a model of it, and expects each answer
 * to be what the model says at some one order of them, which the revisions in the answers show.
 */
export class EnvironmentRun {
  readonly model = new EnvironmentModel();
  readonly snapshots: KnownSnapshot[] = [];
  readonly #clients: readonly Client[];
  /** Those who may delete snapshots too. */
  readonly #admins: readonly Client[];
  /** By number. */
  readonly revisionIds: string[];
  #round = 0;
  #calls = 0;
  /** The revision at the beginning of the round. */
  #from = 0;

  private constructor(clients: readonly Client[], admins: readonly Client[], revisionId: string) {
    this.#clients = clients;
    this.#admins = admins;
    this.revisionIds = [revisionId];
  }

  /** People of three roles, and service tokens of two scopes. */
  static async start(services: TestServices, world: World): Promise<EnvironmentRun> {
    const client = ({ caller, id }: { readonly caller: Caller; readonly id: string }): Client => ({
      id,
      secrets: secretCalls(services, world, caller),
      snapshots: snapshotCalls(services, world, caller),
      reverts: revertCalls(services, world, caller),
    });
    const admins = [client(world.owner), client(world.admin)];
    const machines = [await world.serviceToken(), await world.serviceToken({ scope: 'organization' })];
    const clients = [...admins, client(world.developer), ...machines.map(client)];
    const { revisionId } = await secretCalls(services, world, world.owner.caller).read();
    return new EnvironmentRun(clients, admins, revisionId);
  }

  /** Makes all of the calls at once, and settles them. */
  async round(calls: readonly Call[]): Promise<void> {
    this.#round += 1;
    this.#from = this.model.revision;
    const settlements = await Promise.all(calls.map(async ({ step, client }) => this.#make(step, client)));
    const changes = settlements.filter(({ revision }) => revision !== undefined);
    const others = settlements.filter(({ revision }) => revision === undefined);
    for (const change of changes.toSorted((a, b) => (a.revision ?? 0) - (b.revision ?? 0))) {
      expect(change.revision).toBe(this.model.revision + 1);
      change.settle();
      expect(this.model.revision).toBe(change.revision);
    }
    for (const other of others) other.settle();
  }

  #client(clients: readonly Client[], number: number): Client {
    const client = clients[number % clients.length];
    if (client === undefined) throw new Error('there is no client');
    return client;
  }

  async #make(step: Step, number: number): Promise<Settlement> {
    const client = this.#client(step.kind === 'drop' ? this.#admins : this.#clients, number);
    switch (step.kind) {
      case 'put':
        return this.#put(step, client);
      case 'patch':
        return this.#patch(step, client);
      case 'delete':
        return this.#delete(step, client);
      case 'rollback':
        return this.#rollback(step, client);
      case 'snapshot':
        return this.#snapshot(client);
      case 'restore':
        return this.#restore(step, client);
      case 'revert':
        return this.#revert(step, client);
      default:
        return this.#drop(step, client);
    }
  }

  async #put({ key, value, isExpecting }: StepOf<'put'>, { id, secrets }: Client): Promise<Settlement> {
    const expectedVersion = this.model.present.get(key)?.[1] ?? 0;
    const comment = this.#comment();
    const asExpected = (state: ModelState): boolean => !isExpecting || (state.get(key)?.[1] ?? 0) === expectedVersion;
    const putting = secrets.put(key, value, { comment, ...(isExpecting ? { expectedVersion } : {}) });
    return settlementOf(putting, {
      refusals: { version_mismatch: () => this.#once((state) => !asExpected(state)) },
      answered: ({ version, created, revision, revisionId }) => ({
        revision,
        settle: () => {
          expect(asExpected(this.model.present)).toBe(true);
          expect(created).toBe(!this.model.present.has(key));
          const made = this.model.write(new Map([[key, value]]), [], { changedBy: id, comment });
          expect([[key, version]]).toEqual([...made]);
          this.revisionIds.push(revisionId);
        },
      }),
    });
  }

  async #patch({ isExpecting, skipUnchanged, ...step }: StepOf<'patch'>, client: Client): Promise<Settlement> {
    const set = new Map(Object.entries(step.set));
    const wish: ModelPatch = { set, deleted: step.deleted.filter((key) => !set.has(key)), skipUnchanged };
    const comment = this.#comment();
    const expected = isExpecting ? { expectedRevision: this.revisionIds.at(-1) ?? '' } : {};
    const patching = client.secrets.patch(step.set, wish.deleted, { comment, skipUnchanged, ...expected });
    return settlementOf(patching, {
      refusals: {
        not_found: () => this.#once((state) => patchLists(state, wish) === undefined),
        version_mismatch: () => isExpecting && this.model.revision > this.#from,
      },
      answered: ({ revision, revisionId, ...written }) => {
        const lists = { ...written, set: written.set.map(({ key }) => key) };
        const expectLists = (state: ModelState): void => expect(lists).toEqual(patchLists(state, wish));
        if (lists.set.length + lists.deleted.length === 0)
          return { settle: () => expectLists(this.model.at(revision)) };
        return {
          revision,
          settle: () => {
            expectLists(this.model.present);
            if (isExpecting) expect(this.model.revision).toBe(this.#from);
            const values = new Map(lists.set.map((key) => [key, set.get(key) ?? '']));
            const made = this.model.write(values, wish.deleted, { changedBy: client.id, comment });
            expect(written.set.map(({ key, version }) => [key, version])).toEqual([...made]);
            this.revisionIds.push(revisionId);
          },
        };
      },
    });
  }

  async #delete({ key }: StepOf<'delete'>, { id, secrets }: Client): Promise<Settlement> {
    return settlementOf(secrets.remove(key), {
      refusals: { not_found: () => this.#once((state) => !state.has(key)) },
      answered: ({ revision, revisionId }) => ({
        revision,
        settle: () => {
          expect(this.model.present.has(key)).toBe(true);
          this.model.write(new Map(), [key], { changedBy: id, comment: null });
          this.revisionIds.push(revisionId);
        },
      }),
    });
  }

  async #rollback({ key, target, undelete }: StepOf<'rollback'>, { id, secrets }: Client): Promise<Settlement> {
    const { model } = this;
    // One more than there are, so that some are unknown.
    const targetVersion = (target % (model.versionsAt(model.revision, key).length + 1)) + 1;
    const comment = this.#comment();
    const refusal = (revision: number): string | undefined => {
      const versions = model.versionsAt(revision, key);
      if (versions.length === 0) return 'not_found';
      if (!undelete && !model.at(revision).has(key)) return 'secret_deleted';
      return versions.length < targetVersion ? 'not_found' : undefined;
    };
    const wasRefused = (code: string) => () => this.#once((_state, revision) => refusal(revision) === code);
    return settlementOf(secrets.rollback(key, { targetVersion, undelete, comment }), {
      refusals: { not_found: wasRefused('not_found'), secret_deleted: wasRefused('secret_deleted') },
      answered: ({ version, changeType, revision, revisionId }) => ({
        revision,
        settle: () => {
          expect(refusal(model.revision)).toBeUndefined();
          expect(version).toBe(model.rollback(key, targetVersion, { changedBy: id, comment }));
          expect(changeType).toBe('rolled_back');
          this.revisionIds.push(revisionId);
        },
      }),
    });
  }

  async #snapshot({ snapshots }: Client): Promise<Settlement> {
    return settlementOf(snapshots.create(), {
      answered: ({ id, revision, revisionId, secretCount }) => ({
        settle: () => {
          const state = this.model.at(revision);
          expect(revision).toBeGreaterThanOrEqual(this.#from);
          expect([secretCount, revisionId]).toEqual([state.size, revision === 0 ? null : this.revisionIds[revision]]);
          this.snapshots.push({ id, state });
        },
      }),
    });
  }

  async #restore({ which, isPlanned, selection, ...options }: StepOf<'restore'>, client: Client): Promise<Settlement> {
    const snapshot = this.#pick(which);
    if (snapshot === undefined) return nothing;
    const comment = this.#comment();
    const [keys, selected] = selections.get(selection) ?? [undefined, /./];
    const step = { ...options, ...(keys && { keys }) };
    const wish: ModelRestore = { snapshot: snapshot.state, ...options, isSelected: (key) => selected.test(key) };
    const isGone = (): boolean => snapshot.goneIn !== undefined;
    const { snapshots, id } = client;
    let plan: RestorePlan | undefined;
    const restoring = async (): Promise<RestoreAnswer> => {
      if (isPlanned) plan = await snapshots.plan(snapshot.id, step);
      return snapshots.restore(snapshot.id, { ...step, comment, ...(plan && { planHash: plan.planHash }) });
    };
    return settlementOf(restoring(), {
      refusals: { not_found: isGone, plan_outdated: () => plan !== undefined && plan.revision < this.model.revision },
      answered: ({ revision, revisionId, backupSnapshotId, ...lists }) => {
        const { restored, recreated, pruned } = lists;
        const isChange = restored.length + recreated.length + pruned.length > 0;
        const settle = (): void => {
          const before = isChange ? this.model.revision : revision;
          expect(this.#wasThere(snapshot)).toBe(true);
          expect(lists).toEqual(restoreLists(this.model.at(before), wish));
          if (plan !== undefined) expect(plan).toMatchObject({ ...lists, revision: before });
          expect(backupSnapshotId !== null).toBe(isChange && step.backup);
          if (backupSnapshotId !== null) this.snapshots.push({ id: backupSnapshotId, state: this.model.at(before) });
          if (!isChange) return;
          const back = { keys: [...restored, ...recreated].toSorted(), deleted: pruned };
          this.model.goBack(snapshot.state, back, { changedBy: id, comment });
          this.revisionIds.push(revisionId);
        };
        return isChange ? { revision, settle } : { settle };
      },
    });
  }

  async #revert({ which, byId, isPlanned, overwrite }: StepOf<'revert'>, client: Client): Promise<Settlement> {
    const { model } = this;
    // One more than there are, so that some are unknown.
    const number = 1 + (which % (model.revision + 1));
    const reverted = byId ? this.revisionIds[number] : number;
    if (reverted === undefined) return nothing;
    const comment = this.#comment();
    const { id, reverts } = client;
    const listsAt = (revision: number): ReturnType<typeof revertLists> =>
      revertLists(model.at(revision), model.at(number - 1), model.at(number));
    let plan: PlannedRevertAnswer | undefined;
    const reverting = async (): Promise<RevertAnswer> => {
      if (isPlanned) plan = await reverts.plan(reverted, { overwrite });
      return reverts.revert(reverted, { overwrite, comment, ...(plan && { planHash: plan.planHash }) });
    };
    const hasConflict = (revision: number): boolean => revision >= number && listsAt(revision).conflicts.length > 0;
    return settlementOf(reverting(), {
      refusals: {
        not_found: () => this.#once((_state, revision) => revision < number),
        plan_outdated: () => plan !== undefined && plan.revision < model.revision,
        revert_conflict: () => !overwrite && this.#once((_state, revision) => hasConflict(revision)),
      },
      answered: ({ revision, revisionId, reverted: was, ...lists }) => {
        const { restored, recreated, deleted } = lists;
        const isChange = restored.length + recreated.length + deleted.length > 0;
        const settle = (): void => {
          const before = isChange ? model.revision : revision;
          expect(was).toEqual({ revision: number, revisionId: this.revisionIds[number] });
          expect(lists).toEqual(listsAt(before));
          if (!overwrite) expect(lists.conflicts).toEqual([]);
          if (plan !== undefined) expect(plan).toMatchObject({ ...lists, revision: before });
          if (!isChange) return;
          const keys = [...restored, ...recreated].toSorted();
          model.goBack(model.at(number - 1), { keys, deleted }, { changedBy: id, comment });
          this.revisionIds.push(revisionId);
        };
        return isChange ? { revision, settle } : { settle };
      },
    });
  }

  async #drop({ which }: StepOf<'drop'>, { snapshots }: Client): Promise<Settlement> {
    const snapshot = this.#pick(which);
    if (snapshot === undefined) return nothing;
    return settlementOf(snapshots.delete(snapshot.id), {
      refusals: { not_found: () => snapshot.goneIn !== undefined },
      answered: () => {
        expect(snapshot.goneIn).toBeUndefined();
        snapshot.goneIn = this.#round;
        return nothing;
      },
    });
  }

  #pick(which: number): KnownSnapshot | undefined {
    return this.snapshots[which % this.snapshots.length];
  }

  #wasThere({ goneIn }: KnownSnapshot): boolean {
    return goneIn === undefined || goneIn === this.#round;
  }

  /** Whether it was so at some revision of this round. */
  #once(holds: (state: ModelState, revision: number) => boolean): boolean {
    return this.model.states.some((state, revision) => revision >= this.#from && holds(state, revision));
  }

  #comment(): string {
    this.#calls += 1;
    return `call ${this.#calls}`;
  }
}
