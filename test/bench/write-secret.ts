import { randomBytes, randomUUID } from 'node:crypto';
import pg from 'pg';
import { parseToken } from '../../src/crypto/token.ts';
import { holdTarget } from '../../src/store/access.ts';
import { appendAudit } from '../../src/store/audit.ts';
import { credentialIsLive, findCredentials } from '../../src/store/credentials.ts';
import { notifyEnvironment } from '../../src/store/notify.ts';
import { findStoredSecrets, lockEnvironment, writeRevision } from '../../src/store/secrets.ts';
import type { Transaction } from '../../src/store/transaction.ts';
import type { BearerPrincipal } from '../../src/domain/principal.ts';
import type { ApiEnvironment } from '../support/api/api-client.ts';
import { inBareTransaction } from './bare-transaction.ts';
import { benchEnvironment, startBenchApi } from './bench-api.ts';
import { HttpLoad } from './http-load.ts';
import { compare, throughput } from './rounds.ts';

const rounds = 9;
/** Writes of one round, by the number of writers. */
const loads: readonly (readonly [writers: number, writes: number])[] = [
  [1, 100],
  [8, 300],
  [32, 300],
];

/**
 * Writes of single secrets of one environment, each writer its own key: writes a second beside those of bare pg that
 * runs the same statements on as many connections, with nothing to parse, judge or encrypt.
 */
export async function writeSecret(): Promise<void> {
  await using resources = new AsyncDisposableStack();
  const { url, databaseUrl, admin } = await startBenchApi(resources);
  const load = new HttpLoad();
  resources.defer(() => load.close());
  console.log(`\nWriting secrets of one environment (writes a second, ${rounds} interleaved rounds)`);
  for (const [writers, writes] of loads) {
    const environment = await benchEnvironment(admin, 100);
    const { token } = await environment.createToken({ permission: 'read_write' });
    const floor = await BareWriters.open(resources, { databaseUrl, environment, token, writers });
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    await compare({
      title: `${writers} ${writers === 1 ? 'writer' : 'writers'}`,
      rounds,
      unit: '/s',
      aim: 0.5,
      floor: () => throughput(writes, writers, (writer) => floor.write(writer)),
      keyframe: () =>
        throughput(writes, writers, (writer) =>
          load.send({
            url: `${url}/api/v1${environment.path}/${keyOf(writer)}`,
            method: 'PUT',
            headers,
            body: JSON.stringify({ value: randomBytes(16).toString('hex') }),
            expected: 200,
          }),
        ),
    });
  }
}

function keyOf(writer: number): string {
  return `KEY_${String(writer + 1).padStart(5, '0')}`;
}

interface BareSetting {
  readonly databaseUrl: string;
  readonly environment: ApiEnvironment;
  readonly token: string;
  readonly writers: number;
}

/** Writers of a copy of the environment, each on a connection of its own. */
class BareWriters {
  readonly #clients: readonly pg.Client[];
  readonly #principal: BearerPrincipal;
  readonly #target: { readonly organizationId: string; readonly projectId: string; readonly environmentId: string };
  readonly #dataKeyId: string;

  private constructor(clients: readonly pg.Client[], known: Known) {
    this.#clients = clients;
    this.#principal = known.principal;
    this.#target = known.target;
    this.#dataKeyId = known.dataKeyId;
  }

  static async open(resources: AsyncDisposableStack, setting: BareSetting): Promise<BareWriters> {
    const { databaseUrl, environment, token, writers } = setting;
    const clients = Array.from({ length: writers }, () => new pg.Client({ connectionString: databaseUrl }));
    await Promise.all(clients.map((client) => client.connect()));
    resources.defer(async () => void (await Promise.all(clients.map((client) => client.end()))));
    const pool = new pg.Pool({ connectionString: databaseUrl, max: 1 });
    const [found] = await findCredentials(pool, 'service_token', [parseToken(token)?.credentialId ?? '']);
    const { rows } = await pool.query<{ organizationId: string; projectId: string; dataKeyId: string }>(
      `SELECT p.organization_id AS "organizationId", p.id AS "projectId", k.id AS "dataKeyId"
       FROM environment e JOIN project p ON p.id = e.project_id JOIN data_key k ON k.project_id = p.id
       WHERE e.id = $1`,
      [environment.id],
    );
    await pool.end();
    const [row] = rows;
    if (row === undefined || found === undefined) throw new Error('the environment of the floor is not there');
    const { dataKeyId, ...ids } = row;
    const target = { ...ids, environmentId: environment.id };
    return new BareWriters(clients, { principal: found.principal, target, dataKeyId });
  }

  async write(writer: number): Promise<void> {
    const client = this.#clients[writer];
    if (client === undefined) throw new Error(`there is no writer ${writer}`);
    await inBareTransaction(client, (tx) => this.#writeKey(tx, keyOf(writer)));
  }

  async #writeKey(tx: Transaction, key: string): Promise<void> {
    const { environmentId, organizationId } = this.#target;
    const before = await lockEnvironment(tx, environmentId);
    const [secret] = await findStoredSecrets(tx, environmentId, [key]);
    if (before === undefined || secret === undefined) throw new Error('the secret of the floor is not there');
    const { id, type, name } = this.#principal;
    const revision = { id: randomUUID(), environmentId, number: before.revision + 1 };
    const content = {
      ciphertext: randomBytes(61),
      dataKeyId: this.#dataKeyId,
      valueMac: randomBytes(32),
      valueBytes: 32,
    };
    const version = {
      kind: 'version',
      key,
      secretId: secret.secretId,
      versionId: randomUUID(),
      version: secret.version + 1,
      changeType: 'updated',
      content,
    } as const;
    await writeRevision(tx, {
      ...revision,
      actor: { id, type, name, cluster: null },
      comment: null,
      changes: [version],
      budgetBytesPerDay: 0,
    });
    await notifyEnvironment(tx, { organizationId, environmentId }, revision.id);
    await appendAudit(tx, {
      organizationId,
      actor: { id, type, name },
      action: 'secret.write',
      target: { key, version: version.version },
      outcome: 'success',
      requestId: randomUUID(),
      sourceAddress: '127.0.0.1',
      label: '[Service Token]',
      credential: null,
      cluster: null,
    });
    await credentialIsLive(tx, this.#principal);
    await holdTarget(tx, null, this.#target);
  }
}

interface Known {
  readonly principal: BearerPrincipal;
  readonly target: { readonly organizationId: string; readonly projectId: string; readonly environmentId: string };
  readonly dataKeyId: string;
}
