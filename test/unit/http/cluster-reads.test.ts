import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { DomainError } from '../../../src/domain/errors/domain-error.ts';
import type { SourcesAnswer, SourcesQuestion } from '../../../src/domain/source-reads.ts';
import { keysToRead, readItems, valuesToRead } from '../../../src/http/cluster/reads.ts';
import { ReadsRoom } from '../../../src/http/cluster/reads-room.ts';
import type { AnswerRoom } from '../../../src/services/cluster/sources.ts';
import type { ReadItem, ReadsQuestion } from '../../../src/wire/cluster/reads.ts';

/** Reads of many SecretSyncs in one request, as the server carries them out. */

function itemOf(name: string, { maxKeys = 10, namespace = 'ns' } = {}): ReadItem {
  const slugs = { organization: 'acme', project: 'web', environment: 'prod' };
  const source = { name: undefined, slugs, credential: 'keyless', state: 'newest', recordedId: undefined } as const;
  return { asker: { namespace, name, uid: name, requestId: name }, sources: [source], maxKeys };
}

function answerOf(keys: number): SourcesAnswer {
  const secrets = Array.from({ length: keys }, (_, index) => ({ key: `K${index}`, bytes: 1 }));
  const state = { environmentId: 'e', revision: 1, revisionId: 'r', secrets, destroyed: [], deletedSince: [] };
  const nothing = { token: undefined, environmentId: undefined, head: undefined, clusterRules: undefined };
  return { sources: [{ ...nothing, state }], isReplaced: false, refusal: undefined };
}

const onBug = (error: unknown): never => {
  throw error;
};

/** The outcomes, by the names of the items. */
async function outcomes(
  items: readonly ReadItem[],
  read: (question: SourcesQuestion, room: AnswerRoom) => Promise<SourcesAnswer>,
  more: { gone?: AbortSignal; limitMs?: number; maxKeys?: number; namespaces?: ReadsQuestion['namespaces'] } = {},
): Promise<Record<string, string>> {
  const { namespaces = [], gone = new AbortController().signal, ...options } = more;
  const answer = await readItems({ namespaces, items }, { read, onBug, gone, ...options });
  return Object.fromEntries(items.map(({ asker }, index) => [asker.name, answer.items[index]?.outcome ?? 'none']));
}

