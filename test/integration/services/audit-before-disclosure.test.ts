import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Caller } from '../../../src/domain/principal.ts';
import { type SecretCalls, secretCalls } from '../../support/api/secret-calls.ts';
import { type SnapshotCalls, snapshotCalls } from '../../support/api/snapshot-calls.ts';
import type { TestServices, World } from '../../support/api/services.ts';
import { withWorlds } from '../../support/api/with-services.ts';

let services: TestServices;
let world: World;
let calls: SecretCalls;
let snapshots: SnapshotCalls;

withWorlds((given) => ({ services, world, calls, snapshots } = given));

beforeEach(async () => {
  await calls.put('KEY', 'canary');
});

/** Runs `work` while no audit entry can be written. */
async function withoutAudit<T>(work: () => Promise<T>): Promise<T> {
  const { pool } = services.database;
  await pool.query('ALTER TABLE audit_entry RENAME TO audit_gone');
  try {
    return await work();
  } finally {
    await pool.query('ALTER TABLE audit_gone RENAME TO audit_entry');
  }
}

type Read = (caller: Caller) => Promise<unknown>;

const reads: [string, Read][] = [
  ['of all values', (caller) => secretCalls(services, world, caller).read()],
  ['of one value', (caller) => secretCalls(services, world, caller).readOne('KEY')],
  [
    'of a past value',
    async (caller) => services.versions.get(await world.onEnvironment(caller, 'version.read'), 'KEY', 1),
  ],
  [
    'of values at a revision',
    async (caller) => services.secrets.list(await world.onEnvironment(caller, 'secret.list'), { revision: 1 }),
  ],
  ['of the history', (caller) => secretCalls(services, world, caller).history('KEY')],
];

describe('a read whose audit entry cannot be written discloses nothing', () => {
  test.each(reads)('%s', async (_name, read) => {
    const { caller: machine } = await world.serviceToken();
    for (const caller of [world.viewer.caller, machine]) {
      await expect(read(caller)).resolves.toBeDefined();
      await withoutAudit(() => expect(read(caller)).rejects.toThrow());
      await expect(read(caller)).resolves.toBeDefined();
    }
  });

  test('of names alone, by a service token', async () => {
    const { caller } = await world.serviceToken();
    const { id } = await snapshots.create();
    const ofMachine = snapshotCalls(services, world, caller);
    for (const read of [() => ofMachine.list(), () => ofMachine.get(id), () => ofMachine.diff(id)]) {
      await expect(read()).resolves.toBeDefined();
      await withoutAudit(() => expect(read()).rejects.toThrow());
    }
  });
});

test('a change whose audit entry cannot be written is not made', async () => {
  await withoutAudit(() => expect(calls.put('KEY', 'changed')).rejects.toThrow());
  expect(await calls.readOne('KEY')).toBe('canary');
});
