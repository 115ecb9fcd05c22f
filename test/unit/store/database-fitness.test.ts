import { expect, test } from '@jest/globals';
import type pg from 'pg';
import { fitnessFault } from '../../../src/store/database-fitness.ts';

async function faultOf(version: string, encoding = 'UTF8'): Promise<string | undefined> {
  const row = { database: 'db', encoding, version, version_number: Number.parseInt(version, 10) * 10_000 + 9 };
  return await fitnessFault({ query: () => Promise.resolve({ rows: [row] }) } as unknown as pg.Pool);
}

test.each(['14.9', '15.9', '18.9'])('PostgreSQL %s is fit', async (version) => {
  expect(await faultOf(version)).toBeUndefined();
});

test.each(['9.9', '13.9'])('PostgreSQL %s is refused', async (version) => {
  const sentence = `this PostgreSQL is ${version}, and Keyframe needs 14 or newer: upgrade PostgreSQL`;
  expect(await faultOf(version)).toBe(sentence);
});

test('the encoding is named', async () => {
  expect(await faultOf('18.9', 'WIN1252')).toContain('the database db has the encoding WIN1252');
});
