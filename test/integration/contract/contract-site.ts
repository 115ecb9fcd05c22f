import { randomBytes } from 'node:crypto';
import { expect } from '@jest/globals';
import type { Role } from '../../../src/domain/principal.ts';
import type { AuditEntryView } from '../../../src/wire/audit.ts';
import type { SecretListView } from '../../../src/wire/secrets.ts';
import type { CreatedServiceTokenView, ServiceTokenView } from '../../../src/wire/service-tokens.ts';
import type { RestoreView, SnapshotView } from '../../../src/wire/snapshots.ts';
import type { RollbackView, VersionListView, VersionView, VersionWithValueView } from '../../../src/wire/versions.ts';
import { giveRole, type HttpAnswer, HttpClient, startTestApi, type TestApi } from '../../support/api/http.ts';
import { createUser } from '../../support/api/services.ts';
import type { TestDatabase } from '../../support/database/postgres.ts';
import { StoredValues } from './stored-values.ts';

export const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
export const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
export const tokenPattern = /^kf_svc_[0-9A-Za-z]{71}$/;

/** What a version shows that has its value. */
export const notDestroyed = {
  destroyedAt: null,
  destroyedBy: null,
  destroyedByType: null,
  destroyedByName: null,
};

/** Something with a slug, as its creation answered it. */
export interface Named {
  readonly id: string;
  readonly slug: string;
}

/** A user of the instance, and a client that presents their personal token. */
export interface Person {
  readonly id: string;
  readonly email: string;
  readonly token: string;
  readonly client: HttpClient;
}

/** A service token, and a client that presents it. */
export interface Machine {
  readonly record: ServiceTokenView;
  readonly token: string;
  readonly client: HttpClient;
}

/** What `newMachine` takes; organization scope and read_write by default. */
export type MachineInput = Partial<
  Pick<CreatedServiceTokenView, 'name' | 'scope' | 'permission'> & { projectId: string; environmentId: string }
>;

/**
 * A server with its own database. Everything in it was made by requests of its first administrator, who made the
 * organization `acme` with the project `shop` and is its owner.
 */
export class ContractSite {
  readonly database: TestDatabase;
  readonly stored: StoredValues;
  readonly url: string;
  readonly owner: Person;
  readonly organization: Named;
  readonly project: Named;
  readonly #api: TestApi;

  private constructor(site: Pick<ContractSite, 'stored' | 'owner' | 'organization' | 'project'>, api: TestApi) {
    this.database = api.database;
    this.stored = site.stored;
    this.url = `http://127.0.0.1:${api.port}`;
    this.owner = site.owner;
    this.organization = site.organization;
    this.project = site.project;
    this.#api = api;
  }

  static async start(): Promise<ContractSite> {
    const rootKey = randomBytes(32);
    const api = await startTestApi({}, { rootKeys: `contract:${rootKey.toString('base64')}` });
    const { id, email, token } = await createUser(api.services, { instanceAdmin: true });
    const client = api.client(token);
    const organization = await client.expectStatus<Named>(201, 'POST', '/organizations', { slug: 'acme' });
    const project = await client.expectStatus<Named>(201, 'POST', '/projects/acme', { slug: 'shop' });
    const stored = new StoredValues(api.database.url, rootKey);
    const owner = { id, email, token: token.reveal(), client };
    return new ContractSite({ stored, owner, organization, project }, api);
  }

  /** A client that presents this token; without one it sends no Authorization. */
  client(token?: string): HttpClient {
    return new HttpClient(this.url, token);
  }

  newProject(): Promise<Named> {
    return this.owner.client.expectStatus<Named>(201, 'POST', '/projects/acme', { slug: newSlug() });
  }

  /** A new environment without secrets, of the project `shop` by default. */
  async newEnvironment(project: Named = this.project): Promise<Place> {
    const path = `/environments/acme/${project.slug}`;
    const { id, slug } = await this.owner.client.expectStatus<Named>(201, 'POST', path, { slug: newSlug() });
    return new Place({ id, path: `acme/${project.slug}/${slug}`, slug, client: this.owner.client });
  }

  /** A new user, who has this role in the organization. */
  async newMember(role: Role): Promise<Person> {
    const email = `${newSlug()}@example.test`;
    const made = await this.owner.client.expectStatus<Omit<Person, 'client'>>(201, 'POST', '/users', { email });
    const client = this.client(made.token);
    await giveRole(this.owner.client, client, `/members/acme/${made.id}`, role);
    return { id: made.id, email, token: made.token, client };
  }

