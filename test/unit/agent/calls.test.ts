import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { TokenRefusal } from '../../../src/agent/answer-errors.ts';
import { Calls } from '../../../src/agent/calls.ts';
import { DomainError } from '../../../src/domain/errors/domain-error.ts';

/** What the server answers to each request. */
let answer: () => unknown;
let calls: Calls;

beforeEach(() => {
  calls = new Calls({ post: () => Promise.resolve().then(() => answer() as Readonly<Record<string, unknown>>) });
});

const refuse = (): never => {
  throw new TokenRefusal('the home token is unknown');
};
const seen = { result: null };
const greeted = { result: { state: 'enabled', isHome: true, now: new Date(0).toISOString() } };

async function codeOf(call: Promise<unknown>): Promise<string> {
  return await call.then(
    () => 'answered',
    (error: unknown) => (error as DomainError).code,
  );
}

const hello = async (): Promise<string> =>
  await codeOf(
    calls.call('hello', {
      uid: randomUUID(),
      isLeading: true,
      kinds: [],
      release: '1.0.0',
      protocol: { min: 1, max: 1 },
      issuer: undefined,
    }),
  );
const ask = async (): Promise<string> => await codeOf(calls.call('sync-states/seen', {}));

describe('a token that the server does not accept', () => {
  test('is an outage for a request', async () => {
    answer = refuse;
    expect(await ask()).toBe('store_unavailable');
  });

  test('is refused for a hello', async () => {
    answer = refuse;
    expect(await hello()).toBe('cluster_unknown');
  });

  test('is refused for each request after a hello was refused', async () => {
    answer = refuse;
    await hello();
    expect(await ask()).toBe('cluster_unknown');
  });

  test('stays refused while the server is away', async () => {
    answer = refuse;
    await hello();
    answer = () => {
      throw new DomainError('store_unavailable', 'away');
    };
    expect(await hello()).toBe('store_unavailable');
    answer = refuse;
    expect(await ask()).toBe('cluster_unknown');
  });

  test('is an outage again after a hello was answered', async () => {
    answer = refuse;
    await hello();
    answer = () => greeted;
    expect(await hello()).toBe('answered');
    answer = refuse;
    expect(await ask()).toBe('store_unavailable');
  });

  test('says in the outage what the server says', async () => {
    answer = refuse;
    await expect(calls.call('sync-states/seen', {})).rejects.toMatchObject({
      detail:
        'the server of Keyframe does not accept the token of this cluster at the moment: the home token is unknown',
    });
  });
});

test('an error of the services passes, although it has the code of a refused token', async () => {
  answer = () => ({ error: { code: 'cluster_unknown', detail: 'another uid' } });
  expect(await ask()).toBe('cluster_unknown');
  answer = () => seen;
  expect(await ask()).toBe('answered');
});
