import { createHash } from 'node:crypto';
import { sql } from '../../../src/store/sql.ts';

const maxStatements = 100;

/** A module of the store. */
type Module = Readonly<Record<string, unknown>>;
type Tag = (parts: TemplateStringsArray, ...values: readonly unknown[]) => Promise<unknown>;

// What an argument, a field of one or a column of a row may be.
const leaves = ['service_token', 'personal_token', 'session', '0', 1, true, false, null, null, undefined, new Date(0)];
const rounds = 400;

/**
 * The texts of the statements that the functions of modules of the store run. Each function is called many times, with a
 * pool and a transaction that note a text and find a row or none, and with arguments of all kinds. Most calls fail
 * because their arguments make no sense. That does not matter: a statement is noted before.
 */
export async function recordStatements(modules: readonly Module[]): Promise<ReadonlySet<string>> {
  const texts = new Set<string>();
  const exported = modules.flatMap((module) => Object.values(module));
  for (let round = 0; round < rounds; round += 1) {
    const given = ['a', 'b', 'c', 'd', 'e'].map((name) => anything(`${round} ${name}`));
    for (const made of exported) {
      const store = recorder(texts, String(round));
      for (const call of functionsOf(made, store)) await call(store, ...given);
    }
  }
  return texts;
}

/**
 * A leaf or, down to a depth, an object and an array at once. What it is, and what its fields are, depends on the seed only.
 */
function anything(seed: string, depth = 3): unknown {
  const choice = hashOf(seed);
  const leaf = leaves[choice % leaves.length];
  if (depth === 0 || (choice >>> 16) % 3 === 0) return leaf;
  const valueOf = (field: string): unknown => {
    // No place has an environment and no project.
    const above = field.replace('environment', 'project');
    return above !== field && valueOf(above) === undefined ? undefined : anything(`${seed} ${field}`, depth - 1);
  };
  return new Proxy([anything(`${seed} item`, depth - 1)], {
    get: (target, field) =>
      typeof field === 'symbol' || Reflect.has(target, field)
        ? (Reflect.get(target, field) as unknown)
        : valueOf(field),
    has: (target, field) => Reflect.has(target, field) || choice % 2 === 0,
  });
}

function hashOf(seed: string): number {
  return createHash('sha256').update(seed).digest().readUInt32BE();
}

/** A pool, a transaction, a database and the deps of a class. */
function recorder(texts: Set<string>, seed: string): object {
  // A function that works in steps until nothing is found would not end.
  let left = maxStatements;
  const note = async (text: string): Promise<{ rows: readonly unknown[]; rowCount: number; command: string }> => {
    texts.add(text);
    left -= 1;
    if (left < 0) throw new Error('too many statements');
    const rows = hashOf(`${seed} found ${left}`) % 2 === 0 ? [] : [anything(`${seed} row ${left}`, 2)];
    return { rows, rowCount: rows.length, command: text };
  };
  const tag =
    (resultOf: (rows: readonly unknown[]) => unknown): Tag =>
    async (parts, ...values) =>
      resultOf((await note(sql(parts, ...values).text)).rows);
  const client = { query: (query: string | { text: string }) => note(typeof query === 'string' ? query : query.text) };
  const pool = { ...client, connect: async () => ({ ...client, release: () => undefined }) };
  return {
    ...pool,
    rows: tag((found) => found),
    row: tag((found) => found[0]),
    run: tag((found) => found.length),
    rowsUnprepared: async (text: string) => (await note(text)).rows,
    pipeline: (statements: readonly Promise<unknown>[]) => Promise.all(statements),
    pool,
    transactionPool: pool,
    database: { pool, transactionPool: pool },
  };
}

type Call = (...given: readonly unknown[]) => Promise<void>;

function functionsOf(made: unknown, deps: object): Call[] {
  // What Prisma reads has no text here.
  if (typeof made !== 'function' || made.toString().includes('readModels(')) return [];
  if (!made.toString().startsWith('class')) return [called(made as (...given: readonly unknown[]) => unknown)];
  const instance = new (made as new (given: object) => Readonly<Record<string, unknown>>)(deps);
  const prototype = made.prototype as object;
  const methods = Object.getOwnPropertyNames(prototype).filter((name) => name !== 'constructor');
  return methods.map((name) => {
    const method = instance[name] as (...given: readonly unknown[]) => unknown;
    return (_store, ...given) => called(method.bind(instance))(...given);
  });
}

function called(made: (...given: readonly unknown[]) => unknown): Call {
  return async (...given) => {
    try {
      await made(...given);
    } catch {
      // The arguments make no sense.
    }
  };
}
