import { randomUUID } from 'node:crypto';
import type { GrantRule } from '../../../src/domain/grants.ts';
import { refOf } from '../../../src/domain/secret-states.ts';
import type { SyncReader } from '../../../src/services/access/cluster-access.ts';
import type { KeylessEntry } from '../../../src/services/access/keyless.ts';
import type { TestServices, World } from './services.ts';
import { ruleFor } from './token-resource.ts';

export interface SyncReaderOptions {
  readonly cluster?: string;
  readonly namespace?: string;
  readonly source?: string;
}

/** A source of the SecretSync `app` of a namespace, which reads a world's environment as the controller has it read. */
export class TestSyncReader {
  readonly #services: TestServices;
  readonly #world: World;
  readonly reader: SyncReader;
  /** What its namespace is granted now: reading the environment, until a test changes it. */
  grants: readonly GrantRule[];

  constructor(services: TestServices, world: World, options: SyncReaderOptions = {}) {
    const { cluster = 'test', namespace = 'team-a', source } = options;
    this.#services = services;
    this.#world = world;
    this.grants = [ruleFor(world, { permission: 'read', kinds: ['SecretSync'] })];
    const grantsNow = (): readonly GrantRule[] => this.grants;
    this.reader = {
      cluster,
      sourceAddress: null,
      namespace,
      name: 'app',
      uid: randomUUID(),
      source,
      get grants() {
        return grantsNow();
      },
      ownGrant: undefined,
      requestId: randomUUID(),
    };
  }

  async enter(): Promise<KeylessEntry> {
    const admission = await this.#services.keyless.admit(this.reader, this.#world.slugs);
    return await admission.enter();
  }

  /** Reads all values as a reconcile does. */
  async read(): Promise<Readonly<Record<string, string>>> {
    const { access } = await this.enter();
    const found = await this.#services.secretReader.find(access, { maxKeys: 1_000 });
    if (!('environmentId' in found)) throw new Error('the environment has more keys than a test writes');
    const keys = found.secrets.map(({ key }) => key);
    const values = await this.#services.secretReader.read(access, refOf(found), keys);
    return Object.fromEntries([...values].map(([key, value]) => [key, value.reveal()]));
  }

  /** The values, or the code of the error that was thrown instead. */
  async outcome(): Promise<Readonly<Record<string, string>> | string> {
    return await this.read().catch((error: unknown) => codeOf(error));
  }
}

/** The code of a DomainError. */
export function codeOf(error: unknown): string {
  if (typeof error === 'object' && error !== null && 'code' in error) return String(error.code);
  throw error;
}
