import { describe, expect, test } from '@jest/globals';
import { Calls } from '../../../src/agent/calls.ts';
import { type ClusterMethodName, clusterMethods } from '../../../src/wire/cluster/methods.ts';

/** What a controller takes for the answer of a method. */

const names = Object.keys(clusterMethods) as ClusterMethodName[];
const canBeUndefined = (name: ClusterMethodName): boolean => clusterMethods[name].result.safeParse(undefined).success;

function answered(name: ClusterMethodName, answer: Readonly<Record<string, unknown>>): Promise<unknown> {
  return new Calls({ post: () => Promise.resolve(answer) }).send(name, () => '{}');
}

describe('an answer', () => {
  describe.each([{}, { success: true }])('%j', (answer) => {
    test.each(names)('is no success of %s', async (name) => {
      await expect(answered(name, answer)).rejects.toMatchObject({
        code: 'store_unavailable',
        detail: expect.stringContaining('neither a result nor an error'),
      });
    });
  });

  test.each(names.filter(canBeUndefined))('with the result null is an undefined one of %s', async (name) => {
    await expect(answered(name, { result: null })).resolves.toBeUndefined();
  });

  test.each(names.filter((name) => !canBeUndefined(name)))('with the result null is refused for %s', async (name) => {
    await expect(answered(name, { result: null })).rejects.toMatchObject({ code: 'store_unavailable' });
  });

  test('with an error is that error, also with a result beside it', async () => {
    const error = { code: 'not_found', detail: 'it does not exist' };
    await expect(answered('sync-states/seen', { result: null, error })).rejects.toMatchObject(error);
  });
});
