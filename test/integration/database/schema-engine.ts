import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as bindings from '@prisma/schema-engine-wasm/schema_engine_bg';
import pg from 'pg';

const checkout = fileURLToPath(new URL('../../..', import.meta.url));

/** The engine's own way to take a result from JavaScript. */
const ok = (value: unknown): object => ({
  ok: true,
  value,
  map: (use: (value: unknown) => unknown) => ok(use(value)),
  flatMap: (use: (value: unknown) => unknown) => use(value),
});

// Prisma's numbers for column types, by PostgreSQL's type numbers. Its own adapter lacks "char", which the
// catalogue is full of; text serves the rest.
const columnTypes = new Map([
  [16, 5],
  [18, 6],
  [20, 1],
  [21, 0],
  [23, 0],
  [26, 1],
  [1002, 70],
  [1005, 64],
  [1007, 64],
  [1009, 71],
  [1028, 65],
]);
const textType = 7;

/**
 * What would have to be done to a database for it to be what prisma/schema.prisma says, as SQL: Prisma's schema engine
 * reads the real catalogue and compares. Empty when they agree. It does not see CHECK constraints and triggers.
 */
export async function schemaDrift(url: string, schema: string = readSchema()): Promise<string> {
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  // Its sessions may be ended with the database, after the pool.
  pool.on('error', () => undefined);
  try {
    const engine = await (await loadEngine()).new({ datamodels: undefined }, () => {}, factory(pool));
    const files = [{ path: 'schema.prisma', content: schema }];
    const { stdout } = await engine.diff({
      from: { tag: 'schemaDatasource', files, configDir: checkout },
      to: { tag: 'schemaDatamodel', files },
      script: true,
      exitCode: true,
      filters: { externalTables: [], externalEnums: [] },
    });
    return (stdout ?? '').replace('-- This is an empty migration.', '').trim();
  } finally {
    await pool.end();
  }
}

/** The text of prisma/schema.prisma. */
export function readSchema(): string {
  return readFileSync(join(checkout, 'prisma', 'schema.prisma'), 'utf8');
}

// Node has it, its types do not.
const { WebAssembly: webAssembly } = globalThis as unknown as {
  WebAssembly: {
    instantiate(binary: Uint8Array, imports: object): Promise<{ instance: { exports: Record<string, () => void> } }>;
  };
};

let loading: Promise<typeof bindings.SchemaEngine> | undefined;

function loadEngine(): Promise<typeof bindings.SchemaEngine> {
  return (loading ??= load());
}

async function load(): Promise<typeof bindings.SchemaEngine> {
  const binary = new URL('schema_engine_bg.wasm', import.meta.resolve('@prisma/schema-engine-wasm/schema_engine_bg'));
  const { instance } = await webAssembly.instantiate(readFileSync(binary), { './schema_engine_bg.js': bindings });
  const { ['__wbg_set_wasm']: setExports } = bindings as unknown as Record<string, (exports: object) => void>;
  setExports?.(instance.exports);
  instance.exports['__wbindgen_start']?.();
  const panics = { set_message: (message: string): void => void process.stderr.write(`${message}\n`) };
  Object.assign(globalThis, { PRISMA_WASM_PANIC_REGISTRY: panics });
  return bindings.SchemaEngine;
}

/** An adapter that reads, and can do nothing else. */
function factory(pool: pg.Pool): object {
  const identity = { adapterName: 'test', provider: 'postgres', errorRegistry: { consumeError: () => undefined } };
  const adapter = {
    ...identity,
    getConnectionInfo: () => ok({ schemaName: 'public', supportsRelationJoins: true }),
    dispose: async () => ok(undefined),
    queryRaw: async ({ sql, args }: { sql: string; args: unknown[] }) => {
      const { fields, rows } = await pool.query({ text: sql, values: args, rowMode: 'array' });
      return ok({
        columnNames: fields.map(({ name }) => name),
        columnTypes: fields.map(({ dataTypeID }) => columnTypes.get(dataTypeID) ?? textType),
        rows,
      });
    },
  };
  return { ...identity, connect: async () => ok(adapter) };
}
