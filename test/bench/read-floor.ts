/**
 * The least that can answer an audited read of an environment: node:http, and pg doing the same query of the
 * credential, a select of the rows with their values in the clear, and the same insert of one audit entry. No
 * authorisation, no encryption, no grouped commits. With If-None-Match it does the query of the credential and the insert,
 * because a 304 for a service token is audited too. Run as a separate process, like the API.
 *
 * Environment: FLOOR_DATABASE_URL, FLOOR_PORT, FLOOR_CREDENTIAL_ID; the path's last part is the number of secrets.
 */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import pg from 'pg';
import { appendAuditBatch } from '../../src/store/audit.ts';
import { requireCredential } from './floor-credential.ts';

function setting(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`set ${name}`);
  return value;
}

const credentialId = setting('FLOOR_CREDENTIAL_ID');
const pool = new pg.Pool({ connectionString: setting('FLOOR_DATABASE_URL'), max: 10 });
const rowsQuery = {
  name: 'rows',
  text: 'SELECT key, value, version, updated_at FROM floor_secret WHERE size = $1 ORDER BY key',
};

async function readSecrets(size: number): Promise<Buffer> {
  const { rows } = await pool.query<{ key: string; value: string; version: number; updated_at: Date }>({
    ...rowsQuery,
    values: [size],
  });
  const secrets = rows.map(({ key, value, version, updated_at: updatedAt }) => ({ key, value, version, updatedAt }));
  return Buffer.from(JSON.stringify({ secrets, revision: 1 }));
}

async function audit(): Promise<void> {
  await appendAuditBatch(pool, [
    {
      organizationId: null,
      actor: { type: 'user', id: credentialId, name: 'floor' },
      action: 'secret.list',
      target: { environment: 'floor' },
      outcome: 'success',
      requestId: randomUUID(),
      sourceAddress: '127.0.0.1',
      label: null,
      credential: null,
      cluster: null,
    },
  ]);
}

const server = createServer((request, response) => {
  const answer = async (): Promise<void> => {
    await requireCredential(pool, credentialId);
    if (request.headers['if-none-match'] !== undefined) {
      await audit();
      response.writeHead(304).end();
      return;
    }
    const body = await readSecrets(Number(request.url?.slice(1)));
    await audit();
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length }).end(body);
  };
  answer().catch((error: unknown) => {
    console.error(error);
    response.writeHead(500).end();
  });
});
server.listen(Number(setting('FLOOR_PORT')), '127.0.0.1', () => console.log('ready'));
