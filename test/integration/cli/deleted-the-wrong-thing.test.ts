import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { SecretListView } from '../../../src/wire/secrets.ts';
import { type HttpClient, startTestApi } from '../../support/api/http.ts';
import { createUser } from '../../support/api/services.ts';
import { CliRunner } from '../../support/cli/cli.ts';
import { type DocumentedCommand, documentedCommands } from '../../support/cli/documented-commands.ts';
import { readPage } from '../../support/fixtures/documentation.ts';
import { type BlockEnd, expectAsDocumented, followSession, sessionScript } from './documented-session.ts';

/** Each story of docs/deleted-the-wrong-thing.md is typed at a terminal as it stands, against a server of its own. */

const page = readPage('docs/deleted-the-wrong-thing.md');
const headings = page.split('\n').flatMap((text, index) => (text.startsWith('## ') ? [{ text, line: index + 1 }] : []));
const blocks = documentedCommands(page);

function blocksBelow(heading: string): readonly DocumentedCommand[] {
  return blocks.filter(({ line }) => headings.findLast((one) => one.line < line)?.text === `## ${heading}`);
}

type Values = Readonly<Record<string, string>>;

/** The owner of acme, and what the stories begin with. */
class Owner {
  readonly #client: HttpClient;

  constructor(client: HttpClient) {
    this.#client = client;
  }

  async create(path: string, body: object): Promise<void> {
    await this.#client.expectStatus(201, 'POST', path, body);
  }

  /** One revision of production. */
  async write(set: Values, deleted: readonly string[] = [], comment?: string): Promise<void> {
    await this.patch('production', { set, delete: deleted, ...(comment === undefined ? {} : { comment }) });
  }

  async patch(environment: string, body: object): Promise<void> {
    await this.#client.expectStatus(200, 'PATCH', `/secrets/acme/shop/${environment}`, body);
  }

  async createToken(name: string): Promise<void> {
    const path = '/environments/acme/shop/production';
    const { id: environmentId } = await this.#client.expectStatus<{ id: string }>(200, 'GET', path);
    const token = { name, scope: 'environment', environmentId, permission: 'read' };
    await this.create('/service-tokens/acme', token);
  }

  async values(): Promise<Values> {
    const list = await this.#client.expectStatus<SecretListView>(200, 'GET', '/secrets/acme/shop/production');
    return Object.fromEntries(list.secrets.map(({ key, value }) => [key, value]));
  }
}

interface Story {
  readonly heading: string;
  readonly before: (owner: Owner) => Promise<void>;
  /** What production holds at the end. */
  readonly values: Values;
}

const stories: readonly Story[] = [
  {
    heading: 'I deleted the wrong key',
    before: async (owner) => {
      await owner.write({ API_KEY: 'key', LOG_LEVEL: 'info', SMTP_PASSWORD: 'first' });
      await owner.write({ SMTP_PASSWORD: 'second' });
      await owner.write({}, ['SMTP_PASSWORD']);
      await owner.write({ LOG_LEVEL: 'warn' });
    },
    values: { API_KEY: 'key', LOG_LEVEL: 'warn', SMTP_PASSWORD: 'second' },
  },
  {
    heading: 'I deleted the environment',
    before: async (owner) => {
      await owner.write({ API_KEY: 'key', LOG_LEVEL: 'info' });
      await owner.createToken('deploy');
    },
    values: { API_KEY: 'key', LOG_LEVEL: 'info' },
  },
  {
    heading: 'Take just DB_* back',
    before: async (owner) => {
      await owner.write({ API_KEY: 'key', DB_HOST: 'old', DB_PASSWORD: 'old', DB_USER: 'old', LOG_LEVEL: 'info' });
      await owner.create('/snapshots/acme/shop/production', { name: 'before-migration' });
      await owner.write({ DB_HOST: 'new', DB_POOL_SIZE: '5', DB_USER: 'new', LOG_LEVEL: 'warn' }, ['DB_PASSWORD']);
    },
    values: {
      API_KEY: 'key',
      DB_HOST: 'old',
      DB_PASSWORD: 'old',
      DB_POOL_SIZE: '5',
      DB_USER: 'old',
      LOG_LEVEL: 'warn',
    },
  },
  {
    heading: 'Undo revision 41',
    before: async (owner) => {
      await owner.write({ CACHE_TTL: '1', DB_HOST: 'old', DB_PASSWORD: 'old', LOG_LEVEL: 'info' });
      for (let revision = 2; revision < 41; revision += 1) await owner.write({ BUILD: String(revision) });
      await owner.write({ CACHE_TTL: '2', DB_HOST: 'new' }, ['DB_PASSWORD'], 'move the database');
      await owner.write({ LOG_LEVEL: 'warn' });
      await owner.write({ CACHE_TTL: '3' });
    },
    values: { BUILD: '40', CACHE_TTL: '3', DB_HOST: 'old', DB_PASSWORD: 'old', LOG_LEVEL: 'warn' },
  },
  {
    heading: "Bring staging's changes to production",
    before: async (owner) => {
      await owner.create('/environments/acme/shop', { slug: 'staging' });
      await owner.patch('staging', { set: { DB_HOST: 'staging', FEATURE: 'on', LOG_LEVEL: 'info' } });
      await owner.write({ DB_HOST: 'production', LICENSE: 'x', LOG_LEVEL: 'info' });
    },
    values: { DB_HOST: 'production', FEATURE: 'on', LICENSE: 'x', LOG_LEVEL: 'info' },
  },
];

test('every section with commands is a story', () => {
  const found = headings.map(({ text }) => text.slice(3)).filter((heading) => blocksBelow(heading).length > 0);
  expect(found).toEqual(stories.map(({ heading }) => heading));
  expect(stories.flatMap(({ heading }) => blocksBelow(heading))).toHaveLength(blocks.length);
});

describe.each(stories)('«$heading»', ({ heading, before, values }) => {
  const resources = new AsyncDisposableStack();
  let owner: Owner;
  let ends: ReadonlyMap<number, BlockEnd>;

  beforeAll(async () => {
    const api = await startTestApi();
    resources.defer(() => api.close());
    const { token } = await createUser(api.services, { instanceAdmin: true });
    owner = new Owner(api.client(token));
    await owner.create('/organizations', { slug: 'acme' });
    await owner.create('/projects/acme', { slug: 'shop' });
    await owner.create('/environments/acme/shop', { slug: 'production' });
    await before(owner);
    const cli = await CliRunner.create({ url: `http://127.0.0.1:${api.port}`, token });
    resources.defer(() => cli.remove());
    await cli.output(['init', '-o', 'acme', '-p', 'shop', '-e', 'production']);
    const own = blocksBelow(heading);
    ends = await followSession(cli.startBashOnTerminal(sessionScript(own), { limitMs: 240_000 }), own);
  });

  afterAll(() => resources.disposeAsync());

  test.each(blocksBelow(heading).map((block) => ({ ...block, name: `line ${block.line}` })))(
    '$name does what it says',
    (block) => expectAsDocumented(ends, block),
  );

  test('production holds what it should', async () => {
    expect(await owner.values()).toEqual(values);
  });
});
