import { expect } from '@jest/globals';
import fc from 'fast-check';
import type { DestroyInput } from '../../../src/services/secrets/destructions.ts';
import type { TestServices, World } from '../../support/api/services.ts';
import type { WorldCalls } from '../../support/api/with-services.ts';
import { prismaOf } from '../../support/database/prisma.ts';

/** A version as it is stored. */
export interface StoredRow {
  readonly key: string;
  readonly version: number;
  readonly bytes: number;
  /** The version that it refers to. */
  readonly refersTo: number | null;
  readonly isDestroyed: boolean;
}

/** The versions of an environment, by key and number. */
export async function storedRows({ database }: TestServices, { environment }: World): Promise<StoredRow[]> {
  return prismaOf(database).$queryRaw`
    SELECT s.key, v.version, octet_length(v.ciphertext) AS bytes, c.version AS "refersTo",
      v.destroyed_at IS NOT NULL AS "isDestroyed"
    FROM secret_version v JOIN secret s ON s.id = v.secret_id
      LEFT JOIN secret_version c ON c.id = v.content_version_id AND c.secret_id = v.secret_id
    WHERE s.environment_id = ${environment.id}::uuid ORDER BY s.key, v.version`;
}

/** Destroys a version as the admin; returns the numbers of all that were destroyed. */
export async function destroyVersion(
  { destructions }: TestServices,
  by: World,
  key: string,
  input: DestroyInput,
): Promise<readonly number[]> {
  const access = await by.onEnvironment(by.admin.caller, 'version.destroy');
  return (await destructions.destroy(access, key, input)).destroyedVersions;
}

/** The value of a version, as a viewer reads it. */
export async function valueAt({ versions }: TestServices, by: World, key: string, version: number): Promise<string> {
  const access = await by.onEnvironment(by.viewer.caller, 'version.read');
  return (await versions.get(access, key, version)).value.reveal();
}

/** One key's versions in the model: the value, and which write brought it; undefined for a destroyed one. */
type ModelVersion = { readonly value: string; readonly origin: number } | undefined;

/** One call about the key. A version or a snapshot is picked from those that exist by a number. */
export const anyKeyStep = fc.oneof(
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('put' as const), value: fc.constantFrom('1', '2') }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('rollback' as const), target: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('snapshot' as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('restore' as const), target: fc.nat(5) }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('destroy' as const), target: fc.nat(20), sameValue: fc.boolean() }),
  },
);
type Step = typeof anyKeyStep extends fc.Arbitrary<infer One> ? One : never;

/** Makes calls about one key of a new world, and keeps what it must hold. */
export class KeyHistory {
  readonly #services: TestServices;
  readonly #by: WorldCalls;
  readonly #versions: ModelVersion[] = [];
  readonly #snapshots: { readonly id: string; readonly index: number }[] = [];
  /** The index of the version that each revision has, by number. */
  readonly #revisions: number[] = [];

  constructor(services: TestServices, by: WorldCalls) {
    this.#services = services;
    this.#by = by;
  }

  async run(one: Step): Promise<void> {
    if (one.kind === 'put' || this.#versions.length === 0) {
      const value = one.kind === 'put' ? one.value : '1';
      await this.#by.calls.put('KEY', value);
      return this.#add({ value, origin: this.#versions.length });
    }
    if (one.kind === 'rollback') {
      const index = one.target % this.#versions.length;
      const target = this.#versions[index];
      const work = this.#by.calls.rollback('KEY', { targetVersion: index + 1 });
      if (target === undefined) return await expect(work).rejects.toMatchObject({ code: 'version_destroyed' });
      await work;
      return this.#add(target);
    }
    if (one.kind === 'snapshot') {
      this.#snapshots.push({ id: (await this.#by.snapshots.create()).id, index: this.#versions.length - 1 });
      return;
    }
    return one.kind === 'restore' ? await this.#restore(one.target) : await this.#destroy(one);
  }

  async #restore(target: number): Promise<void> {
    const snapshot = this.#snapshots[target % Math.max(1, this.#snapshots.length)];
    if (snapshot === undefined) return;
    const found = this.#versions[snapshot.index];
    const answer = await this.#by.snapshots.restore(snapshot.id);
    expect(answer.restored).toEqual(found === undefined ? [] : ['KEY']);
    if (found !== undefined) this.#add(found);
  }

  async #destroy({ target, sameValue }: { readonly target: number; readonly sameValue: boolean }): Promise<void> {
    const index = target % this.#versions.length;
    const found = this.#versions[index];
    if (found === undefined) return;
    const isCurrent =
      index === this.#versions.length - 1 || (sameValue && this.#versions.at(-1)?.value === found.value);
    const work = destroyVersion(this.#services, this.#by.world, 'KEY', { version: index + 1, sameValue });
    if (isCurrent) return await expect(work).rejects.toMatchObject({ code: 'version_current' });
    await work;
    const isDoomed = (version: ModelVersion, other: number): boolean =>
      other === index || (sameValue && version?.value === found.value);
    for (const [other, version] of this.#versions.entries()) {
      if (isDoomed(version, other)) this.#versions[other] = undefined;
    }
  }

  #add(version: ModelVersion): void {
    this.#versions.push(version);
    this.#revisions.push(this.#versions.length - 1);
  }

  /** What is stored and read is as in the model; each write's value is stored once while a version has it. */
  async expectAsModelled(): Promise<void> {
    const { world: own } = this.#by;
    const rows = await storedRows(this.#services, own);
    const holders = rows.filter(({ bytes }) => bytes > 0);
    const origins = new Set(this.#versions.flatMap((version) => (version === undefined ? [] : [version.origin])));
    expect(holders).toHaveLength(origins.size);
    for (const { version, refersTo, isDestroyed } of rows) {
      const modelled = this.#versions[version - 1];
      expect(isDestroyed).toBe(modelled === undefined);
      if (refersTo !== null) expect(this.#versions[refersTo - 1]).toEqual(modelled);
    }
    const list = await own.onEnvironment(own.viewer.caller, 'secret.list');
    for (const [index, version] of this.#versions.entries()) {
      const gone = expect.objectContaining({ code: 'version_destroyed' });
      const wanted = version?.value ?? gone;
      expect(await valueAt(this.#services, own, 'KEY', index + 1).catch((error: unknown) => error)).toEqual(wanted);
    }
    for (const [at, index] of this.#revisions.entries()) {
      const state = this.#services.secrets.list(list, { revision: at + 1 });
      const seen = state.then(({ secrets: [secret] }) => secret?.value.reveal());
      const wanted = this.#versions[index]?.value ?? expect.objectContaining({ code: 'version_destroyed' });
      expect(await seen.catch((error: unknown) => error)).toEqual(wanted);
    }
  }
}
