import type { Database } from '../../../src/store/database.ts';

/** What every attempt leaves behind, also a refused one. */
const leftByAttempts = ['audit_entry'];
const columnsOfUse = ['last_used_at', 'first_used_at'];

/**
 * A digest of each table's content by its name, so that equal digests mean that nothing was written in between. The
 * audit and the times of a credential's use are left out: a refused request leaves those.
 */
export async function tableDigests({ pool }: Pick<Database, 'pool'>): Promise<Record<string, string>> {
  const statement = statements.get(pool) ?? (await digestStatement(pool));
  statements.set(pool, statement);
  const { rows } = await pool.query<{ name: string; digest: string }>(statement);
  return Object.fromEntries(rows.map(({ name, digest }) => [name, digest]));
}

/** The statement of each database: tests that compare often would spend much of their time with its catalog. */
const statements = new WeakMap<Database['pool'], string>();

async function digestStatement(pool: Database['pool']): Promise<string> {
  const { rows: tables } = await pool.query<{ name: string; columns: string }>(
    `SELECT c.relname AS name, string_agg(
       format(CASE WHEN t.typtype = 'e' THEN 't.%I::text' ELSE 't.%I' END, a.attname), ', ' ORDER BY a.attname) AS columns
     FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
     JOIN pg_type t ON t.oid = a.atttypid
     WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r'
       AND c.relname <> ALL($1) AND a.attname <> ALL($2)
     GROUP BY c.relname ORDER BY c.relname`,
    [leftByAttempts, columnsOfUse],
  );
  // Rows are hashed as they are, because their text would take most of the time of tests that compare often. But the hash
  // of an enum is that of an oid, which a restored database does not share.
  const selects = tables.map(
    ({ name, columns }) => `SELECT '${name}' AS name, count(*) || ':' ||
        COALESCE(sum(hash_record_extended(ROW(${columns}), 0)::numeric), 0) AS digest FROM "${name}" AS t`,
  );
  return selects.join(' UNION ALL ');
}
