import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Plaintext } from '../../../src/domain/plaintext.ts';
import { jsonChunks } from '../../../src/http/response/json-chunks.ts';

async function piecesOf(body: object): Promise<string[]> {
  const pieces: string[] = [];
  for await (const piece of jsonChunks(body)) pieces.push(piece);
  return pieces;
}

test('the pieces together are what JSON.stringify makes', async () => {
  const assertion = fc.asyncProperty(fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue()), async (body) => {
    expect((await piecesOf(body)).join('')).toBe(JSON.stringify(body));
  });
  await fc.assert(assertion);
});

test('as they are of absent fields, dates and values that are not to be shown', async () => {
  const body = {
    absent: undefined,
    at: new Date(0),
    list: [new Plaintext('canary'), null],
    value: new Plaintext('canary'),
  };
  expect((await piecesOf(body)).join('')).toBe(JSON.stringify(body));
  await expect(piecesOf({ absent: undefined })).resolves.toEqual(['{}']);
});

test('a long list comes in many pieces, none much longer than the others', async () => {
  const pieces = await piecesOf({ list: Array.from({ length: 10_000 }, () => 'x'.repeat(100)) });
  expect(pieces.length).toBeGreaterThan(10);
  expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(128 * 1024);
});
