import { secretCalls, type SecretCalls } from '../../support/api/secret-calls.ts';
import type { TestServices, TestToken, World } from '../../support/api/services.ts';
import { snapshotCalls } from '../../support/api/snapshot-calls.ts';
import { levels, TenantCalls } from '../../support/api/tenant-calls.ts';
import type { SentRequest } from './kill-site.ts';

export const kinds = ['restore', 'revert', 'rollback', 'copy', 'undelete'] as const;
export type Kind = (typeof kinds)[number];

export type Values = Readonly<Record<string, string>>;

/** One request, and what it does to an environment. */
export interface Operation {
  readonly request: SentRequest;
  /** Its action in the audit, and how many entries it writes. */
  readonly action: string;
  readonly entries: number;
  /** How many revisions and snapshots it makes. */
  readonly revisions: number;
  readonly snapshots: number;
  /** What the environment holds afterwards. */
  readonly after: Values;
  /** A token of an environment that is deleted now. The operation ends it. */
  readonly token?: TestToken;
}

const keysOf = (prefix: string): string[] => Array.from({ length: 40 }, (_, index) => `${prefix}_${index + 10}`);
const [ofA, ofB] = [keysOf('A'), keysOf('B')];

/** Prepares an environment for one operation of each kind. */
export class KilledOperations {
  readonly #services: TestServices;
  readonly #world: World;
  readonly #calls: SecretCalls;
  readonly #source: World;

  /** `source` is another environment of the same organization, from which copies read. */
  constructor(services: TestServices, { world, source }: { readonly world: World; readonly source: World }) {
    this.#services = services;
    this.#world = world;
    this.#calls = secretCalls(services, world, world.owner.caller);
    this.#source = source;
  }

  /** `name` is part of each value, and of the Idempotency-Key: no other operation may have it. */
  async prepare(kind: Kind, name: string): Promise<Operation> {
    await this.#calls.patch(valuesOf([...ofA, ...ofB], name));
    const prepared = await this.#prepare(kind, name);
    const request = kind === 'undelete' ? prepared.request : { ...prepared.request, idempotencyKey: name };
    return { ...prepared, request };
  }

  #prepare(kind: Kind, name: string): Promise<Operation> {
    switch (kind) {
      case 'restore':
        return this.#restore(name);
      case 'revert':
        return this.#revert(name);
      case 'rollback':
        return this.#rollback(name);
      case 'copy':
        return this.#copy(name);
      default:
        return this.#undelete();
    }
  }

  /** With `includeDeleted` and `keys`. */
  async #restore(name: string): Promise<Operation> {
    const snapshots = snapshotCalls(this.#services, this.#world, this.#world.owner.caller);
    const { id: snapshotId } = await snapshots.create();
    const changed = valuesOf([...ofA.slice(0, 20), 'A_NEW', 'B_NEW'], `${name} changed`);
    await this.#calls.patch(changed, [...ofA.slice(20), ...ofB.slice(20)]);
    const options = { includeDeleted: true, keys: { include: ['A_*'] }, prune: true, backup: true };
    const { A_NEW: _pruned, ...kept } = await this.values();
    return {
      request: { path: `/snapshots/${this.#path}/restore`, body: { snapshotId, ...options } },
      action: 'snapshot.restore',
      entries: 1,
      revisions: 1,
      snapshots: 1,
      after: { ...kept, ...valuesOf(ofA, name) },
    };
  }

  async #revert(name: string): Promise<Operation> {
    const before = await this.values();
    const { revision } = await this.#calls.patch(valuesOf(ofA, `${name} changed`), ofB);
    await this.#calls.put('OTHER', name);
    return {
      request: { path: `/changes/${this.#path}/${revision}/revert`, body: {} },
      action: 'change.revert',
      entries: 1,
      revisions: 1,
      snapshots: 0,
      after: { ...before, OTHER: name },
    };
  }

  async #rollback(name: string): Promise<Operation> {
    const { version: targetVersion } = await this.#calls.put('KEY', name);
    await this.#calls.put('KEY', `${name} changed`);
    await this.#calls.remove('KEY');
    return {
      request: { path: `/versions/${this.#path}/KEY/rollback`, body: { targetVersion, undelete: true } },
      action: 'version.rollback',
      entries: 1,
      revisions: 1,
      snapshots: 0,
      after: { ...(await this.values()), KEY: name },
    };
  }

  async #copy(name: string): Promise<Operation> {
    const source = secretCalls(this.#services, this.#source, this.#world.owner.caller);
    const copied = valuesOf([...ofA.slice(10), 'A_COPIED'], `${name} copied`);
    await source.patch({ ...copied, B_OTHER: name });
    const { project, environment } = this.#source.slugs;
    const kept = Object.entries(await this.values()).filter(([key]) => !key.startsWith('A_'));
    return {
      request: {
        path: `/environments/${this.#path}/copy`,
        body: { from: { project, environment }, mode: 'mirror', keys: { include: ['A_*'] } },
      },
      action: 'environment.copy',
      entries: 2,
      revisions: 1,
      snapshots: 0,
      after: { ...Object.fromEntries(kept), ...copied },
    };
  }

  /** Of the environment, its project or its organization in turn. */
  async #undelete(): Promise<Operation> {
    const after = await this.values();
    const token = await this.#world.serviceToken();
    const level = levels[(this.#undeletions += 1) % levels.length] ?? 'environment';
    await new TenantCalls(this.#services, this.#world).remove(level);
    const { organization, project, environment } = this.#world.slugs;
    const slugs = { organization: [organization], project: [organization, project] } as const;
    const path = level === 'environment' ? [organization, project, environment] : slugs[level];
    return {
      request: { path: `/${level}s/${path.join('/')}/undelete` },
      action: `${level}.undelete`,
      entries: 1,
      revisions: 0,
      snapshots: 0,
      after,
      token,
    };
  }

  #undeletions = 0;

  /** What the environment holds. */
  async values(): Promise<Values> {
    const { secrets } = await this.#calls.read();
    return Object.fromEntries(Object.entries(secrets).map(([key, [value]]) => [key, value]));
  }

  get #path(): string {
    const { organization, project, environment } = this.#world.slugs;
    return `${organization}/${project}/${environment}`;
  }
}

function valuesOf(keys: readonly string[], value: string): Record<string, string> {
  return Object.fromEntries(keys.map((key) => [key, value]));
}
