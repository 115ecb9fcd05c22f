import { readFileSync } from 'node:fs';
import type pg from 'pg';

/** Where PostgreSQL is, and whose certificates are trusted there. */
export interface DatabaseAddress {
  /** A postgres:// URL. */
  readonly url: string;
  /**
   * A PEM file with certificates of authorities. With it every connection uses TLS, and PostgreSQL's certificate must
   * be signed by one of them and be for the URL's host: what libpq calls verify-full. Read again for each connection,
   * because authorities are renewed while the server runs.
   */
  readonly caFile?: string | undefined;
}

const tlsParameters = ['sslmode', 'ssl', 'sslrootcert', 'sslcert', 'sslkey', 'uselibpqcompat'];

/** The options of pg for a connection. Throws if a file of certificates cannot be read. */
export function connectionOptions({ url, caFile }: DatabaseAddress): Pick<pg.ClientConfig, 'connectionString' | 'ssl'> {
  if (caFile === undefined) return { connectionString: url };
  const address = new URL(url);
  const files = {
    ca: caFile,
    cert: address.searchParams.get('sslcert'),
    key: address.searchParams.get('sslkey'),
  };
  // pg lets what the URL says of TLS win over its other options.
  for (const name of tlsParameters) address.searchParams.delete(name);
  const ssl = { rejectUnauthorized: true };
  for (const [name, path] of Object.entries(files)) {
    if (path !== null) Object.defineProperty(ssl, name, { ...fileReader(path), enumerable: true, configurable: true });
  }
  return { connectionString: address.href, ssl };
}

/**
 * A property that is the file's present text; the last one that could be read, for pg cannot be given an error there.
 */
function fileReader(path: string): { get(): string } {
  let last = readFileSync(path, 'utf8');
  return {
    get() {
      try {
        last = readFileSync(path, 'utf8');
      } catch {
        // A volume that is being replaced.
      }
      return last;
    },
  };
}
