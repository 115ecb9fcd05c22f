import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { waitFor } from '../../support/fixtures/wait-for.ts';
import { ReflectorRig } from './reflector-rig.ts';
import { type Answer, endingWatch, list, object, resetWatch, status, watch } from './scripted-api.ts';

let rig: ReflectorRig;

beforeEach(async () => {
  rig = await ReflectorRig.open();
});

afterEach(() => rig.close());

async function expectHeard(...expected: string[]): Promise<void> {
  await waitFor(`the handler to hear ${expected.join(' ')}`, () => rig.heard.length >= expected.length);
  expect(rig.heard).toEqual(expected);
}

describe('a fault', () => {
  test('410 on the watch leads to a list at once, which reports only what differs', async () => {
    rig.api.onList(
      list('7', [object('a', '1'), object('b', '2'), object('gone', '3')]),
      list('20', [object('a', '1'), object('b', '15'), object('c', '16')]),
    );
    rig.api.onWatch(status(410, 'Expired'), watch());
    rig.start();
    await expectHeard('+a@1', '+b@2', '+gone@3', '-gone@3/uid-gone', '+b@15', '+c@16');
    await waitFor('the second watch', () => rig.api.watches[1]);
    expect(rig.api.watches[1]?.query.get('resourceVersion')).toBe('20');
    expect(rig.failures).toEqual(['expired']);
  });

  test('410 as an ERROR event does the same', async () => {
    rig.api.onList(list('7', [object('a', '1')]), list('20', [object('a', '15')]));
    rig.api.onWatch(watch(['ERROR', { kind: 'Status', code: 410, reason: 'Expired' }]), watch());
    rig.start();
    await expectHeard('+a@1', '+a@15');
    expect(rig.failures).toEqual(['expired']);
  });

  test('an object that was deleted and made again in a gap is reported as both', async () => {
    rig.api.onList(list('7', [object('a', '1')]), list('20', [object('a', '15', { uid: 'another' })]));
    rig.api.onWatch(status(410, 'Expired'), watch());
    rig.start();
    await expectHeard('+a@1', '-a@1/uid-a', '+a@15');
  });

  test('an ERROR event of another status leads to a list after a pause', async () => {
    rig.api.onList(list('7', [object('a', '1')]), list('20', [object('a', '15')]));
    rig.api.onWatch(watch(['ERROR', { kind: 'Status', code: 500 }]), watch());
    rig.start();
    await expectHeard('+a@1', '+a@15');
    expect(rig.failures).toEqual(['broken']);
  });

  test('429 is waited out for as long as the server asks', async () => {
    rig.api.onList(list('7', []));
    rig.api.onWatch(
      status(429, 'TooManyRequests', { headers: { 'retry-after': '1' } }),
      watch(['ADDED', object('a', '8')]),
    );
    const beganAt = Date.now();
    rig.start();
    await expectHeard('+a@8');
    expect(Date.now() - beganAt).toBeGreaterThanOrEqual(990);
    expect(rig.failures).toEqual(['throttled']);
    expect(rig.api.lists).toHaveLength(1);
  });

  test('5xx on the watch is tried again from the same version, without a list', async () => {
    rig.api.onList(list('7', []));
    rig.api.onWatch(
      status(503, 'ServiceUnavailable'),
      status(500, 'InternalError'),
      watch(['ADDED', object('a', '8')]),
    );
    rig.start();
    await expectHeard('+a@8');
    expect(rig.failures).toEqual(['unreachable', 'unreachable']);
    expect(rig.api.lists).toHaveLength(1);
    expect(rig.api.watches.map(({ query }) => query.get('resourceVersion'))).toEqual(['7', '7', '7']);
  });

  test('of the server that goes on leads to a list now and then, for the version may never come', async () => {
    rig.api.onList(list('7', [object('a', '1')]), list('3', [object('a', '2')]));
    const down = status(504, 'Timeout');
    rig.api.onWatch(down, down, down, down, watch());
    rig.start();
    await expectHeard('+a@1', '+a@2');
    await waitFor('the watch after the list', () => rig.api.watches[4]);
    expect(rig.api.watches.map(({ query }) => query.get('resourceVersion'))).toEqual(['7', '7', '7', '7', '3']);
  });

  test('5xx on the list is tried again, and deletes nothing', async () => {
    rig.api.onList(
      list('7', [object('a', '1')]),
      status(500, 'InternalError'),
      status(403, 'Forbidden'),
      list('9', [object('a', '1')]),
    );
    rig.api.onWatch(status(410, 'Expired'), watch(['ADDED', object('b', '10')]));
    rig.start();
    await expectHeard('+a@1', '+b@10');
    expect(rig.failures).toEqual(['expired', 'unreachable', 'refused']);
  });

  test('a reset in the middle of an event is gone on from the last whole one', async () => {
    rig.api.onList(list('7', []));
    rig.api.onWatch(resetWatch(['ADDED', object('a', '8')]), watch(['ADDED', object('b', '9')]));
    rig.start();
    await expectHeard('+a@8', '+b@9');
    expect(rig.api.watches[1]?.query.get('resourceVersion')).toBe('8');
    expect(rig.api.lists).toHaveLength(1);
    expect(rig.failures).toEqual(['unreachable']);
  });

  test('resets that come between events are no row of failures, and lead to no list', async () => {
    rig.api.onList(list('7', []));
    const versions = ['8', '9', '10', '11', '12'];
    rig.api.onWatch(...versions.map((version) => resetWatch(['ADDED', object(`o${version}`, version)])), watch());
    rig.start();
    await expectHeard(...versions.map((version) => `+o${version}@${version}`));
    await waitFor('the last watch', () => rig.api.watches[5]);
    expect(rig.api.lists).toHaveLength(1);
  });

  test('a silent watch is started again', async () => {
    rig.api.onList(list('7', []));
    rig.api.onWatch(watch(['ADDED', object('a', '8')]), watch(['ADDED', object('b', '9')]));
    rig.start({ limits: { silenceMs: 2_000 } });
    await expectHeard('+a@8', '+b@9');
    expect(rig.failures[0]).toBe('silent');
    expect(rig.api.watches[1]?.query.get('resourceVersion')).toBe('8');
  });

  test('a server that accepts the watch and says nothing at all is left as well', async () => {
    rig.api.onList(list('7', []));
    rig.api.onWatch(() => {}, watch(['ADDED', object('a', '8')]));
    rig.start({ limits: { silenceMs: 2_000 } });
    await expectHeard('+a@8');
    expect(rig.failures[0]).toBe('silent');
  });

  test('bookmarks alone keep a watch alive', async () => {
    rig.api.onList(list('7', []));
    const bookmarks: Answer = (response) => {
      let version = 8;
      const timer = setInterval(() => {
        response.write(
          `${JSON.stringify({ type: 'BOOKMARK', object: { metadata: { resourceVersion: String(version++) } } })}\n`,
        );
      }, 40);
      response.on('close', () => clearInterval(timer));
    };
    rig.api.onWatch(bookmarks);
    // Longer than the process stands still.
    rig.start({ limits: { silenceMs: 5_000 } });
    await waitFor('the watch', () => rig.api.watches[0]);
    await new Promise((resolve) => setTimeout(resolve, 7_000));
    expect(rig.failures).toEqual([]);
    expect(rig.api.watches).toHaveLength(1);
  });

  test('watches that all end at once are begun with growing pauses', async () => {
    rig.api.onList(list('7', []));
    rig.api.onWatch(endingWatch());
    rig.start({ limits: { backoffInitialMs: 50, backoffMaxMs: 10_000 } });
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(rig.api.watches.length).toBeLessThan(8);
    await waitFor('the second watch', () => rig.api.watches[1]);
  });

  test('a line that is no event leads to a list', async () => {
    rig.api.onList(list('7', [object('a', '1')]), list('20', [object('a', '15')]));
    const babble: Answer = (response) => void response.write('a secret value\n');
    rig.api.onWatch(babble, watch());
    rig.start();
    await expectHeard('+a@1', '+a@15');
    expect(rig.failures).toEqual(['broken']);
    expect(JSON.stringify(rig.logged)).not.toContain('a secret value');
  });

  test('a resource that does not exist yet is waited for, and the fault says so meanwhile', async () => {
    const missing = status(404, 'NotFound');
    rig.api.onList(missing, missing, missing, list('7', [object('a', '1')]));
    rig.api.onWatch(watch());
    await rig.start().synced;
    expect(rig.atFailure).toHaveLength(3);
    for (const seen of rig.atFailure) expect(seen).toMatchObject({ isSynced: false, error: { status: 404 } });
    expect(rig.reflector.error).toBeUndefined();
    expect(rig.failures).toEqual(['missing', 'missing', 'missing']);
    // The caller that knows what is missing says so; here it is no warning.
    expect(rig.logged.filter(({ level }) => level === 'warn')).toEqual([]);
  });

  test('that lasts is warned of once', async () => {
    const down = status(500, 'InternalError');
    rig.api.onList(down, down, down, down, list('7', []));
    rig.api.onWatch(watch());
    await rig.start().synced;
    expect(rig.logged.filter(({ level }) => level === 'warn')).toHaveLength(1);
  });
});
