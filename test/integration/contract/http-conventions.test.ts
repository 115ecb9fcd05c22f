import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type HttpAnswer, type HttpClient, expectProblem } from '../../support/api/http.ts';
import { ContractSite, type Named, type Place, instant } from './contract-site.ts';
import { sentence } from './sentence.ts';

let site: ContractSite;
let owner: HttpClient;
let place: Place;

beforeAll(async () => {
  site = await ContractSite.start();
  owner = site.owner.client;
});

beforeEach(async () => {
  place = await site.newEnvironment();
  await place.set({ KEY: 'value' });
});

afterAll(() => site.close());

interface Operation {
  readonly callbacks?: unknown;
  /** Empty for an operation that needs no header. */
  readonly security?: readonly unknown[];
}

/** The parts of the served OpenAPI document that these tests look at. */
interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

async function openApi(): Promise<{ readonly document: OpenApiDocument; readonly text: string }> {
  const { body, text } = await site.client().request('GET', '/openapi.json');
  return { document: body as OpenApiDocument, text };
}

/** One answer of each kind that has a body. */
async function answers(): Promise<readonly HttpAnswer[]> {
  const { id } = await place.snapshot({ name: 'release' });
  const { record } = await site.newMachine();
  const requests: readonly (readonly [string, string, unknown?])[] = [
    ['GET', `/secrets/${place.path}`],
    ['GET', `/secrets/${place.path}/KEY`],
    ['PUT', `/secrets/${place.path}/KEY`, { value: 'other' }],
    ['GET', `/versions/${place.path}/KEY`],
    ['GET', `/versions/${place.path}/KEY/1`],
    ['POST', `/versions/${place.path}/KEY/rollback`, { targetVersion: 1 }],
    ['POST', `/snapshots/${place.path}`, {}],
    ['GET', `/snapshots/${place.path}`],
    ['POST', `/snapshots/${place.path}/restore`, { snapshotId: id }],
    ['GET', `/service-tokens/acme`],
    ['GET', `/service-tokens/acme/${record.id}`],
    ['GET', `/environments/${place.path}`],
    ['GET', `/changes/${place.path}`],
    ['GET', '/audit/acme'],
    ['GET', '/me'],
  ];
  const found: HttpAnswer[] = [];
  for (const [method, path, body] of requests) found.push(await owner.send(method, path, body));
  return found;
}

/** The texts of all fields of a JSON value whose names say that they are times. */
function timesIn(value: unknown): readonly unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, field]) => {
    const isTime = /(?:At|^at)$/.test(name) && field !== null;
    return isTime ? [field] : timesIn(field);
  });
}

