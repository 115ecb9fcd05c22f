import { describe, expect, test } from '@jest/globals';
import { empty, raw, type Sql, sql } from '../../../src/store/sql.ts';

const user = (id: string): Sql => sql`SELECT id FROM app_user WHERE id = ${id}::uuid`;

describe('a template of SQL', () => {
  test('has a parameter for each value, which never becomes text', () => {
    const { text, values } = sql`SELECT ${"'; DROP TABLE secret"}::text, ${2}`;
    expect({ text, values }).toEqual({ text: 'SELECT $1::text, $2', values: ["'; DROP TABLE secret", 2] });
  });

  test('takes other SQL as text, with its values in their places', () => {
    const inner = sql`b = ${'b'} AND c = ${'c'}`;
    const { text, values } = sql`SELECT ${raw('x, y')} FROM t WHERE a = ${'a'} AND ${inner}${empty} AND d = ${'d'}`;
    expect(text).toBe('SELECT x, y FROM t WHERE a = $1 AND b = $2 AND c = $3 AND d = $4');
    expect(values).toEqual(['a', 'b', 'c', 'd']);
  });

  test('takes SQL within SQL, also first and last', () => {
    const inner = sql`${raw('(')}${1}${raw(')')}`;
    const { text, values } = sql`${inner} = ${sql`${inner}`}`;
    expect({ text, values }).toEqual({ text: '($1) = ($2)', values: [1, 1] });
  });

  test('remembers its text by its own identity', () => {
    expect(user('a').parts).toBe(user('b').parts);
    const placed = (place: Sql): Sql => sql`SELECT FROM t WHERE ${place}`;
    const [project, environment] = [placed(sql`p = ${1}`), placed(sql`e = ${1}`)];
    expect(placed(sql`p = ${2}`).parts).toBe(project.parts);
    expect([project.text, environment.text]).toEqual(['SELECT FROM t WHERE p = $1', 'SELECT FROM t WHERE e = $1']);
  });

  test('has one name for one text, also of another template', () => {
    expect(sql`SELECT ${1}`.name).toBe(sql`SELECT ${2}`.name);
    expect(sql`SELECT ${1}`.name).toMatch(/^sql-[0-9a-f]{40}$/);
    expect(sql`SELECT ${1}`.name).not.toBe(sql`SELECT  ${1}`.name);
  });

  test('has no name with an array among its values', () => {
    expect(sql`SELECT ${[1]}::int[]`.name).toBeUndefined();
    expect(sql`SELECT ${sql`${[1]}::int[]`}`.name).toBeUndefined();
  });
});
