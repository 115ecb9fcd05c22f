import type { Database } from '../../../src/store/database.ts';

/** What every attempt leaves behind, also a refused one. */
const leftByAttempts = ['audit_entry'];
const columnsOfUse = ['last_used_at', 'first_used_at'];

/**
 * A digest of each table's content by its name, so that equal digests mean that nothing was written in between. The
 * audit and the times of a credential's use are left out: a refused request leaves those.
 */
export async function tableDigests({ pool }: Pick<Database, 'pool'>): Promise<Record<string, string>> {
  const { rows: tables } = await pool.query<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.tables
     WHERE table_schema = 'public' AND table_type = 'BASE TABLE' AND table_name <> ALL($1) ORDER BY 1`,
    [leftByAttempts],
  );
  const selects = tables.map(
    ({ name }) => `SELECT '${name}' AS name, count(*) || ':' ||
        COALESCE(sum(hashtextextended((to_jsonb(t) - $1::text[])::text, 0)::numeric), 0) AS digest FROM "${name}" AS t`,
  );
  const { rows } = await pool.query<{ name: string; digest: string }>(selects.join(' UNION ALL '), [columnsOfUse]);
  return Object.fromEntries(rows.map(({ name, digest }) => [name, digest]));
}
