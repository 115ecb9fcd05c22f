import { describe, expect, test } from '@jest/globals';
import { Client } from 'pg';
import { notifyChannel } from '../../../src/store/notify.ts';
import {
  authenticated,
  createEnvironment,
  createProject,
  createUser,
  createWorld,
  enrol,
  type ProjectPlace,
  startServices,
  type TestServices,
  type TestUser,
  type World,
} from '../../support/api/services.ts';
import { withServices } from '../../support/api/with-services.ts';
import { createTestDatabase } from '../../support/database/postgres.ts';

// `createWorld` writes rows past the services. Here the services make the same world.
async function worldByServices(services: TestServices): Promise<World> {
  const owner = await createUser(services, { instanceAdmin: true });
  const slug = `org-${owner.id.slice(0, 8)}`;
  const creation = await services.access.instance(owner.caller, 'organization.create');
  const organization = await services.organizations.create(creation, { slug });
  const member = async (role: 'admin' | 'developer' | 'viewer'): Promise<TestUser> => {
    const user = await createUser(services);
    await enrol(services, owner, user, { organization: slug, role });
    return user;
  };
  const people = {
    owner,
    admin: await member('admin'),
    developer: await member('developer'),
    viewer: await member('viewer'),
    stranger: await createUser(services),
  };
  const project = await createProject(services, { organization, owner }, 'web');
  return createEnvironment(services, { ...people, organization, project } satisfies ProjectPlace, 'prod');
}

/** What random values stand for. */
type Labels = Map<string, string>;

const uuid = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

function labelsOf({ organization, project, environment, owner, admin, developer, viewer, stranger }: World): Labels {
  const labels: Labels = new Map([
    [organization.id, '<organization>'],
    [organization.slug, '<slug>'],
    [project.id, '<project>'],
    [environment.id, '<environment>'],
    [environment.revisionId, '<revision>'],
  ]);
  for (const [name, user] of Object.entries({ owner, admin, developer, viewer, stranger })) addUser(labels, name, user);
  return labels;
}

function addUser(labels: Labels, name: string, { id, email, caller }: TestUser): void {
  labels.set(id, `<${name}>`).set(email, `<address of ${name}>`).set(caller.requestId, `<request of ${name}>`);
  if ('credentialId' in caller.principal) labels.set(caller.principal.credentialId, `<token of ${name}>`);
}

/** A value with labels, with the lengths of bytes, and with times by their distance from now. */
function labelled(value: unknown, labels: Labels): unknown {
  if (value instanceof Date) return `<${Math.round((value.getTime() - Date.now()) / 3_600_000)} hours from now>`;
  if (value instanceof Uint8Array) return `<${value.length} bytes>`;
  if (typeof value === 'string') return labels.get(value) ?? value;
  if (Array.isArray(value)) return value.map((item) => labelled(item, labels));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, labelled(item, labels)]));
}

/** Rows in an order that does not depend on random values. Ids without a label get a number in this order. */
function labelledRows(rows: readonly object[], labels: Labels): unknown[] {
  const textOf = (row: object): string => JSON.stringify(labelled(row, labels)).replaceAll(uuid, '');
  const sorted = rows.toSorted((one, other) => (textOf(one) < textOf(other) ? -1 : 1));
  for (const id of JSON.stringify(sorted).match(uuid) ?? [])
    if (!labels.has(id)) labels.set(id, `<other ${labels.size}>`);
  return sorted.map((row) => labelled(row, labels));
}

interface Written {
  readonly tables: Readonly<Record<string, readonly unknown[]>>;
  readonly notices: readonly unknown[];
  /** The users by the time of their creation. */
  readonly order: unknown;
  readonly returned: unknown;
}

