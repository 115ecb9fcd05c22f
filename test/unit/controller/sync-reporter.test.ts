import { beforeEach, describe, expect, test } from '@jest/globals';
import { SyncReporter } from '../../../src/controller/kinds/secret-sync/fleet/reporter.ts';
import { DomainError } from '../../../src/domain/errors/domain-error.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import type { SyncStateReport } from '../../../src/domain/fleet.ts';
import { stateReport } from '../../support/api/state-reports.ts';
import { FakeClock, settled } from './fake-clock.ts';
import { FakeSyncStates } from './fake-sync-states.ts';

let clock: FakeClock;
let states: FakeSyncStates;
let known: Set<string>;
let unlisted: Set<string>;
let ending: Set<string>;
let gone: Set<string>;
let logs: { level: string; msg: string }[];
let results: string[];
let hasName: boolean;
let reporter: SyncReporter;

beforeEach(async () => {
  clock = new FakeClock();
  states = new FakeSyncStates();
  [known, unlisted, ending, gone] = [new Set(), new Set(), new Set(), new Set()];
  [logs, results, hasName] = [[], [], true];
  reporter = new SyncReporter({
    states,
    hasName: () => Promise.resolve(hasName),
    knownUids: () => known,
    isListed: (namespace) => !unlisted.has(namespace),
    namespaces: { isEnding: (name) => ending.has(name), isGone: (name) => ending.has(name) || gone.has(name) },
    clock,
    logger: createLogger('debug', { write: (line: string) => void logs.push(JSON.parse(line)) }),
    metrics: { syncStatesReported: (result) => void results.push(result) },
  });
  await lead();
});

async function lead(): Promise<void> {
  reporter.startLeading();
  await clock.advance(0);
}

/** The calls since the last ones. */
function calls(): string[] {
  return states.calls.splice(0);
}

function report(uid: string, given: Partial<SyncStateReport> = {}): void {
  known.add(uid);
  reporter.report([stateReport({ uid, ...given })]);
}

const outage = new DomainError('store_unavailable', 'the database is away');

describe('a report', () => {
  beforeEach(() => void calls());

  test('is stored within a second, with the newest of each SecretSync and all of that second', async () => {
    report('a', { reason: 'Old' });
    await clock.advance(500);
    report('a', { reason: 'New' });
    report('b');
    expect(calls()).toEqual([]);
    await clock.advance(500);
    expect(calls()).toEqual(['report 2']);
    expect([...states.rows.values()].map(({ reason }) => reason)).toEqual(['New', 'Synced']);
  });

  test('that comes during a statement waits for the next one, a second later', async () => {
    const gate = Promise.withResolvers<void>();
    states.gate = gate.promise;
    report('a', { reason: 'Old' });
    await clock.advance(1000);
    report('a', { reason: 'New' });
    await clock.advance(10_000);
    expect(calls()).toEqual(['report 1']);
    gate.resolve();
    await settled();
    expect(states.rows.get('a ')?.reason).toBe('Old');
    await clock.advance(1000);
    expect(calls()).toEqual(['report 1']);
    expect(states.rows.get('a ')?.reason).toBe('New');
  });

  test('of very many SecretSyncs is stored in parts', async () => {
    for (let index = 0; index < 2500; index += 1) report(`uid-${index}`);
    await clock.advance(3000);
    expect(calls()).toEqual(['report 1000', 'report 1000', 'report 500']);
    expect(states.rows.size).toBe(2500);
  });

  test('of a SecretSync in a namespace that ends is dropped', async () => {
    ending.add('team-a');
    report('a');
    await clock.advance(1000);
    expect(calls()).toEqual([]);
  });

  test('that a deletion overtook is never stored, and the other way round it is', async () => {
    report('a');
    reporter.forget('a');
    reporter.forget('b');
    report('b');
    await clock.advance(1000);
    expect(calls()).toEqual(['report 1', 'forget 1']);
    expect([...states.rows.keys()]).toEqual(['b ']);
  });
});

