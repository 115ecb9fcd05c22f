import { expect, test } from '@jest/globals';
import { thingOf } from '../../../src/cli/commands/named-thing.ts';

const ci = { id: '5c0f6a5e-6f0b-4a0e-9d0e-0b8f7a1c2d3e', name: 'ci', createdAt: '2027-01-31T12:00:00Z' };
const about = { word: 'service token', place: 'of acme', listedBy: 'keyframe token list-service -o acme' };
const because = 'is revoked already';

test('latest is the newest one that the command can act on', () => {
  const older = { ...ci, id: '5c0f6a5e-6f0b-4a0e-9d0e-0b8f7a1c2d3f' };
  expect(thingOf('latest', { ...about, things: [ci, older] })).toBe(ci);
});

test('latest is an error that does not deny those that the command cannot act on', () => {
  const latest = (things: (typeof ci)[]) => (): unknown =>
    thingOf('latest', { ...about, things: [], excluded: { things, because } });
  expect(latest([ci])).toThrow('each service token of acme is revoked already');
  expect(latest([])).toThrow('there is no service token of acme');
});
