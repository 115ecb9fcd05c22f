import { expect } from '@jest/globals';
import { DomainError } from '../../../src/domain/errors/domain-error.ts';
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
import { selections, type Step, type StepOf } from './environment-steps.ts';
import { type RunClient, RunClients } from './run-clients.ts';
import type { TestServices, TestToken, World } from './services.ts';
import { type Judges, nothing, type Settlement, settlementOf } from './settlement.ts';
import { Standing } from './standing.ts';
import { TenantCalls } from './tenant-calls.ts';

export interface KnownSnapshot {
  readonly id: string;
  readonly state: ModelState;
  /** The round that deleted it. */
  goneIn?: number;
}

/** A step that concerns one environment alone. */
export type OwnStep = Exclude<Step, { kind: 'copy' }>;

/** A real environment and a model of it. What a call must have been answered is judged by the model, when it is settled. */
export class ModelledEnvironment {
  readonly model = new EnvironmentModel();
  readonly standing = new Standing();
  readonly snapshots: KnownSnapshot[] = [];
  readonly world: World;
  /** By number. */
  readonly revisionIds: string[];
  readonly clients: RunClients;
  /** The revision at the beginning of the round. */
  from = 0;
  readonly #tenants: TenantCalls;
  #round = 0;
  #calls = 0;

  private constructor(services: TestServices, world: World, clients: RunClients) {
    this.world = world;
    this.clients = clients;
    this.#tenants = new TenantCalls(services, world);
    this.revisionIds = [world.environment.revisionId];
  }

  /** An environment in which nothing was written; `wideToken` is a token of its organization. */
  static async start(services: TestServices, world: World, wideToken: TestToken): Promise<ModelledEnvironment> {
    return new ModelledEnvironment(services, world, await RunClients.start(services, world, wideToken));
  }

  async beginRound(): Promise<void> {
    if (this.standing.isLive) await this.clients.renew();
    this.#round += 1;
    this.from = this.model.revision;
    this.standing.beginRound();
  }

  /** Learns what the round's deletions and undeletions came to. To be called before anything is settled. */
  async endRound(): Promise<void> {
    const { isInDoubt, isLive } = this.standing;
    this.standing.endRound(isInDoubt ? await this.#isThere() : isLive);
    if (this.standing.hasEndedTokens) this.clients.end();
  }

  /** Makes one call of one of its clients. */
  async make(step: OwnStep, number: number): Promise<Settlement> {
    const { clients } = this;
    const client = step.kind === 'drop' ? clients.client(clients.admin(number)) : clients.any(number);
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
      case 'drop':
        return this.#drop(step, client);
      default:
        return this.#changeStanding(step.kind, number);
    }
  }

