import { afterEach, expect, test } from '@jest/globals';
import { secrets, syncs } from './controller-harness.ts';
import { PinHarness, first, second, third } from './pin-harness.ts';

let standby: PinHarness;

afterEach(() => standby.controller.stop());

test('a Secret that is deleted after its SecretSync is not made again', async () => {
  standby = new PinHarness();
  await standby.synced();
  // Two watches report the two: the one of Secrets comes first here.
  standby.cluster.before(/^GET .*[/]secrets[/]token$/, () => standby.cluster.remove(`${syncs}/app`));
  standby.cluster.remove(`${secrets}/app`);
  await standby.calls();
  await standby.clock.advance(60_000);
  expect(standby.values()).toBeUndefined();
});

test('a Secret that is deleted by itself is made again', async () => {
  standby = new PinHarness();
  await standby.synced();
  standby.cluster.remove(`${secrets}/app`);
  await standby.calls();
  expect(standby.values()).toEqual(first);
});

/**
 * A controller that takes the lead over while its watches are behind: the one before has moved ns/app from revision 2 to
 * revision 3. Answers what brings the watches up to date.
 */
async function takenOver(): Promise<() => void> {
  const before = new PinHarness();
  await before.syncedWith({ revision: 2 });
  standby = new PinHarness(before);
  standby.lease.isTaken = true;
  await standby.start();
  await before.controller.stop();
  const release = standby.cluster.holdWatches();
  standby.putSync({ spec: { revision: 3 } });
  standby.edit((secret) => {
    const annotations = { ...secret.metadata.annotations, 'keyframe.dev/source': 'acme/web/prod@env#revision/3' };
    secret.metadata = { ...secret.metadata, annotations };
    secret['data'] = Object.fromEntries(Object.entries(third).map(([key, value]) => [key, btoa(value)]));
  });
  standby.cluster.takeCalls();
  standby.lease.isTaken = false;
  await standby.clock.advance(20_000);
  return release;
}

test('a controller that does not see yet where a pin was moved does not move the Secret back', async () => {
  const release = await takenOver();
  const calls = await standby.calls();
  expect(calls).toContain(`GET ${secrets}/app`);
  expect(calls.filter((call) => !call.startsWith('GET'))).toEqual([]);
  expect(standby.values()).toEqual(third);
  release();
  await standby.clock.advance(20_000);
  expect(standby.values()).toEqual(third);
  expect(await standby.calls()).not.toContain(`PUT ${secrets}/app`);
  expect(standby.ready()?.message).toContain('holds revision 3 with 1 key, pinned to that revision');
});

test('a Secret whose record was changed by hand is put right, once the spec is known to be the newest', async () => {
  const release = await takenOver();
  release();
  await standby.clock.advance(20_000);
  await standby.calls();
  standby.edit((secret) => {
    const annotations = { ...secret.metadata.annotations, 'keyframe.dev/source': 'acme/web/prod@env#revision/2' };
    secret.metadata = { ...secret.metadata, annotations };
    secret['data'] = Object.fromEntries(Object.entries(second).map(([key, value]) => [key, btoa(value)]));
  });
  expect(await standby.calls()).toContain(`PUT ${secrets}/app`);
  expect(standby.values()).toEqual(third);
  expect(standby.cluster.get(`${syncs}/app`)).toMatchObject({ status: { syncedRevision: 3 } });
});
