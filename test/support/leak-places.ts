import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import pg from 'pg';
import { ApiClient, type ProblemRecord } from './api-client.ts';
import { CapturedProcess } from './captured-process.ts';
import type { LeakPlace, SearchedPiece } from './leak-search.ts';

/** The places of the server itself: output, answers, metrics and database. */

/** What processes have written. The list is read at each search. */
export function processOutput(processes: () => readonly CapturedProcess[]): LeakPlace {
  const planted = new Set<CapturedProcess>();
  return {
    name: 'process output',
    async *contents() {
      for (const { name, output } of [...processes(), ...planted]) yield { name, bytes: output };
    },
    async plant(text) {
      const args = ['-e', 'console.error(process.argv[1])', text];
      const leaking = new CapturedProcess({ name: 'leaking process', program: process.execPath, args });
      await leaking.ended;
      planted.add(leaking);
      return async () => void planted.delete(leaking);
    },
  };
}

/** The error answers that clients recorded. */
export function problemAnswers(problems: ProblemRecord): LeakPlace {
  return {
    name: 'problem answers',
    async *contents() {
      for (const [index, problem] of problems.entries()) yield piece(`answer ${index + 1}`, problem);
    },
    async plant(text) {
      const before = problems.length;
      const body = JSON.stringify({ code: 'invalid_input', detail: text });
      const { url, close } = await serve(422, { 'content-type': 'application/problem+json' }, body);
      await new ApiClient({ url, token: 'none', problems }).send('GET', '/leak').finally(close);
      return async () => void problems.splice(before);
    },
  };
}

/** The metrics that these addresses answer. */
export function metricsText(urls: () => readonly string[]): LeakPlace {
  const planted = new Set<string>();
  return {
    name: 'metrics',
    async *contents() {
      for (const url of [...urls(), ...planted]) {
        const answer = await fetch(`${url}/metrics`);
        if (!answer.ok) throw new Error(`${url}/metrics answered ${answer.status}`);
        yield piece(url, await answer.text());
      }
    },
    async plant(text) {
      const { url, close } = await serve(200, {}, `leak_total{label=${JSON.stringify(text)}} 1\n`);
      planted.add(url);
      return async () => {
        planted.delete(url);
        close();
      };
    },
  };
}

/** All rows of all tables, as PostgreSQL prints them. */
export function databaseRows(url: string): LeakPlace {
  return {
    name: 'database rows',
    contents: () =>
      eachRow(
        url,
        `SELECT format('%I.%I', schemaname, tablename) AS name, format('SELECT t::text AS found FROM %I.%I t', schemaname, tablename) AS query
           FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
      ),
    plant: (text) => plantTable(url, 'text', text),
  };
}

/** The content of all columns of bytes, which the rows as text show in hexadecimal only. */
export function databaseBytes(url: string): LeakPlace {
  return {
    name: 'database bytes',
    contents: () =>
      eachRow(
        url,
        `SELECT format('%I.%I.%I', table_schema, table_name, column_name) AS name,
                format('SELECT %I AS found FROM %I.%I WHERE %1$I IS NOT NULL', column_name, table_schema, table_name) AS query
           FROM information_schema.columns
          WHERE data_type = 'bytea' AND table_schema NOT IN ('pg_catalog', 'information_schema')`,
      ),
    plant: (text) => plantTable(url, 'bytea', Buffer.from(text)),
  };
}

async function* eachRow(url: string, queries: string): AsyncIterable<SearchedPiece> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows: tables } = await client.query<{ name: string; query: string }>(queries);
    for (const { name, query } of tables) {
      const { rows } = await client.query<{ found: string | Buffer }>(query);
      yield { name, bytes: Buffer.concat(rows.flatMap(({ found }) => [Buffer.from(found), Buffer.from('\n')])) };
    }
  } finally {
    await client.end();
  }
}

async function plantTable(url: string, type: 'text' | 'bytea', content: string | Buffer): Promise<() => Promise<void>> {
  const run = async (sql: string, parameters: unknown[] = []): Promise<void> => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      await client.query(sql, parameters);
    } finally {
      await client.end();
    }
  };
  await run(`CREATE TABLE planted_leak (content ${type})`);
  await run('INSERT INTO planted_leak VALUES ($1)', [content]);
  return () => run('DROP TABLE planted_leak');
}

/** A server that answers everything alike. */
async function serve(
  status: number,
  headers: Record<string, string>,
  body: string,
): Promise<{ url: string; close: () => void }> {
  const server = createServer((_request, answer) => answer.writeHead(status, headers).end(body)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  server.unref();
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}

function piece(name: string, text: string): SearchedPiece {
  return { name, bytes: Buffer.from(text) };
}
