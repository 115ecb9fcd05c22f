import { expect, test } from '@jest/globals';
import { checkHello, type PortProgram, protocolRefusal } from '../../../src/domain/clusters.ts';

const program = (min: number, max: number, release = '1.2.3'): PortProgram => ({ release, protocol: { min, max } });
const server = program(3, 5, '1.5.0');

test.each([
  [3, 5],
  [1, 3],
  [5, 9],
  [4, 4],
  [1, 9],
])('a controller that knows %i to %i is served', (min, max) => {
  expect(protocolRefusal(program(min, max), server)).toBeUndefined();
});

test.each([
  [1, 2, 'the protocol numbers 1 to 2, and the server (release 1.5.0) 3 to 5; upgrade the controller'],
  [6, 6, 'the protocol numbers 6, and the server (release 1.5.0) 3 to 5; upgrade the server'],
])('a controller that knows %i to %i is refused with what to upgrade', (min, max, text) => {
  const refusal = protocolRefusal(program(min, max), server);
  expect(refusal?.code).toBe('protocol_unsupported');
  expect(refusal?.detail).toContain(text);
  expect(refusal?.detail).toContain('1.2.3');
});

const hello = { uid: 'uid', isLeading: true, kinds: ['SecretSync'], ...program(1, 2) };

test.each(['0.9.0', '1.0.0-dev', '1.0.0-rc.1+build'])('release %s is one', (release) => {
  expect(() => checkHello({ ...hello, release })).not.toThrow();
});

test.each([
  ['release', { release: '' }],
  ['release', { release: '1.0\u001B[2J' }],
  ['release', { release: 'r'.repeat(65) }],
  ['protocol', { protocol: { min: 0, max: 1 } }],
  ['protocol', { protocol: { min: 2, max: 1 } }],
  ['protocol', { protocol: { min: 1, max: 1.5 } }],
  ['protocol', { protocol: { min: 1, max: 2 ** 31 } }],
  ['kinds', { kinds: ['not a kind'] }],
  ['kinds', { kinds: Array.from({ length: 51 }, () => 'SecretSync') }],
])('a hello with a wrong %s is refused: %j', (field, part) => {
  const check = (): void => checkHello({ ...hello, ...part });
  expect(check).toThrow(
    expect.objectContaining({ code: 'invalid_input', fields: [expect.objectContaining({ field })] }),
  );
});
