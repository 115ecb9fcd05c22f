import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { postgresHome } from '../../../tools/devcluster/postgres/home.ts';
import { type PostgresServer, startPostgres } from '../../../tools/devcluster/postgres/server.ts';
import type { CertificateAuthority } from '../../support/fixtures/certificate.ts';
import { waitFor } from '../../support/fixtures/wait-for.ts';

/** The name that the certificate has, beside its address. */
const hostName = 'localhost';

/** A PostgreSQL of a test with TLS, whose certificate a private authority has signed. */
export class EncryptedPostgres {
  readonly #folder: string;
  readonly #server: PostgresServer;

  private constructor(folder: string, server: PostgresServer) {
    this.#folder = folder;
    this.#server = server;
  }

  /** Starts it with a certificate for localhost; it goes with `resources`. */
  static async start(resources: AsyncDisposableStack, authority: CertificateAuthority): Promise<EncryptedPostgres> {
    const folder = mkdtempSync(join(tmpdir(), 'keyframe-tls-'));
    resources.defer(() => rmSync(folder, { recursive: true }));
    // PostgreSQL may run as another user.
    chmodSync(folder, 0o711);
    writeCertificate(folder, authority);
    const files = { ssl_cert_file: join(folder, 'server.crt'), ssl_key_file: join(folder, 'server.key') };
    const server = await startPostgres({ durable: false, settings: { ssl: 'on', ...files } });
    resources.defer(() => server.stop());
    return new EncryptedPostgres(folder, server);
  }

  /** The URL of its database by the host name of the certificate, or by another host that leads there as well. */
  url(host = hostName): string {
    const url = new URL(this.#server.urlOf('postgres'));
    url.hostname = host;
    return url.href;
  }

  /** Writes the certificate of an authority into a file, and returns its path. */
  trust({ certificate }: CertificateAuthority, name: string): string {
    const path = join(this.#folder, name);
    writeFileSync(path, certificate);
    return path;
  }

  /** Gives the server a certificate of another authority, as a renewal does. */
  async renew(authority: CertificateAuthority): Promise<void> {
    writeCertificate(this.#folder, authority);
    const before = await this.#query('SELECT pg_conf_load_time()::text AS value');
    await this.#query('SELECT pg_reload_conf()::text AS value');
    await waitFor('the new certificate', async () => {
      const now = await this.#query('SELECT pg_conf_load_time()::text AS value');
      return now[0] !== before[0];
    });
  }

  /** Ends the sessions of the server under test. */
  async endSessions(): Promise<void> {
    await this.#query(`SELECT pg_terminate_backend(pid)::text AS value FROM pg_stat_activity WHERE ${ours}`);
  }

  /** The sessions of the server under test, as `application: encrypted`. */
  async sessions(): Promise<ReadonlySet<string>> {
    const sql = `SELECT application_name || ': ' || ssl AS value FROM pg_stat_activity JOIN pg_stat_ssl USING (pid) WHERE ${ours}`;
    return new Set(await this.#query(sql));
  }

  async #query(sql: string): Promise<string[]> {
    const client = new pg.Client({ connectionString: this.#server.urlOf('postgres') });
    await client.connect();
    try {
      const { rows } = await client.query<{ value: string }>(sql);
      return rows.map(({ value }) => value);
    } finally {
      await client.end();
    }
  }
}

const ours = `application_name LIKE 'keyframe%'`;

function writeCertificate(folder: string, authority: CertificateAuthority): void {
  const { certificate, key } = authority.issue({ names: [hostName], addresses: [] });
  const { account } = postgresHome();
  for (const [name, text] of [
    ['server.crt', certificate],
    ['server.key', key],
  ] as const) {
    const path = join(folder, name);
    writeFileSync(path, text, { mode: 0o600 });
    if (account !== undefined) chownSync(path, account.uid, account.gid);
  }
}
