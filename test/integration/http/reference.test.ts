import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { openApiDocument } from '../../../src/http/openapi/document.ts';
import { type HttpAnswer, type TestApi, startTestApi } from '../../support/api/http.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

const get = (path: string, method = 'GET'): Promise<HttpAnswer> => api.client().request(method, path);

describe('/openapi.json', () => {
  test('is the committed document, for everyone', async () => {
    const { status, body } = await get('/openapi.json');
    expect(status).toBe(200);
    const committed: unknown = JSON.parse(readFileSync(new URL('../../../docs/openapi.json', import.meta.url), 'utf8'));
    expect(body).toEqual(committed);
  });

  test('is read only', async () => {
    expect((await get('/openapi.json', 'POST')).status).toBe(405);
  });
});

describe('the page at /', () => {
  test('has an icon, and every link leads to something', async () => {
    const page = await get('/');
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    const urls = [...page.text.matchAll(/ href="([^"]*)"/g)].map(([, url = '']) => url);
    expect(urls).toEqual(['/favicon.ico', '/cli', '/cli.sha256', '/docs', '/docs/api', '/openapi.json']);
    const icon = await get('/favicon.ico');
    expect([icon.status, icon.headers.get('content-type')]).toEqual([200, 'image/png']);
    // The API of this test has no built command.
    for (const url of urls.filter((path) => !path.startsWith('/cli'))) expect((await get(url)).status).toBe(200);
    expect(Object.keys(openApiDocument().paths ?? {})).toEqual(expect.arrayContaining(['/cli', '/cli.sha256']));
  });

  test('has no script, and its policy allows this one style', async () => {
    const { text, headers } = await get('/');
    expect(text).not.toMatch(/<script| style=| on[a-z]+=|javascript:|https?:/);
    const [, style = ''] = /<style>([^]*)<\/style>/.exec(text) ?? [];
    const digest = createHash('sha256').update(style).digest('base64');
    expect(headers.get('content-security-policy')).toBe(
      `default-src 'none'; style-src 'sha256-${digest}'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    );
  });

  test.each(['/', '/favicon.ico'])('%s is read only, and no other path is there', async (path) => {
    expect((await get(path, 'POST')).status).toBe(405);
    expect((await get(`${path}x`)).status).toBe(404);
  });
});

describe('the page at /docs/api', () => {
  test('loads from this server alone, and all that it loads is there', async () => {
    const page = await get('/docs/api');
    expect(page.status).toBe(200);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const urls = [...page.text.matchAll(/ (?:src|href)="([^"]*)"/g)].map(([, url = '']) => url);
    expect(urls).toContain('/docs/swagger-ui-bundle.js');
    for (const url of urls) {
      expect(url).toMatch(/^\/[a-z]/);
      const { status, text } = await get(url);
      expect([url, status]).toEqual([url, 200]);
      expect(text.length).toBeGreaterThan(100);
    }
  });

  test('has no inline script or style, and a policy that would refuse one, or another host', async () => {
    const { text, headers } = await get('/docs/api');
    expect(text).not.toMatch(/<script(?![^>]* src=)|<style| style=| on[a-z]+=|javascript:/);
    const policy = new Map(
      (headers.get('content-security-policy') ?? '').split('; ').map((rule) => {
        const [directive = '', ...sources] = rule.split(' ');
        return [directive, sources.join(' ')];
      }),
    );
    expect(policy.get('default-src')).toBe("'none'");
    for (const directive of ['script-src', 'style-src']) expect(policy.get(directive)).toBe("'self'");
    expect(policy.get('img-src')).toBe("'self' data:");
    expect(policy.get('frame-ancestors')).toBe("'none'");
    // Without allow-same-origin, the page has no access to the cookies of the server.
    expect(policy.get('sandbox')).toBe('allow-scripts');
    expect([...policy.values()].join(' ')).not.toMatch(/unsafe|https?:|\*/);
  });

  test('gives each file its own type, which no browser may guess', async () => {
    for (const [path, type] of [
      ['/docs/swagger-ui-bundle.js', 'text/javascript; charset=utf-8'],
      ['/docs/reference.js', 'text/javascript; charset=utf-8'],
      ['/docs/swagger-ui.css', 'text/css; charset=utf-8'],
      ['/docs/reference.css', 'text/css; charset=utf-8'],
      ['/docs/favicon-32x32.png', 'image/png'],
    ] as const) {
      const { headers } = await get(path);
      expect([path, headers.get('content-type')]).toEqual([path, type]);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
    }
  });

  test('reveals to no other host where this server is', async () => {
    const { text } = await get('/docs/reference.js');
    expect(text).toContain('validatorUrl: null');
    // The document has examples of addresses, which nothing requests.
    expect(text.replace(/^ {2}spec: .*$/m, '')).not.toMatch(/https?:/);
  });

  test('lists the operations and takes the colours that its reader prefers', async () => {
    expect((await get('/docs/reference.js')).text).toMatch(/docExpansion: 'list'[^]*prefers-color-scheme: dark/);
  });

  test('gives away no other file of the package', async () => {
    for (const path of ['/docs/package.json', '/docs/index.html', '/docs/..%2Fpackage.json', '/docs/']) {
      expect((await get(path)).status).toBe(404);
    }
  });
});
