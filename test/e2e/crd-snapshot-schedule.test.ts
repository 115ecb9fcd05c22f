/** @default The API server fills in the defaults of a SnapshotSchedule, refuses what is wrong, and keeps its immutable fields. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createNamespace, discardNamespace } from '../support/cluster/cluster.ts';
import { ResourceTrial, expectRefused } from '../support/cluster/resource-trial.ts';

let namespace: string;
let trial: ResourceTrial;

beforeAll(async () => {
  namespace = await createNamespace();
  trial = new ResourceTrial({ kind: 'SnapshotSchedule', plural: 'snapshotschedules', namespace });
});

afterAll(() => discardNamespace(namespace));

const environmentRef = { organization: 'acme', project: 'web', name: 'prod' };
const template = { spec: { source: { environmentRef } } };
const spec = { schedule: '0 2 * * *', template };

test('a SnapshotSchedule that says as little as it may gets every default', async () => {
  expect(await trial.accepted(spec)).toEqual({
    schedule: '0 2 * * *',
    timeZone: 'UTC',
    suspend: false,
    skipUnchanged: false,
    template: { spec: { source: { environmentRef }, deletionPolicy: 'Delete' } },
  });
});

test('SnapshotSchedules are found by their short name and category', async () => {
  expect(await trial.appearance()).toEqual({
    shortNames: ['kschedule'],
    categories: ['keyframe'],
    namespaced: true,
  });
});

test.each(['@hourly', '@daily', '*/15 * * * *', '0 2 L * *', '30 2,14 1-7 JAN-MAR mon,fri'])(
  'the schedule %j may be asked for',
  async (schedule) => {
    expect(await trial.accepted({ ...spec, schedule })).toMatchObject({ schedule });
  },
);

const keepSomething = 'set at least one number to keep';
const fiveFields = 'must be five fields with spaces between them';
const ours = 'under keyframe.dev/ are reserved for the controller';
const withMetadata = (metadata: object): object => ({ ...spec, template: { ...template, metadata } });

const refusals: readonly [what: string, spec: object, ...message: string[]][] = [
  ['no schedule', { template }, 'spec.schedule: Required value'],
  ['no template', { schedule: '@daily' }, 'spec.template: Required value'],
  ['six fields', { ...spec, schedule: '0 0 2 * * *' }, 'spec.schedule', fiveFields],
  ['a zone in the schedule', { ...spec, schedule: 'TZ=UTC 0 2 * * *' }, 'spec.schedule', 'stands in spec.timeZone'],
  ['a name for another interval', { ...spec, schedule: '@reboot' }, 'spec.schedule', fiveFields],
  ['a time zone by its offset', { ...spec, timeZone: '+01:00' }, 'spec.timeZone', 'must be an IANA time zone'],
  ['an empty time zone', { ...spec, timeZone: '' }, 'spec.timeZone', 'must be an IANA time zone'],
  ['a deadline too short', { ...spec, startingDeadlineSeconds: 9 }, 'greater than or equal to 10'],
  ['half an environment', { ...spec, template: { spec: { source: { environmentRef: {} } } } }, 'Required value'],
  ['a snapshot to adopt', { ...spec, template: { spec: { source: { snapshotId: 'x' } } } }, 'Required value'],
  ['another way to delete', { ...spec, template: { spec: { ...template.spec, deletionPolicy: 'Keep' } } }, 'Retain'],
  ['a retention that keeps nothing', { ...spec, retention: {} }, keepSomething],
  ['none to keep', { ...spec, retention: { keepLast: 0 } }, 'greater than or equal to 1'],
  ['too many to keep', { ...spec, retention: { keepDaily: 10_001 } }, 'less than or equal to 10000'],
  ['a label of Keyframe', withMetadata({ labels: { 'keyframe.dev/schedule': 'other' } }), ours],
  ['an annotation of Keyframe', withMetadata({ annotations: { 'keyframe.dev/schedule-proof': 'x' } }), ours],
];

describe('a SnapshotSchedule is refused with a sentence about', () => {
  test.each(refusals)('%s', async (_, wanted, ...message) => await trial.refused(wanted, ...message));

  test('a name that no label can have', async () => {
    expectRefused(await trial.offer(spec, 'x'.repeat(64)), 'has at most 63 characters');
  });
});

test('the environment of a SnapshotSchedule never changes; when, and what is kept, may', async () => {
  const name = await trial.made({ ...spec, suspend: true });
  const other = { environmentRef: { ...environmentRef, name: 'other' } };
  expectRefused(await trial.change(name, { template: { spec: { source: other } } }), 'is immutable');
  const change = { schedule: '@hourly', timeZone: 'Europe/Berlin', retention: { keepLast: 3 } };
  expect(await trial.change(name, change)).toMatchObject({ status: 200 });
});
