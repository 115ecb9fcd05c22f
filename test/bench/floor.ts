/**
 * The least that can carry a change from PostgreSQL to a native Secret: a listener that answers each notification with
 * one PUT over a kept-alive connection. No versions, no encryption, no authorisation, no audit, no status: the floor
 * that change-to-secret measures Keyframe against. Run as a process of its own, like the controller.
 *
 * Environment: FLOOR_DATABASE_URL, FLOOR_SERVER, FLOOR_CA_FILE, FLOOR_TOKEN_FILE, FLOOR_NAMESPACE.
 */
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import pg from 'pg';

function setting(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`set ${name}`);
  return value;
}

const agent = new Agent({ keepAlive: true, maxSockets: 1, ca: readFileSync(setting('FLOOR_CA_FILE')) });
const token = readFileSync(setting('FLOOR_TOKEN_FILE'), 'utf8').trim();
const namespace = setting('FLOOR_NAMESPACE');

function putSecret(value: string): Promise<void> {
  const body = JSON.stringify({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'floor', namespace },
    data: { VALUE: Buffer.from(value).toString('base64') },
  });
  const url = new URL(`/api/v1/namespaces/${namespace}/secrets/floor`, setting('FLOOR_SERVER'));
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    const call = request(url, { method: 'PUT', agent, headers }, (response) => {
      response.resume();
      response.on('end', () =>
        response.statusCode === 200 ? resolve() : reject(new Error(`PUT answered ${response.statusCode}`)),
      );
    });
    call.on('error', reject);
    call.end(body);
  });
}

const client = new pg.Client({ connectionString: setting('FLOOR_DATABASE_URL') });
client.on('notification', ({ payload }) => {
  putSecret(payload ?? '').catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : 'PUT failed');
    process.exit(1);
  });
});
await client.connect();
await client.query('LISTEN floor');
console.log('ready');
