/**
 * Where the value of a version is. A version holds it itself, or refers to the earlier version of the same secret that
 * does (`content_version_id`). That one holds it itself, so nothing ever follows a second reference. A reference costs a
 * row whatever the size of the value. Statements here name the version `v`, and the one that a new version takes its
 * value from `copied`.
 */

/**
 * Until this migration is applied, servers of release 0.1 may read what is written, and they cannot follow a reference.
 * `migrate` applies it to a new database, and to an upgraded one with `--finish-upgrade`.
 */
export const referencesMigration = '20261124000200_version_references_finish_since_0_2_0';

const mayRefer = `EXISTS (SELECT FROM _prisma_migrations
      WHERE migration_name = '${referencesMigration}' AND finished_at IS NOT NULL)`;

/**
 * Joins the version that `v` refers to. The condition on `v` and OFFSET 0 keep PostgreSQL from looking for a version
 * that holds its value itself, and from reading the whole table.
 */
export const contentJoin = `LEFT JOIN LATERAL (
        SELECT c.ciphertext, c.data_key_id FROM secret_version c
        WHERE c.id = v.content_version_id AND v.content_version_id IS NOT NULL OFFSET 0
      ) AS content ON true`;

/** The value of `v` as it is stored, beside `contentJoin`. Both are of one row: keys rotate where the value is. */
export const contentCiphertext = `coalesce(content.ciphertext, v.ciphertext)`;
export const contentDataKeyId = `coalesce(content.data_key_id, v.data_key_id)`;
export const contentColumns = `${contentCiphertext} AS ciphertext, ${contentDataKeyId} AS "dataKeyId"`;

/** What a version that takes its value from `copied` has as ciphertext and content_version_id. */
export const copiedCiphertext = `CASE WHEN ${mayRefer} THEN '' ELSE copied.ciphertext END`;
export const copiedContentId = `CASE WHEN ${mayRefer} THEN coalesce(copied.content_version_id, copied.id) END`;
