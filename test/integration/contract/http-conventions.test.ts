import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type HttpAnswer, type HttpClient, expectProblem } from '../../support/api/http.ts';
import { sentence } from '../../support/fixtures/interface-sentences.ts';
import { ContractSite, type Place, instant } from './contract-site.ts';

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

async function openApi(): Promise<{ readonly document: { readonly paths: object }; readonly text: string }> {
  const { body, text } = await site.client().request('GET', '/openapi.json');
  return { document: body as { paths: object }, text };
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

describe('the conventions of the interface', () => {
  test(`are JSON in answers and bodies, and times in UTC ${sentence('0.1', '0.2')}`, async () => {
    const found = await answers();
    for (const answer of found) {
      expect([200, 201]).toContain(answer.status);
      expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
      expect(typeof answer.body).toBe('object');
    }
    const times = found.map(({ body }) => timesIn(body));
    expect(times.flat().length).toBeGreaterThan(20);
    for (const time of times.flat()) {
      expect(time).toMatch(instant);
      expect(new Date(String(time)).toISOString()).toBe(time);
    }
    // Every kind of answer has its times, but for the restore's and the caller's own, which have none.
    expect(times.filter((list) => list.length === 0)).toHaveLength(2);
    const path = `/secrets/${place.path}/KEY`;
    const missing = await owner.send('GET', `/secrets/${place.path}/NONE`);
    expect(missing.headers.get('content-type')).toBe('application/problem+json');
    const asText = owner.send('PUT', path, '{"value":"other"}', { 'content-type': 'text/plain' });
    await expectProblem(asText, 'unsupported_media_type');
    await expectProblem(owner.send('PUT', path, "{'value': 'other'}"), 'malformed_request');
  });

  test(`name places by slugs, and not by ids ${sentence('4.0.2')}`, async () => {
    const { slug } = site.project;
    for (const kind of ['secrets', 'snapshots', 'changes']) {
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

  test(`have no webhooks or notifications ${sentence('6.1')}`, async () => {
    const { document, text } = await openApi();
    expect(Object.keys(document)).not.toContain('webhooks');
    expect(text).not.toMatch(/webhook|callback/i);
    const paths = Object.keys(document.paths);
    expect(paths.filter((path) => /hook|notif|event|subscri/i.test(path))).toEqual([]);
    for (const path of ['/webhooks/acme', '/notifications/acme', `/webhooks/${place.path}`]) {
      await expectProblem(owner.send('GET', path), 'not_found');
    }
  });

  test(`are below the prefix of the version ${sentence('9.1')}`, async () => {
    const { document } = await openApi();
    const outside = Object.keys(document.paths).filter((path) => !path.startsWith('/api/v1/'));
    expect(outside).toEqual(['/healthz', '/readyz', '/cli', '/cli.sha256']);
    expect((await owner.request('GET', `/api/v1/secrets/${place.path}`)).status).toBe(200);
    for (const prefix of ['', '/v1', '/api', '/api/v2', '/api/v1/api/v1']) {
      expect((await owner.request('GET', `${prefix}/secrets/${place.path}`)).status).toBe(404);
    }
  });
});