describe('a request for many SecretSyncs', () => {
  test('is answered in the order of its items, whichever was read first', async () => {
    const items = ['a', 'b', 'c'].map((name) => itemOf(name));
    const { items: answered } = await readItems(
      { namespaces: [], items },
      {
        onBug,
        gone: new AbortController().signal,
        read: async ({ asker: { name } }) => {
          if (name === 'a') await new Promise((resolve) => setTimeout(resolve, 20));
          if (name === 'b') throw new DomainError('not_found', 'no environment');
          return answerOf(name === 'a' ? 1 : 3);
        },
      },
    );
    expect(answered).toMatchObject([
      { outcome: 'read', answer: answerOf(1) },
      { outcome: 'failed', error: { code: 'not_found', detail: 'no environment' } },
      { outcome: 'read', answer: answerOf(3) },
    ]);
  });

  test('asks for each SecretSync with the grants of its namespace', async () => {
    const rule = {
      organization: 'acme',
      project: '*',
      environments: ['*'],
      permission: 'read',
      kinds: ['SecretSync'],
    } as const;
    const asked: unknown[] = [];
    await outcomes(
      [itemOf('a', { namespace: 'one' }), itemOf('b', { namespace: 'two' })],
      ({ asker: { kind, namespace, name, grants, ownGrant } }) => {
        asked.push([kind, namespace, name, grants.length, ownGrant]);
        return Promise.resolve(answerOf(1));
      },
      { namespaces: [{ namespace: 'one', grants: [rule], ownGrant: 'own' }] },
    );
    expect(asked).toEqual([
      ['SecretSync', 'one', 'a', 1, 'own'],
      ['SecretSync', 'two', 'b', 0, undefined],
    ]);
  });

  test('is answered in time once one item is read, and the slow ones are wanted again', async () => {
    const read = async ({ asker: { name } }: SourcesQuestion): Promise<SourcesAnswer> => {
      if (name !== 'fast') await new Promise((resolve) => setTimeout(resolve, 500));
      return answerOf(1);
    };
    const items = ['slow', 'fast', 'slower'].map((name) => itemOf(name));
    const startedMs = performance.now();
    expect(await outcomes(items, read, { limitMs: 50 })).toEqual({ slow: 'again', fast: 'read', slower: 'again' });
    expect(performance.now() - startedMs).toBeLessThan(400);
  });

  test('ends the reads that are not in its answer', async () => {
    const ends: string[] = [];
    const read = async ({ asker: { name } }: SourcesQuestion, room: AnswerRoom): Promise<SourcesAnswer> => {
      if (name === 'slow') await new Promise((resolve) => setTimeout(resolve, 50));
      try {
        room.expectOpen();
      } catch (error) {
        ends.push(`${name}: ${(error as DomainError).code}`);
      }
      return answerOf(1);
    };
    expect(await outcomes([itemOf('fast'), itemOf('slow')], read, { limitMs: 1 })).toEqual({
      fast: 'read',
      slow: 'again',
    });
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(ends).toEqual(['slow: overloaded']);
  });

  test('ends all of them when the controller no longer waits', async () => {
    const gone = new AbortController();
    const ended = Promise.withResolvers<string>();
    const read = async (_: SourcesQuestion, room: AnswerRoom): Promise<SourcesAnswer> => {
      await turn();
      try {
        room.expectOpen();
      } catch (error) {
        ended.resolve((error as DomainError).code);
      }
      return answerOf(1);
    };
    const answered = outcomes([itemOf('a')], read, { gone: gone.signal });
    gone.abort();
    expect(await answered).toEqual({ a: 'again' });
    expect(await ended.promise).toBe('overloaded');
  });

  test('ends them also if the controller had left before they began', async () => {
    const read = async (): Promise<SourcesAnswer> => {
      await turn();
      return answerOf(1);
    };
    expect(await outcomes([itemOf('a')], read, { gone: AbortSignal.abort() })).toEqual({ a: 'again' });
  });

  test('gives other requests their turn while it starts its items', async () => {
    let started = 0;
    const seen: number[] = [];
    const items = Array.from({ length: 25 }, (_, index) => itemOf(`i${index}`));
    const read = (): Promise<SourcesAnswer> => {
      started += 1;
      return Promise.resolve(answerOf(1));
    };
    const reading = outcomes(items, read);
    while (started < items.length) {
      seen.push(started);
      await turn();
    }
    await reading;
    expect(seen).toEqual([10, 20]);
  });

  test('waits for its first item, however slow that is', async () => {
    const read = async (): Promise<SourcesAnswer> => {
      await new Promise((resolve) => setTimeout(resolve, 100));
      return answerOf(1);
    };
    expect(await outcomes([itemOf('slow')], read, { limitMs: 10 })).toEqual({ slow: 'read' });
  });

  test('reads no more at once than there is room for', async () => {
    let [reading, most] = [0, 0];
    const read = async (): Promise<SourcesAnswer> => {
      reading += 1;
      most = Math.max(most, reading);
      await new Promise((resolve) => setTimeout(resolve, 1));
      reading -= 1;
      return answerOf(1);
    };
    const items = Array.from({ length: 20 }, (_, index) => itemOf(`i${index}`, { maxKeys: 10 }));
    const all = await outcomes(items, read, { maxKeys: 40 });
    expect(Object.values(all)).toEqual(items.map(() => 'read'));
    expect(most).toBeLessThanOrEqual(4);
    expect(most).toBeGreaterThan(1);
  });

  test('is answered when its answer is full, and the rest is wanted again', async () => {
    const items = ['a', 'b', 'c', 'd'].map((name) => itemOf(name, { maxKeys: 10 }));
    const read = (): Promise<SourcesAnswer> => Promise.resolve(answerOf(10));
    expect(await outcomes(items, read, { maxKeys: 20 })).toEqual({ a: 'read', b: 'read', c: 'again', d: 'again' });
  });

  test('reads an item that alone has no room, if it comes first', async () => {
    const items = [itemOf('large', { maxKeys: 100 }), itemOf('small')];
    const read = ({ maxKeys }: SourcesQuestion): Promise<SourcesAnswer> => Promise.resolve(answerOf(maxKeys));
    expect(await outcomes(items, read, { maxKeys: 20 })).toEqual({ large: 'read', small: 'again' });
  });

  test('reports a bug in one item, and returns the others', async () => {
    const bugs: unknown[] = [];
    const bug = new TypeError('quotes a secret');
    const answer = await readItems(
      { namespaces: [], items: [itemOf('bad'), itemOf('good')] },
      {
        onBug: (error) => void bugs.push(error),
        gone: new AbortController().signal,
        read: ({ asker: { name } }) => (name === 'bad' ? Promise.reject(bug) : Promise.resolve(answerOf(1))),
      },
    );
    expect(bugs).toEqual([bug]);
    expect(answer.items).toMatchObject([{ outcome: 'failed', error: { code: 'internal' } }, { outcome: 'read' }]);
    expect(JSON.stringify(answer.items[0])).not.toContain('secret');
  });
});

test('the memory of a request is that of what can be read at once', () => {
  expect(keysToRead([itemOf('a', { maxKeys: 100 }), itemOf('b', { maxKeys: 50 })])).toBe(150);
  expect(keysToRead(Array.from({ length: 250 }, () => itemOf('a', { maxKeys: 1_000 })))).toBe(20_000);
  const [one] = [itemOf('a', { maxKeys: 10_000 })];
  expect(keysToRead([{ ...one, sources: Array.from({ length: 8 }, () => one.sources[0] ?? ([] as never)) }])).toBe(
    80_000,
  );
});

test('the values of one answer have two mebibytes', () => {
  const selection = { rules: [{}], templateNames: [], maxBytes: 1_000_000 };
  const item = { ...itemOf('a'), selection };
  expect(valuesToRead([itemOf('without')])).toBe(0);
  expect(valuesToRead([item, itemOf('without')])).toBe(1_000_000);
  expect(valuesToRead([item, item, item])).toBe(2 * 1024 * 1024);
  const room = new ReadsRoom();
  expect([1_000_000, 1_000_000, 97_152, 1].map((bytes) => room.takeValues(bytes))).toEqual([true, true, true, false]);
});

test('the globs of one answer are compared a limited number of times', () => {
  const room = new ReadsRoom();
  expect([200_000, 60_000, 50_000].map((count) => room.takeComparisons(count))).toEqual([true, false, true]);
});
