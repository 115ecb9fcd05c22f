import type pg from 'pg';

// The driver, Prisma's adapter and this folder read and write as text. Under other settings, which a database or a role
// may have, the text of times, bytes, fractions, arrays with nulls and constants with backslashes means something else.
const textSettings = `SET client_encoding = 'UTF8';
  SET DateStyle = 'ISO, MDY';
  SET IntervalStyle = 'postgres';
  SET TimeZone = 'UTC';
  SET bytea_output = 'hex';
  SET extra_float_digits = 1;
  SET array_nulls = on;
  SET standard_conforming_strings = on`;

/**
 * Prepares a new connection, with the caller's settings too. They are no start-up parameters: poolers refuse those they
 * do not know.
 */
export async function setUpSession(client: pg.ClientBase, settings = ''): Promise<void> {
  await client.query(`${textSettings};${settings}`);
}
