import pg from 'pg';
import type { NodeSite } from '../support/node/node-site.ts';
import type { CertificateAuthority } from '../support/fixtures/certificate.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

/** A PostgreSQL in another namespace, whose certificate a private authority has signed, with a role for migrations. */

const superuser = 'postgres';
const password = 'of-superuser';
const restricted = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
};

export class PrivatePostgres {
  /** The name that its certificate has. */
  readonly host: string;
  readonly #address: string;
  readonly #ca: string;

  private constructor(host: string, address: string, ca: string) {
    this.host = host;
    this.#address = address;
    this.#ca = ca;
  }

  /** Starts it, with the database keyframe of the role keyframe. */
  static async start(site: NodeSite, authority: CertificateAuthority): Promise<PrivatePostgres> {
    const namespace = await site.makeNamespace('restricted');
    const host = `db.${namespace}.svc`;
    const { certificate, key } = authority.issue({ names: [host], addresses: [] });
    await create(site, `/api/v1/namespaces/${namespace}/secrets`, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'db' },
      stringData: { 'tls.crt': certificate, 'tls.key': key, password },
    });
    await create(site, `/api/v1/namespaces/${namespace}/services`, {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'db' },
      spec: { selector: { app: 'db' }, ports: [{ port: 5432 }] },
    });
    await create(site, `/api/v1/namespaces/${namespace}/pods`, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'db', labels: { app: 'db' } },
      spec: podSpec(site.images.postgres),
    });
    const service = await site.kube.json<{ spec: { clusterIP: string } }>({
      path: `/api/v1/namespaces/${namespace}/services/db`,
    });
    const postgres = new PrivatePostgres(host, service.spec.clusterIP, authority.certificate);
    await waitFor('PostgreSQL', async () => (await postgres.query('SELECT 1 AS one')).length === 1, {
      timeoutMs: 90_000,
    });
    await postgres.query(`CREATE ROLE keyframe LOGIN PASSWORD 'of-owner'`);
    await postgres.query('CREATE DATABASE keyframe OWNER keyframe');
    return postgres;
  }

  /** The address of its database for a role. */
  urlOf(role: string, itsPassword: string): string {
    return `postgresql://${role}:${itsPassword}@${this.host}:5432/keyframe`;
  }

  /** Rows of a statement of the superuser. */
  async query(text: string): Promise<Record<string, unknown>[]> {
    const client = new pg.Client({
      host: this.#address,
      user: superuser,
      password,
      database: 'postgres',
      ssl: { ca: this.#ca, servername: this.host },
    });
    client.on('error', () => undefined);
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>(text)).rows;
    } finally {
      await client.end();
    }
  }
}

async function create(site: NodeSite, path: string, body: object): Promise<void> {
  await site.kube.json({ method: 'POST', path, body });
}

function podSpec(image: string): object {
  const files = { ssl_cert_file: '/etc/db/tls.crt', ssl_key_file: '/etc/db/tls.key' };
  const settings = Object.entries({ ssl: 'on', ...files }).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const mounts = { data: '/var/lib/postgresql/data', run: '/var/run/postgresql', tmp: '/tmp', secret: '/etc/db' };
  return {
    automountServiceAccountToken: false,
    terminationGracePeriodSeconds: 2,
    securityContext: {
      runAsNonRoot: true,
      runAsUser: 999,
      runAsGroup: 999,
      fsGroup: 999,
      seccompProfile: { type: 'RuntimeDefault' },
    },
    containers: [
      {
        name: 'postgres',
        image,
        imagePullPolicy: 'Never',
        args: ['postgres', ...settings],
        env: [
          { name: 'POSTGRES_USER', value: superuser },
          { name: 'POSTGRES_PASSWORD_FILE', value: '/etc/db/password' },
          { name: 'PGDATA', value: '/var/lib/postgresql/data/pgdata' },
        ],
        securityContext: restricted,
        volumeMounts: Object.entries(mounts).map(([name, mountPath]) => ({ name, mountPath })),
      },
    ],
    volumes: [
      // PostgreSQL refuses a key that others may read.
      { name: 'secret', secret: { secretName: 'db', defaultMode: 0o440 } },
      ...['data', 'run', 'tmp'].map((name) => ({ name, emptyDir: {} })),
    ],
  };
}
