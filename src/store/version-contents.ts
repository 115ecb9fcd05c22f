import type { SecretVersionModel } from './generated/models.ts';

/**
 * Where the value of a version is. A version holds it itself, or refers to the earlier version of the same secret that
 * does (`content_version_id`). That one holds it itself, so nothing ever follows a second reference. A reference costs a
 * row whatever the size of the value. Statements here name the version `v`, and the one that a new version takes its
 * value from `copied`.
 */

/**
 * Joins the version that `v` refers to. The condition on `v` and OFFSET 0 keep PostgreSQL from looking for a version
 * that holds its value itself, and from reading the whole table.
 */
export const contentJoin = `LEFT JOIN LATERAL (
        SELECT c.ciphertext, c.data_key_id FROM secret_version c
        WHERE c.id = v.content_version_id AND v.content_version_id IS NOT NULL OFFSET 0
      ) AS content ON true`;

/** The value of a version as it is stored, with the data key to read it. */
export type StoredContent = Readonly<Pick<SecretVersionModel, 'ciphertext' | 'dataKeyId'>>;

/** The value of `v` as it is stored, beside `contentJoin`. Both are of one row: keys rotate where the value is. */
export const contentCiphertext = `coalesce(content.ciphertext, v.ciphertext)`;
export const contentDataKeyId = `coalesce(content.data_key_id, v.data_key_id)`;
/** The columns of `StoredContent`. */
export const contentColumns = `${contentCiphertext} AS ciphertext, ${contentDataKeyId} AS "dataKeyId"`;

/** What a version that takes its value from `copied` has as content_version_id. */
export const copiedContentId = `coalesce(copied.content_version_id, copied.id)`;