describe('the conventions of the interface over HTTP', () => {
  test(sentence('0.1', 'http'), async () => {
    for (const answer of await answers()) {
      expect([200, 201]).toContain(answer.status);
      expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
      expect(typeof answer.body).toBe('object');
    }
    const path = `/secrets/${place.path}/KEY`;
    for (const body of ['{"value": "other"', 'value=other', "{'value': 'other'}", '"other"x']) {
      await expectProblem(owner.send('PUT', path, body), 'malformed_request');
    }
    const asText = owner.send('PUT', path, '{"value":"other"}', { 'content-type': 'text/plain' });
    await expectProblem(asText, 'unsupported_media_type');
    const missing = await owner.send('GET', `/secrets/${place.path}/NONE`);
    expect([missing.headers.get('content-type'), missing.body]).toEqual([
      'application/problem+json',
      expect.objectContaining({ status: 404, code: 'not_found' }),
    ]);
  });

  test(sentence('0.2', 'http'), async () => {
    const found = await answers();
    const times = found.map(({ body }) => timesIn(body));
    expect(times.flat().length).toBeGreaterThan(20);
    for (const time of times.flat()) {
      expect(time).toMatch(instant);
      expect(new Date(String(time)).toISOString()).toBe(time);
    }
    // Every kind of answer has its times, but for the restore's and the caller's own, which have none.
    expect(times.filter((list) => list.length === 0)).toHaveLength(2);
  });

  test(sentence('1.0', 'http'), async () => {
    const organization = await owner.expectStatus<Named>(201, 'POST', '/organizations', { slug: 'tree' });
    const project = await owner.expectStatus<Named>(201, 'POST', '/projects/tree', { slug: 'web' });
    const values = { prod: 'of prod', test: 'of test' };
    for (const [slug, value] of Object.entries(values)) {
      await owner.expectStatus(201, 'POST', '/environments/tree/web', { slug });
      await owner.expectStatus(201, 'PUT', `/secrets/tree/web/${slug}/KEY`, { value });
    }
    for (const [slug, value] of Object.entries(values)) {
      expect(await owner.expectStatus(200, 'GET', `/secrets/tree/web/${slug}`)).toMatchObject({
        secrets: [{ key: 'KEY', value }],
      });
      const environment = await owner.expectStatus<Named>(200, 'GET', `/environments/tree/web/${slug}`);
      const [stored] = await site.stored.versions(environment.id, 'KEY');
      expect(stored?.binding.slice(0, 3)).toEqual([organization.id, project.id, environment.id]);
      expect(stored?.sealed.includes(value)).toBe(false);
    }
    await expectProblem(owner.send('POST', '/projects/none', { slug: 'web' }), 'not_found');
    await expectProblem(owner.send('POST', '/environments/tree/none', { slug: 'prod' }), 'not_found');
    await expectProblem(owner.send('PUT', '/secrets/tree/web/none/KEY', { value: 'value' }), 'not_found');
  });

  test(sentence('4.0.1', 'http'), async () => {
    const { document } = await openApi();
    const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods)
        // Those that begin a sign-in need no header.
        .filter(([, { security }]) => security === undefined)
        .map(([method]) => [method.toUpperCase(), path] as const),
    );
    const asked = operations.filter(([, path]) => path.startsWith('/api/'));
    expect(asked.length).toBeGreaterThan(50);
    const [organization, project, environment] = place.path.split('/');
    const parts: Readonly<Record<string, string | undefined>> = { org: organization, project, env: environment };
    for (const [method, path] of asked) {
      const known = path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => parts[name] ?? 'KEY');
      const answer = await site.client().request(method, known);
      expect([method, path, answer.status]).toEqual([method, path, 401]);
      expect(answer.body).toMatchObject({ code: 'unauthenticated' });
    }
    expect(await place.values()).toEqual({ KEY: 'value' });
  });

  test(sentence('4.0.2', 'http'), async () => {
    const kinds = ['secrets', 'snapshots', 'changes'];
    const { slug } = site.project;
    for (const kind of kinds) {
      await owner.expectStatus(200, 'GET', `/${kind}/acme/${slug}/${place.slug}`);
      const wrong = [
        `/${kind}/${site.organization.id}/${slug}/${place.slug}`,
        `/${kind}/acme/${site.project.id}/${place.slug}`,
        `/${kind}/acme/${slug}/${place.id}`,
        `/${kind}/none/${slug}/${place.slug}`,
        `/${kind}/acme/none/${place.slug}`,
        `/${kind}/acme/${slug}/none`,
      ];
      for (const path of wrong) await expectProblem(owner.send('GET', path), 'not_found');
    }
    await owner.expectStatus(200, 'GET', '/service-tokens/acme');
    await expectProblem(owner.send('GET', `/service-tokens/${site.organization.id}`), 'not_found');
    await owner.expectStatus(200, 'GET', `/versions/${place.path}/KEY`);
    await expectProblem(owner.send('GET', `/secrets/Acme/${slug}/${place.slug}`), 'invalid_input');
  });

  test(sentence('4.5', 'http'), async () => {
    await place.set({ KEY: 'two', OTHER: '', A: 'ü\u{1f511}\n' });
    const path = `/secrets/${place.path}`;
    const machine = await site.newMachine({
      scope: 'environment',
      environmentId: place.id,
      permission: 'read',
    });
    const { revision, revisionId } = await owner.expectStatus<{ revision: number; revisionId: string }>(
      200,
      'GET',
      `/environments/${place.path}`,
    );
    for (const client of [machine.client, owner]) {
      const updatedAt = expect.stringMatching(instant);
      const answer = await client.send('GET', path);
      expect([answer.status, answer.body]).toEqual([
        200,
        {
          secrets: [
            { key: 'A', value: 'ü\u{1f511}\n', version: 1, updatedAt },
            { key: 'KEY', value: 'two', version: 2, updatedAt },
            { key: 'OTHER', value: '', version: 1, updatedAt },
          ],
          revision,
          revisionId,
        },
      ]);
    }
  });

  test(sentence('6.1', 'http'), async () => {
    const { document, text } = await openApi();
    expect(Object.keys(document)).not.toContain('webhooks');
    expect(text).not.toMatch(/webhook|callback/i);
    const paths = Object.keys(document.paths);
    expect(paths.filter((path) => /hook|notif|event|subscri/i.test(path))).toEqual([]);
    for (const path of ['/webhooks/acme', '/notifications/acme', `/webhooks/${place.path}`]) {
      await expectProblem(owner.send('GET', path), 'not_found');
    }
  });

  test(sentence('9.1', 'http'), async () => {
    const { document } = await openApi();
    const outside = Object.keys(document.paths).filter((path) => !path.startsWith('/api/v1/'));
    expect(outside).toEqual(['/healthz', '/readyz', '/cli', '/cli.sha256']);
    expect((await owner.request('GET', `/api/v1/secrets/${place.path}`)).status).toBe(200);
    for (const prefix of ['', '/v1', '/api', '/api/v2', '/api/v1/api/v1']) {
      expect((await owner.request('GET', `${prefix}/secrets/${place.path}`)).status).toBe(404);
    }
  });
});
