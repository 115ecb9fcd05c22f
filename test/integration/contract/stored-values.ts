import { createDecipheriv } from 'node:crypto';
import pg from 'pg';

/** A version's row, with all that its ciphertext is bound to. */
export interface StoredVersion {
  readonly id: string;
  readonly version: number;
  readonly isCurrent: boolean;
  /** Format byte, nonce (12 bytes), tag (16), ciphertext. */
  readonly sealed: Buffer;
  readonly dataKeyId: string;
  /** Organization, project, environment and secret. */
  readonly binding: readonly [string, string, string, string];
}

interface Row {
  readonly id: string;
  readonly version: number;
  readonly is_current: boolean;
  readonly ciphertext: Buffer;
  readonly data_key_id: string;
  readonly organization_id: string;
  readonly project_id: string;
  readonly environment_id: string;
  readonly secret_id: string;
}

/**
 * Reads the stored values of an instance past its server, and opens them with Node's AES-256-GCM as
 * docs/internals/crypto.md describes them: with none of the server's own code.
 */
export class StoredValues {
  readonly #pool: pg.Pool;
  readonly #rootKey: Buffer;

  constructor(url: string, rootKey: Buffer) {
    this.#pool = new pg.Pool({ connectionString: url, max: 2 });
    // Its sessions may be ended with the database, after the pool.
    this.#pool.on('error', () => undefined);
    this.#rootKey = rootKey;
  }

  /** The rows of a query. */
  async query<Found extends pg.QueryResultRow>(text: string, parameters: readonly unknown[]): Promise<Found[]> {
    return (await this.#pool.query<Found>(text, [...parameters])).rows;
  }

  /** The versions of a key of an environment, newest first. */
  async versions(environmentId: string, key: string): Promise<StoredVersion[]> {
    const rows = await this.query<Row>(
      `SELECT v.id, v.version, v.id = s.current_version_id AS is_current, c.ciphertext, c.data_key_id,
              p.organization_id, e.project_id, s.environment_id, v.secret_id
         FROM secret_version v JOIN secret s ON s.id = v.secret_id JOIN environment e ON e.id = s.environment_id
              JOIN project p ON p.id = e.project_id
              JOIN secret_version c ON c.id = coalesce(v.content_version_id, v.id)
        WHERE s.environment_id = $1 AND s.key = $2 ORDER BY v.version DESC`,
      [environmentId, key],
    );
    return rows.map((row) => ({
      id: row.id,
      version: row.version,
      isCurrent: row.is_current,
      sealed: row.ciphertext,
      dataKeyId: row.data_key_id,
      binding: [row.organization_id, row.project_id, row.environment_id, row.secret_id],
    }));
  }

  /** The key that a version is under, opened with the root key. */
  async dataKey({ dataKeyId, binding: [, projectId] }: StoredVersion): Promise<Buffer> {
    const [row] = await this.query<{ wrapped_key: Buffer }>('SELECT wrapped_key FROM data_key WHERE id = $1', [
      dataKeyId,
    ]);
    if (row === undefined) throw new Error(`there is no data key ${dataKeyId}`);
    return decrypt(this.#rootKey, row.wrapped_key, Buffer.from(`data-key:${projectId}:${dataKeyId}`));
  }

  /** The value of a version. */
  async value(stored: StoredVersion): Promise<string> {
    return decrypt(await this.dataKey(stored), stored.sealed, bindingBytes(stored.binding)).toString();
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }
}

/** What a ciphertext is bound to, as bytes. */
export function bindingBytes(binding: StoredVersion['binding']): Buffer {
  return Buffer.from(binding.join('').replaceAll('-', ''), 'hex');
}

/** Opens what AES-256-GCM sealed with a tag of 16 bytes. Throws for any other key, tag or associated data. */
export function decrypt(key: Buffer, sealed: Buffer, associatedData: Buffer): Buffer {
  const format = sealed.subarray(0, 1);
  if (format[0] !== 1) throw new Error('the sealed bytes have another format');
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(1, 13), { authTagLength: 16 });
  decipher.setAuthTag(sealed.subarray(13, 29));
  decipher.setAAD(Buffer.concat([format, associatedData]));
  return Buffer.concat([decipher.update(sealed.subarray(29)), decipher.final()]);
}