describe('an outage of the database', () => {
  beforeEach(() => {
    calls();
    results.splice(0);
    states.fault = outage;
  });

  test('loses nothing, is logged once, and ends with the newest states', async () => {
    report('a', { reason: 'Old' });
    reporter.forget('b');
    await clock.advance(120_000);
    report('a', { reason: 'New' });
    expect(states.rows.size).toBe(0);
    states.fault = undefined;
    await clock.advance(31_000);
    expect(states.rows.get('a ')?.reason).toBe('New');
    expect(states.calls).toContain('forget 1');
    const sentences = logs.filter(({ level }) => level !== 'debug').map(({ msg }) => msg);
    expect(sentences).toEqual([
      expect.stringContaining('could not be reported'),
      expect.stringContaining('reported to the database again'),
    ]);
    expect(new Set(results)).toEqual(new Set(['failed', 'done']));
  });

  test('is retried ever less often, however much is reported', async () => {
    for (let second = 0; second < 600; second += 1) {
      report('a', { reason: `Reason${second}` });
      await clock.advance(1000);
    }
    // From 1 s, doubled up to 30 s; half of it is random.
    expect(calls().length).toBeLessThan(50);
  });

  test('does not count as seen', async () => {
    report('a');
    await clock.advance(300_000);
    expect(calls()).not.toContain('seen');
  });

  test('keeps no report that another form refuses for good', async () => {
    states.fault = new DomainError('invalid_input', 'reports.0.name: must be a name');
    report('bad');
    await clock.advance(1000);
    states.fault = undefined;
    report('good');
    await clock.advance(2000);
    expect([...states.rows.keys()]).toEqual(['good ']);
  });

  test('after it, a report that the database refuses for good is dropped, and the others are stored', async () => {
    states.fault = new Error('invalid input syntax');
    report('bad');
    await clock.advance(1000);
    states.fault = undefined;
    report('good');
    await clock.advance(2000);
    expect([...states.rows.keys()]).toEqual(['good ']);
  });
});

describe('a limit of what a cluster may report', () => {
  beforeEach(() => {
    calls();
    results.splice(0);
  });

  async function reportAll(...uids: readonly string[]): Promise<void> {
    for (const uid of uids) report(uid, { reason: `Reason${clock.now()}` });
    await clock.advance(1000);
  }

  const warnings = (): object[] => logs.filter(({ level }) => level === 'warn');

  test('is logged and counted, and the other reports are stored', async () => {
    states.refused.add('full');
    await reportAll('full', 'fits');
    expect([...states.rows.keys()]).toEqual(['fits ']);
    expect(warnings()).toMatchObject([
      { code: 'quota_exceeded', secretSyncs: 1, msg: expect.stringContaining('at most 5. Delete some') },
    ]);
    expect(results).toEqual(['refused', 'done']);
    expect(calls()).toEqual(['report 2']);
  });

  test('is logged once while it lasts', async () => {
    states.refused.add('full').add('late');
    for (const uids of [['full'], ['full', 'late'], ['late'], ['fits']]) await reportAll(...uids);
    expect(warnings()).toHaveLength(1);
    expect(results.filter((result) => result === 'refused')).toHaveLength(3);
  });

  test('is logged again after all were stored, or are gone', async () => {
    states.refused.add('full').add('gone');
    await reportAll('full', 'gone');
    states.refused.delete('full');
    reporter.forget('gone');
    await reportAll('full');
    states.refused.add('other');
    await reportAll('other');
    expect(warnings()).toHaveLength(2);
  });
});