/** What the creation of a world leaves in a new database, sends to listeners, and returns. */
async function written(create: (services: TestServices) => Promise<World>): Promise<Written> {
  await using resources = new AsyncDisposableStack();
  const database = await createTestDatabase();
  resources.defer(() => database.drop());
  const services = await startServices(database.url);
  resources.defer(() => services.close());
  const client = new Client({ connectionString: database.url });
  await client.connect();
  resources.defer(() => client.end());
  const notices: object[] = [];
  client.on('notification', ({ payload = '' }) => notices.push(JSON.parse(payload) as object));
  await client.query(`LISTEN ${notifyChannel}`);
  const world = await create(services);
  const labels = labelsOf(world);
  const found = await client.query<{ name: string }>(
    `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename`,
  );
  const tables: Record<string, readonly unknown[]> = {};
  for (const { name } of found.rows) {
    const { rows } = await client.query<object>(`SELECT * FROM "${name}"`);
    tables[name] = labelledRows(rows, labels);
  }
  const { rows: order } = await client.query<object>(
    `SELECT u.id AS user_id, t.id FROM app_user u JOIN personal_token t ON t.user_id = u.id ORDER BY u.created_at, t.created_at`,
  );
  const records = Object.fromEntries(Object.entries(world).filter(([, value]) => typeof value === 'object'));
  return {
    tables,
    notices: labelledRows(notices, labels),
    order: labelled(order, labels),
    returned: labelled(records, labels),
  };
}

test('a world is what the services make of the same people', async () => {
  const [made, expected] = await Promise.all([written(createWorld), written(worldByServices)]);
  const { _prisma_migrations: _migrations, ...tables } = made.tables;
  expect(made.tables).toEqual(expected.tables);
  expect(made.notices).toEqual(expected.notices);
  expect(made.order).toEqual(expected.order);
  expect(made.returned).toEqual(expected.returned);
  const counts = Object.entries(tables).map(([name, rows]) => [name, rows.length] as const);
  expect(Object.fromEntries(counts.filter(([, count]) => count > 0))).toEqual({
    app_user: 5,
    audit_entry: 9,
    environment: 1,
    instance: 1,
    instance_key: 2,
    invitation: 3,
    membership: 4,
    organization: 1,
    personal_token: 5,
    project: 1,
  });
  expect(made.notices).toHaveLength(4);
});

describe('a user', () => {
  let services: TestServices;

  withServices((given) => ({ services } = given));

  test('is what the services make of an address, with a token that the user created', async () => {
    const { access, users, personalTokens, database } = services;
    const admin = await createUser(services, { instanceAdmin: true });
    const [made, other] = [await createUser(services), await createUser(services)];
    const email = 'ann@example.test';
    const { user } = await users.create(await access.instance(admin.caller, 'user.create'), { email });
    const input = { name: 'test' };
    const token = await personalTokens.create(await access.person(other.caller, 'personal_token.create'), input);
    const userRow = async (id: string): Promise<unknown> => {
      const { rows } = await database.pool.query<object>('SELECT * FROM app_user WHERE id = $1', [id]);
      return labelled(
        rows[0],
        new Map([
          [id, '<id>'],
          [made.email, '<email>'],
          [email, '<email>'],
        ]),
      );
    };
    expect(await userRow(made.id)).toEqual(await userRow(user.id));
    const tokenRow = async (id: string, by: TestUser): Promise<unknown> => {
      const { rows } = await database.pool.query<object>('SELECT * FROM personal_token WHERE id = $1', [id]);
      return labelled(
        { ...rows[0], last_used_at: null },
        new Map([
          [id, '<id>'],
          [by.id, '<user>'],
          [by.email, '<email>'],
        ]),
      );
    };
    const { principal } = made.caller;
    const madeToken = 'credentialId' in principal ? principal.credentialId : '';
    expect(await tokenRow(madeToken, made)).toEqual(await tokenRow(token.record.id, other));
  });

  test.each([{}, { instanceAdmin: true }, { email: 'bob@example.test' }])(
    'is the caller that authentication finds by the token: %j',
    async (options) => {
      const { token, caller } = await createUser(services, options);
      expect((await authenticated(services, token)).principal).toEqual(caller.principal);
    },
  );
});
