import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { documentationRouter } from '../../../src/http/documentation.ts';
import { RateLimits, noRateLimits } from '../../../src/http/admission/rate-limits.ts';
import { WorkLimit } from '../../../src/http/admission/work-limit.ts';
import { bareApp, listenerOf } from '../../../src/http/bare-app.ts';
import { errorHandler } from '../../../src/http/middleware/error-handler.ts';
import { openContext } from '../../../src/http/request-context.ts';
import { publicContentSender } from '../../../src/http/response/public-content.ts';
import { unknownPath } from '../../../src/http/router.ts';
import { HttpServer } from '../../../src/http/server.ts';
import { buildDocumentation, documentationFolder, publishedPages } from '../../../tools/build/documentation.ts';
import { checkoutDirectory } from '../../../tools/checkout.ts';
import { nonEmpty } from '../../support/fixtures/non-empty.ts';

const servers: HttpServer[] = [];
let url: string;

async function serve(folder: string | undefined): Promise<string> {
  const app = bareApp();
  app.use((request, _response, next) => {
    openContext(request, { id: 'test', route: 'unmatched' });
    next();
  });
  const limits = { rateLimits: new RateLimits({ ...noRateLimits }), workLimit: new WorkLimit() };
  app.use(documentationRouter(folder, publicContentSender(limits)), unknownPath, errorHandler);
  const names = { portVariable: 'KEYFRAME_PORT', hostVariable: 'KEYFRAME_HOST' };
  const server = await HttpServer.listen(listenerOf(app), { host: '127.0.0.1', port: 0, ...names });
  servers.push(server);
  return `http://127.0.0.1:${server.port}`;
}

beforeAll(async () => {
  await buildDocumentation();
  url = await serve(documentationFolder);
});
afterAll(() => Promise.all(servers.map((server) => server.close(0))));

const get = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(url + path, { headers, redirect: 'manual' });

/** The pages by their paths. */
const pages = new Map<string, string>();
beforeAll(async () => {
  for (const page of publishedPages()) {
    const path = `/docs/${page.replace(/^docs\//, '')}`;
    const response = await get(path);
    if (response.status === 200) pages.set(path, await response.text());
  }
});

describe('the pages at /docs', () => {
  test('are those of docs/ for users, and what they often lead to', () => {
    expect([...pages.keys()]).toEqual(
      expect.arrayContaining(['/docs/alerts.md', '/docs/resources/secret-sync.md', '/docs/charts/keyframe/README.md']),
    );
    expect(pages.size).toBe(publishedPages().length);
    expect(pages.size).toBeGreaterThan(35);
  });

  test('lead only to pages and headings that the server has', async () => {
    const links = [...pages].flatMap(([page, html]) =>
      Array.from(html.matchAll(/ (?:href|src)="(?!https?:|mailto:)([^"]*)"/g), ([, href = '']) => {
        const [path = '', anchor] = href.split('#');
        return { page, path: path === '' ? page : path, anchor };
      }),
    );
    expect(links.length).toBeGreaterThan(500);
    const lost = links.filter(
      ({ path, anchor }) => anchor !== undefined && pages.get(path)?.includes(` id="${anchor}"`) !== true,
    );
    expect(lost).toEqual([]);
    const elsewhere = new Set(links.map(({ path }) => path).filter((path) => !pages.has(path)));
    const own = ['/', '/docs/api', '/favicon.ico', '/openapi.json'];
    const files = [...elsewhere].filter((path) => !own.includes(path));
    expect(files).toContain('/docs/pages.css');
    for (const path of files) expect([path, (await get(path)).status]).toEqual([path, 200]);
  });

  test('have no script and no style of their own, and a policy that allows neither', async () => {
    for (const [page, html] of nonEmpty([...pages])) {
      expect([page, html.match(/<script|<style|<form|<iframe| style=| on[a-z]+="|="javascript:/i)]).toEqual([
        page,
        null,
      ]);
    }
    const { headers } = await get('/docs/alerts.md');
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
  });

  test('show the Markdown of a page as text, tables and code', () => {
    const html = pages.get('/docs/alerts.md') ?? '';
    expect(html).toContain('<title>Alerts and what to do · Keyframe</title>');
    expect(html).toContain('<h2 id="keyframenoleader">KeyframeNoLeader</h2>');
    expect(html).toContain('<td><code>keyframe_resource_ready{kind,namespace,name,reason}</code></td>');
    expect(html).toContain('<a href="/docs/install.md#failover">Failover</a>');
    // The sources are not served.
    expect(html).toContain(' charts/keyframe/files/alerts.yaml has the expressions.');
  });

  test('are compressed for clients that take it, and sent again only if they changed', async () => {
    const [plain, packed] = await Promise.all(
      ['identity', 'br'].map((encoding) => get('/docs/alerts.md', { 'accept-encoding': encoding })),
    );
    expect([plain, packed].map((response) => response?.headers.get('content-encoding') ?? null)).toEqual([null, 'br']);
    expect(plain?.headers.get('cache-control')).toBe('no-cache');
    const tags = [plain, packed].map((response) => response?.headers.get('etag') ?? '');
    expect(new Set(tags).size).toBe(2);
    const again = await get('/docs/alerts.md', { 'accept-encoding': 'identity', 'if-none-match': tags[0] ?? '' });
    expect([again.status, await again.text()]).toEqual([304, '']);
  });

  test('have the schemas for editors beside them', async () => {
    const schema = await get('/docs/schemas/keyframe.dev/secretsync_v1alpha1.json');
    expect([schema.status, schema.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
    expect(await schema.json()).toMatchObject({ title: 'SecretSync', additionalProperties: false });
  });

  test.each([
    '/docs/nowhere.md',
    '/docs/alerts.md.html',
    '/docs/alerts.md.br',
    '/docs/alerts',
    '/docs/ARCHITECTURE.md',
    '/docs/internals/http.md',
    '/docs/..%2Fpackage.json',
    '/docs/resources/..%2Falerts.md',
    '/docs/__proto__',
    '/docs/',
  ])('do not include %s', async (path) => {
    expect((await get(path)).status).toBe(404);
  });

  test('begin with the list of pages, and without pages /docs leads to the interface', async () => {
    const begin = await get('/docs');
    expect([begin.status, begin.headers.get('location')]).toEqual([302, '/docs/README.md']);
    const bare = await fetch(`${await serve(undefined)}/docs`, { redirect: 'manual' });
    expect([bare.status, bare.headers.get('location')]).toEqual([302, '/docs/api']);
  });
});

/** The files below a folder whose texts users read. */
function textsBelow(folder: string): string[] {
  return readdirSync(join(checkoutDirectory, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(?:tsx?|yaml|tpl|txt|html)$/.test(name) && !name.includes('generated/'))
    .map((name) => join(folder, name));
}

test('each page that a message, an alert or a note of the chart names is one of them', () => {
  const named = ['src', 'charts/keyframe'].flatMap(textsBelow).flatMap((file) => {
    const text = readFileSync(join(checkoutDirectory, file), 'utf8').replaceAll(
      /\/\*\*?[^]*?\*\/|^ *(?:\/\/|#) .*$/gm,
      '',
    );
    return Array.from(text.matchAll(/\bdocs\/[\w/-]+\.md(?:#[\w-]+)?/g), ([page]) => ({ file, page }));
  });
  expect(named.length).toBeGreaterThan(15);
  const absent = named.filter(({ page }) => {
    const [path = '', anchor] = page.split('#');
    const html = pages.get(`/${path}`);
    return html === undefined || (anchor !== undefined && !html.includes(` id="${anchor}"`));
  });
  expect(absent).toEqual([]);
});