  /** A new service token of the organization, made by its owner by default. */
  async newMachine(input: MachineInput = {}, maker: HttpClient = this.owner.client): Promise<Machine> {
    const body = { name: 'ci', scope: 'organization', permission: 'read_write', ...input };
    const { token, ...record } = await maker.expectStatus<CreatedServiceTokenView>(
      201,
      'POST',
      '/service-tokens/acme',
      body,
    );
    return { record, token, client: this.client(token) };
  }

  async revoke({ record }: Machine): Promise<void> {
    await this.owner.client.expectStatus(204, 'DELETE', `/service-tokens/acme/${record.id}`);
  }

  /** The entries that a request left in the organization's audit, as its owner reads them. */
  async audited(answer: HttpAnswer): Promise<readonly AuditEntryView[]> {
    const path = '/audit/acme?limit=100';
    const { entries } = await this.owner.client.expectStatus<{ entries: AuditEntryView[] }>(200, 'GET', path);
    return entries.filter(({ requestId }) => requestId === answer.headers.get('x-request-id'));
  }

  async close(): Promise<void> {
    await this.stored.close();
    await this.#api.close();
  }
}

/** An environment, and what its client (the owner's) does there. Every method expects that it is done. */
export class Place {
  readonly id: string;
  readonly slug: string;
  /** The slugs, as they stand in a path. */
  readonly path: string;
  readonly #client: HttpClient;

  constructor(place: {
    readonly id: string;
    readonly slug: string;
    readonly path: string;
    readonly client: HttpClient;
  }) {
    this.id = place.id;
    this.slug = place.slug;
    this.path = place.path;
    this.#client = place.client;
  }

  /** The slugs as the audit's targets have them. */
  get target(): { readonly organization: string; readonly project: string; readonly environment: string } {
    const [organization = '', project = '', environment = ''] = this.path.split('/');
    return { organization, project, environment };
  }

  async set(values: Readonly<Record<string, string>>): Promise<void> {
    await this.#client.expectStatus(200, 'PATCH', `/secrets/${this.path}`, { set: values });
  }

  async remove(...keys: readonly string[]): Promise<void> {
    await this.#client.expectStatus(200, 'PATCH', `/secrets/${this.path}`, { delete: keys });
  }

  list(): Promise<SecretListView> {
    return this.#client.expectStatus<SecretListView>(200, 'GET', `/secrets/${this.path}`);
  }

  async values(): Promise<Record<string, string>> {
    return Object.fromEntries((await this.list()).secrets.map(({ key, value }) => [key, value]));
  }

  async history(key: string): Promise<readonly VersionView[]> {
    const path = `/versions/${this.path}/${key}`;
    return (await this.#client.expectStatus<VersionListView>(200, 'GET', path)).versions;
  }

  /** Number, kind and value of each version, newest first. */
  async versionRows(key: string): Promise<readonly (readonly [number, string, string])[]> {
    const versions = await this.history(key);
    return await Promise.all(
      versions.map(async ({ version, changeType }) => {
        const path = `/versions/${this.path}/${key}/${version}`;
        const { value } = await this.#client.expectStatus<VersionWithValueView>(200, 'GET', path);
        return [version, changeType, value] as const;
      }),
    );
  }

  rollback(key: string, targetVersion: number): Promise<RollbackView> {
    const path = `/versions/${this.path}/${key}/rollback`;
    return this.#client.expectStatus<RollbackView>(201, 'POST', path, { targetVersion });
  }

  snapshot(body: Readonly<Record<string, unknown>> = {}): Promise<SnapshotView> {
    return this.#client.expectStatus<SnapshotView>(201, 'POST', `/snapshots/${this.path}`, body);
  }

  restore(snapshotId: string): Promise<RestoreView> {
    return this.#client.expectStatus<RestoreView>(200, 'POST', `/snapshots/${this.path}/restore`, { snapshotId });
  }
}

/** Expects a time between two moments, both in milliseconds since 1970. */
export function expectBetween(time: string, [from, to]: readonly [number, number]): void {
  expect(time).toMatch(instant);
  expect(Date.parse(time)).toBeGreaterThanOrEqual(from);
  // PostgreSQL rounds to milliseconds, and JavaScript cuts off what is less.
  expect(Date.parse(time)).toBeLessThanOrEqual(to + 1);
}

function newSlug(): string {
  return `s-${randomBytes(5).toString('hex')}`;
}