describe('the time at which all was reported', () => {
  test('is recorded at once, and once a minute, without anything else at rest', async () => {
    expect(calls()).toEqual(['reported', 'seen']);
    await clock.advance(59_999);
    expect(calls()).toEqual([]);
    await clock.advance(1);
    expect(calls()).toEqual(['seen']);
    await clock.advance(600_000);
    expect(calls()).toEqual(Array.from({ length: 10 }, () => 'seen'));
    expect(clock.pending).toHaveLength(1);
  });

  test('is not recorded before all that waits is stored', async () => {
    await clock.advance(59_500);
    calls();
    for (let index = 0; index < 2500; index += 1) report(`uid-${index}`);
    await clock.advance(5000);
    expect(calls()).toEqual(['report 1000', 'report 1000', 'report 500', 'seen']);
  });

  test('is recorded after the reports of that time, also if there are reports all the time', async () => {
    calls();
    for (let second = 0; second < 65; second += 1) {
      report('a', { reason: `Reason${second}` });
      await clock.advance(1000);
    }
    const all = calls();
    expect(all.filter((call) => call === 'seen')).toHaveLength(1);
    expect(all[all.indexOf('seen') - 1]).toBe('report 1');
  });
});

describe('a new leader', () => {
  test('drops the rows of SecretSyncs that do not exist, and only these', async () => {
    for (const uid of ['kept', 'deleted']) await states.report([stateReport({ uid })]);
    await states.report([stateReport({ uid: 'unlisted', namespace: 'unlisted' })]);
    await states.report([stateReport({ uid: 'ended', namespace: 'ended' })]);
    known.add('kept');
    for (const namespace of ['unlisted', 'ended']) unlisted.add(namespace);
    gone.add('ended');
    reporter.stopLeading();
    await lead();
    expect([...states.rows.values()].map(({ uid }) => uid)).toEqual(['kept', 'unlisted']);
  });

  test('looks at all pages of what is stored', async () => {
    const uids = ['a', 'b', 'c', 'd', 'e'];
    for (const uid of uids) await states.report([stateReport({ uid })]);
    states.pageSize = 2;
    known.add('e');
    reporter.stopLeading();
    await lead();
    expect([...states.rows.values()].map(({ uid }) => uid)).toEqual(['e']);
  });

  test('drops nothing while another cluster has its name, and does so afterwards', async () => {
    await states.report([stateReport({ uid: 'of-the-other' })]);
    reporter.stopLeading();
    hasName = false;
    await lead();
    await clock.advance(5000);
    expect(states.rows.size).toBe(1);
    hasName = true;
    await clock.advance(1000);
    expect(states.rows.size).toBe(0);
  });

  test('does not report what was left from an earlier term, and a standby reports nothing', async () => {
    calls();
    report('a');
    reporter.forget('b');
    reporter.stopLeading();
    report('c');
    reporter.forget('d');
    reporter.sweep();
    await clock.advance(600_000);
    expect(calls()).toEqual([]);
    await lead();
    expect(calls()).toEqual(['reported', 'seen']);
    await clock.advance(2000);
    expect(calls()).toEqual([]);
  });

  test('sweeps again when it is asked to', async () => {
    calls();
    await states.report([stateReport({ uid: 'deleted' })]);
    reporter.sweep();
    await clock.advance(1000);
    expect(states.rows.size).toBe(0);
  });
});

test('so many deletions that they are not kept end in a sweep', async () => {
  await states.report([stateReport({ uid: 'last' })]);
  calls();
  for (let index = 0; index < 10_000; index += 1) reporter.forget(`uid-${index}`);
  reporter.forget('last');
  await clock.advance(1000);
  expect(calls()).toEqual(['forget 10000', 'reported', 'forget 1']);
  expect(states.rows.size).toBe(0);
});

test('the end waits for the statement in progress, and not for ever', async () => {
  const gate = Promise.withResolvers<void>();
  states.gate = gate.promise;
  report('a');
  await clock.advance(1000);
  let ended = 0;
  const end = reporter.drain(2000).then(() => (ended += 1));
  await clock.advance(1999);
  expect(ended).toBe(0);
  await clock.advance(1);
  await end;
  gate.resolve();
  await settled();
  await clock.advance(60_000);
  expect(calls().at(-1)).toBe('report 1');
});