  async #put({ key, value, isExpecting }: StepOf<'put'>, client: RunClient): Promise<Settlement> {
    const expectedVersion = this.model.present.get(key)?.[1] ?? 0;
    const comment = this.comment();
    const asExpected = (state: ModelState): boolean => !isExpecting || (state.get(key)?.[1] ?? 0) === expectedVersion;
    const putting = client.secrets.put(key, value, { comment, ...(isExpecting ? { expectedVersion } : {}) });
    return this.#judge(client, putting, {
      refusals: { version_mismatch: () => this.once((state) => !asExpected(state)) },
      answered: ({ version, created, revision, revisionId }) => ({
        ...this.#changed(revision),
        settle: () => {
          expect(asExpected(this.model.present)).toBe(true);
          expect(created).toBe(!this.model.present.has(key));
          const made = this.model.write(new Map([[key, value]]), [], { changedBy: client.id, comment });
          expect([[key, version]]).toEqual([...made]);
          this.revisionIds.push(revisionId);
        },
      }),
    });
  }

  async #patch({ isExpecting, skipUnchanged, ...step }: StepOf<'patch'>, client: RunClient): Promise<Settlement> {
    const set = new Map(Object.entries(step.set));
    const wish: ModelPatch = { set, deleted: step.deleted.filter((key) => !set.has(key)), skipUnchanged };
    const comment = this.comment();
    const expected = isExpecting ? { expectedRevision: this.revisionIds.at(-1) ?? '' } : {};
    const patching = client.secrets.patch(step.set, wish.deleted, { comment, skipUnchanged, ...expected });
    return this.#judge(client, patching, {
      refusals: {
        not_found: () => this.once((state) => patchLists(state, wish) === undefined),
        version_mismatch: () => isExpecting && this.model.revision > this.from,
      },
      answered: ({ revision, revisionId, ...written }) => {
        const lists = { ...written, set: written.set.map(({ key }) => key) };
        const expectLists = (state: ModelState): void => expect(lists).toEqual(patchLists(state, wish));
        if (lists.set.length + lists.deleted.length === 0)
          return { settle: () => expectLists(this.model.at(revision)) };
        return {
          ...this.#changed(revision),
          settle: () => {
            expectLists(this.model.present);
            if (isExpecting) expect(this.model.revision).toBe(this.from);
            const values = new Map(lists.set.map((key) => [key, set.get(key) ?? '']));
            const made = this.model.write(values, wish.deleted, { changedBy: client.id, comment });
            expect(written.set.map(({ key, version }) => [key, version])).toEqual([...made]);
            this.revisionIds.push(revisionId);
          },
        };
      },
    });
  }

  async #delete({ key }: StepOf<'delete'>, client: RunClient): Promise<Settlement> {
    return this.#judge(client, client.secrets.remove(key), {
      refusals: { not_found: () => this.once((state) => !state.has(key)) },
      answered: ({ revision, revisionId }) => ({
        ...this.#changed(revision),
        settle: () => {
          expect(this.model.present.has(key)).toBe(true);
          this.model.write(new Map(), [key], { changedBy: client.id, comment: null });
          this.revisionIds.push(revisionId);
        },
      }),
    });
  }

  async #rollback({ key, target, undelete }: StepOf<'rollback'>, client: RunClient): Promise<Settlement> {
    const { model } = this;
    // One more than there are, so that some are unknown.
    const targetVersion = (target % (model.versionsAt(model.revision, key).length + 1)) + 1;
    const comment = this.comment();
    const refusal = (revision: number): string | undefined => {
      const versions = model.versionsAt(revision, key);
      if (versions.length === 0) return 'not_found';
      if (!undelete && !model.at(revision).has(key)) return 'secret_deleted';
      return versions.length < targetVersion ? 'not_found' : undefined;
    };
    const wasRefused = (code: string) => () => this.once((_state, revision) => refusal(revision) === code);
    return this.#judge(client, client.secrets.rollback(key, { targetVersion, undelete, comment }), {
      refusals: { not_found: wasRefused('not_found'), secret_deleted: wasRefused('secret_deleted') },
      answered: ({ version, changeType, revision, revisionId }) => ({
        ...this.#changed(revision),
        settle: () => {
          expect(refusal(model.revision)).toBeUndefined();
          expect(version).toBe(model.rollback(key, targetVersion, { changedBy: client.id, comment }));
          expect(changeType).toBe('rolled_back');
          this.revisionIds.push(revisionId);
        },
      }),
    });
  }

  async #snapshot(client: RunClient): Promise<Settlement> {
    return this.#judge(client, client.snapshots.create(), {
      answered: ({ id, revision, revisionId, secretCount }) => ({
        settle: () => {
          const state = this.model.at(revision);
          expect(revision).toBeGreaterThanOrEqual(this.from);
          expect([secretCount, revisionId]).toEqual([state.size, revision === 0 ? null : this.revisionIds[revision]]);
          this.snapshots.push({ id, state });
        },
      }),
    });
  }

  async #restore(
    { which, isPlanned, selection, ...options }: StepOf<'restore'>,
    client: RunClient,
  ): Promise<Settlement> {
    const snapshot = this.#pick(which);
    if (snapshot === undefined) return nothing;
    const comment = this.comment();
    const [keys, selected] = selections.get(selection) ?? [undefined, /./];
    const step = { ...options, ...(keys && { keys }) };
    const wish: ModelRestore = { snapshot: snapshot.state, ...options, isSelected: (key) => selected.test(key) };
    const isGone = (): boolean => snapshot.goneIn !== undefined;
    const { snapshots } = client;
    let plan: RestorePlan | undefined;
    const restoring = async (): Promise<RestoreAnswer> => {
      if (isPlanned) plan = await snapshots.plan(snapshot.id, step);
      return snapshots.restore(snapshot.id, { ...step, comment, ...(plan && { planHash: plan.planHash }) });
    };
    return this.#judge(client, restoring(), {
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
          this.model.goBack(snapshot.state, back, { changedBy: client.id, comment });
          this.revisionIds.push(revisionId);
        };
        return isChange ? { ...this.#changed(revision), settle } : { settle };
      },
    });
  }

  async #revert({ which, byId, isPlanned, overwrite }: StepOf<'revert'>, client: RunClient): Promise<Settlement> {
    const { model } = this;
    // One more than there are, so that some are unknown.
    const number = 1 + (which % (model.revision + 1));
    const reverted = byId ? this.revisionIds[number] : number;
    if (reverted === undefined) return nothing;
    const comment = this.comment();
    const { reverts } = client;
    const listsAt = (revision: number): ReturnType<typeof revertLists> =>
      revertLists(model.at(revision), model.at(number - 1), model.at(number));
    let plan: PlannedRevertAnswer | undefined;
    const reverting = async (): Promise<RevertAnswer> => {
      if (isPlanned) plan = await reverts.plan(reverted, { overwrite });
      return reverts.revert(reverted, { overwrite, comment, ...(plan && { planHash: plan.planHash }) });
    };
    const hasConflict = (revision: number): boolean => revision >= number && listsAt(revision).conflicts.length > 0;
    return this.#judge(client, reverting(), {
      refusals: {
        not_found: () => this.once((_state, revision) => revision < number),
        plan_outdated: () => plan !== undefined && plan.revision < model.revision,
        revert_conflict: () => !overwrite && this.once((_state, revision) => hasConflict(revision)),
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
          model.goBack(model.at(number - 1), { keys, deleted }, { changedBy: client.id, comment });
          this.revisionIds.push(revisionId);
        };
        return isChange ? { ...this.#changed(revision), settle } : { settle };
      },
    });
  }

  async #drop({ which }: StepOf<'drop'>, client: RunClient): Promise<Settlement> {
    const snapshot = this.#pick(which);
    if (snapshot === undefined) return nothing;
    return this.#judge(client, client.snapshots.delete(snapshot.id), {
      refusals: { not_found: () => snapshot.goneIn !== undefined },
      answered: () => {
        expect(snapshot.goneIn).toBeUndefined();
        snapshot.goneIn = this.#round;
        return nothing;
      },
    });
  }

  async #changeStanding(kind: 'remove' | 'undelete', number: number): Promise<Settlement> {
    const { standing, world } = this;
    const { caller } = this.clients.admin(number);
    if (kind === 'remove') {
      return settlementOf(this.#tenants.remove('environment', caller), {
        standings: [standing],
        answered: () => {
          standing.countDeletion();
          return nothing;
        },
      });
    }
    // It finds what is deleted as well.
    return settlementOf(this.#tenants.undelete('environment', caller), {
      standings: [],
      answered: ({ id }) => {
        standing.countUndeletion();
        return { settle: () => expect(id).toBe(world.environment.id) };
      },
    });
  }

  async #isThere(): Promise<boolean> {
    return this.world.onEnvironment(this.world.viewer.caller, 'environment.read').then(
      () => true,
      (error: unknown) => {
        if (error instanceof DomainError && error.code === 'not_found') return false;
        throw error;
      },
    );
  }

  /** Whether something held at a revision of this round. */
  once(holds: (state: ModelState, revision: number) => boolean): boolean {
    return this.model.states.some((state, revision) => revision >= this.from && holds(state, revision));
  }

  /** A comment that no other call has. */
  comment(): string {
    this.#calls += 1;
    return `call ${this.#calls}`;
  }

  #judge<Answer>(
    { isTied }: RunClient,
    call: Promise<Answer>,
    judges: Omit<Judges<Answer>, 'standings' | 'isTied'>,
  ): Promise<Settlement> {
    return settlementOf(call, { ...judges, standings: [this.standing], isTied });
  }

  /** Of a call that made a revision. */
  #changed(revision: number): Pick<Settlement, 'found' | 'changed'> {
    const { model } = this;
    return { found: [{ model, revision: revision - 1 }], changed: model };
  }

  #pick(which: number): KnownSnapshot | undefined {
    return this.snapshots[which % this.snapshots.length];
  }

  #wasThere({ goneIn }: KnownSnapshot): boolean {
    return goneIn === undefined || goneIn === this.#round;
  }
}
