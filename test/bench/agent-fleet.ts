import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectOverHttps } from '../../src/agent/backend.ts';
import type { Backend } from '../../src/controller/backend/backend.ts';
import type { GrantRule } from '../../src/domain/grants.ts';
import type { SourcesQuestion } from '../../src/domain/source-reads.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { createLogger } from '../../src/observability/logger.ts';
import { openDatabase } from '../../src/store/database.ts';
import { type ApiClient, ApiEnvironment } from '../support/api/api-client.ts';
import { type ControllerPort, makeControllerPort } from '../support/cluster/controller-port.ts';
import { registerCluster } from '../support/database/cluster-credentials.ts';
import { type BenchApi, benchSecrets, startBenchApi } from './bench-api.ts';
import { concurrency, syncsPerEnvironment } from './fleet.ts';
import { throughput } from './rounds.ts';

const namespacesPerCluster = 5;
const keysPerEnvironment = 10;
// What a controller has memory for at first.
const maxKeys = 1_000;
const selection = { rules: [{}], templateNames: [], maxBytes: 1024 * 1024 };

/** How large a fleet is. */
export interface FleetSize {
  readonly clusters: number;
  readonly syncsPerCluster: number;
}

/** The SecretSyncs of a fleet of remote clusters, as the server sees them: the controllers are this process, without Kubernetes. */
export class AgentFleet {
  readonly api: BenchApi;
  readonly environments: readonly ApiEnvironment[];
  readonly clusters: readonly AgentCluster[];

  private constructor(parts: Pick<AgentFleet, 'api' | 'environments' | 'clusters'>) {
    this.api = parts.api;
    this.environments = parts.environments;
    this.clusters = parts.clusters;
  }

  /** Starts the API and registers the clusters. Each environment is read by as many SecretSyncs of each cluster. */
  static async start(
    resources: AsyncDisposableStack,
    { clusters, syncsPerCluster }: FleetSize,
    nodeArgs: readonly string[] = [],
  ): Promise<AgentFleet> {
    const port = await makeControllerPort(resources);
    // All clusters are at one address.
    const env = { ...port.env, MAX_CONNECTIONS_PER_ADDRESS: '0' };
    const api = await startBenchApi(resources, { env, nodeArgs });
    const slugs = { organization: `org-${randomUUID()}`, project: 'shop' };
    const environments = await makeEnvironments(api.admin, slugs, (clusters * syncsPerCluster) / syncsPerEnvironment);
    const names = Array.from({ length: clusters }, (_, index) => `cluster-${index}`);
    const tokenFiles = await register(resources, api, names);
    const agents: AgentCluster[] = [];
    for (const [index, name] of names.entries()) {
      const rules = [{ project: slugs.project, environments: ['*'], permission: 'read', kinds: ['SecretSync'] }];
      await api.admin.call('PUT', `/organizations/${slugs.organization}/clusters/${name}`, { rules });
      const tokenFile = tokenFiles[index] ?? '';
      agents.push(new AgentCluster({ name, tokenFile, port, environments, syncs: syncsPerCluster }));
    }
    return new AgentFleet({ api, environments, clusters: agents });
  }
}

interface AgentParts {
  readonly name: string;
  readonly tokenFile: string;
  readonly port: ControllerPort;
  readonly environments: readonly ApiEnvironment[];
  readonly syncs: number;
}

/** One cluster of an `AgentFleet`. */
export class AgentCluster {
  readonly backend: Backend;
  readonly #parts: AgentParts;
  readonly #uids: readonly string[];

  constructor(parts: AgentParts) {
    this.#parts = parts;
    this.#uids = Array.from({ length: parts.syncs }, () => randomUUID());
    this.backend = this.connect();
  }

  /** A further process of its controller. */
  connect(): Backend {
    const { name, port, tokenFile } = this.#parts;
    const address = { url: `https://localhost:${port.port}`, caFile: port.caFile, tokenFile };
    return connectOverHttps({ ...address, clock: systemClock, logger: createLogger('silent') }).connect(() => name);
  }

  /** Reads the sources of all its SecretSyncs with their values, as many at once as a controller does. */
  async readAll(): Promise<void> {
    let next = 0;
    await throughput(this.#uids.length, concurrency, async () => await this.read(next++));
  }

  /** Reads the source of a SecretSync with its values, as a controller does. */
  async read(index: number): Promise<void> {
    const { sources } = await this.backend.sources.read(this.#questionOf(index));
    if (sources[0]?.values?.size !== keysPerEnvironment)
      throw new Error('the values of a SecretSync of the bench are not all there');
  }

  #questionOf(index: number): SourcesQuestion {
    const { environments, syncs } = this.#parts;
    const environment = environments[Math.floor((index * environments.length) / syncs)];
    const uid = this.#uids[index];
    if (environment === undefined || uid === undefined) throw new Error(`the cluster has no SecretSync ${index}`);
    const { organization, project, name } = environment.ref;
    const grants: readonly GrantRule[] = [
      { organization, project, environments: ['*'], permission: 'read', kinds: ['SecretSync'] },
    ];
    const namespace = `team-${index % namespacesPerCluster}`;
    const named = { kind: 'SecretSync', namespace, name: `app-${index}`, uid, requestId: randomUUID() } as const;
    const slugs = { organization, project, environment: name };
    const source = {
      name: undefined,
      slugs,
      credential: 'keyless',
      state: 'newest',
      recordedId: environment.id,
    } as const;
    return { asker: { ...named, grants, ownGrant: undefined }, sources: [source], maxKeys, selection };
  }
}

async function makeEnvironments(
  admin: ApiClient,
  { organization, project }: Readonly<Record<'organization' | 'project', string>>,
  count: number,
): Promise<ApiEnvironment[]> {
  await admin.call('POST', '/organizations', { slug: organization });
  await admin.call('POST', `/projects/${organization}`, { slug: project });
  const made: ApiEnvironment[] = [];
  for (let index = 0; index < count; index += 1) {
    const name = `env-${index}`;
    const { id } = await admin.call<{ id: string }>('POST', `/environments/${organization}/${project}`, { slug: name });
    const environment = new ApiEnvironment(admin, { organization, project, name }, id);
    await environment.change(benchSecrets(keysPerEnvironment));
    made.push(environment);
  }
  return made;
}

/** Registers remote clusters; returns the file with the token of each controller. */
async function register(
  resources: AsyncDisposableStack,
  { databaseUrl }: BenchApi,
  names: readonly string[],
): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'keyframe-bench-fleet-'));
  resources.defer(() => rmSync(folder, { recursive: true, force: true }));
  const database = openDatabase({ url: databaseUrl, poolSize: 2 });
  resources.defer(() => database.close());
  const files: string[] = [];
  for (const name of names) {
    const cluster = await registerCluster(database.pool, name);
    const file = join(folder, name);
    writeFileSync(file, cluster.token(), { mode: 0o600 });
    files.push(file);
  }
  return files;
}
