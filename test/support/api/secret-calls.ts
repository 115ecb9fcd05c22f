import { Plaintext } from '../../../src/domain/plaintext.ts';
import type { Caller } from '../../../src/domain/principal.ts';
import type { PatchAnswer, PutAnswer } from '../../../src/services/secrets/secret-write-answers.ts';
import type { PatchInput, PutInput } from '../../../src/services/secrets/secrets.ts';
import type { RollbackAnswer, RollbackInput, VersionRecord } from '../../../src/services/secrets/versions.ts';
import type { TestServices, World } from './services.ts';

/** An environment as it was read: its revision, and each key's value and version. */
export interface ReadEnvironment {
  readonly revision: number;
  readonly revisionId: string;
  readonly secrets: Readonly<Record<string, readonly [value: string, version: number]>>;
}

/** Calls on a world's environment, each authorised for itself as by an edge, with values as plain text. */
export interface SecretCalls {
  put(key: string, value: string, rest?: Omit<PutInput, 'value'>): Promise<PutAnswer>;
  patch(
    set: Readonly<Record<string, string>>,
    deleted?: readonly string[],
    rest?: Omit<PatchInput, 'set' | 'delete'>,
  ): Promise<PatchAnswer>;
  remove(key: string): Promise<{ readonly revision: number; readonly revisionId: string }>;
  rollback(key: string, input: RollbackInput): Promise<RollbackAnswer>;
  read(): Promise<ReadEnvironment>;
  readOne(key: string): Promise<string>;
  history(key: string): Promise<readonly VersionRecord[]>;
}

export function secretCalls({ secrets, versions }: TestServices, world: World, caller: Caller): SecretCalls {
  return {
    async put(key, value, rest = {}) {
      const access = await world.onEnvironment(caller, 'secret.write');
      return secrets.put(access, key, { value: new Plaintext(value), ...rest });
    },
    async patch(set, deleted = [], rest = {}) {
      const access = await world.onEnvironment(caller, 'secret.write');
      const values = new Map(Object.entries(set).map(([key, value]) => [key, new Plaintext(value)]));
      return secrets.patch(access, { set: values, delete: deleted, ...rest });
    },
    async remove(key) {
      return secrets.delete(await world.onEnvironment(caller, 'secret.delete'), key);
    },
    async rollback(key, input) {
      return versions.rollback(await world.onEnvironment(caller, 'version.rollback'), key, input);
    },
    async read() {
      const list = await secrets.list(await world.onEnvironment(caller, 'secret.list'));
      const entries = list.secrets.map(({ key, value, version }) => [key, [value.reveal(), version] as const]);
      return { revision: list.revision, revisionId: list.revisionId, secrets: Object.fromEntries(entries) };
    },
    async readOne(key) {
      return (await secrets.get(await world.onEnvironment(caller, 'secret.read'), key)).value.reveal();
    },
    async history(key) {
      return (await versions.list(await world.onEnvironment(caller, 'version.list'), key)).versions;
    },
  };
}
