import { cpSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { dashboardPaths } from '../../../src/wire/dashboard-paths.ts';
import { buildDashboard, dashboardFolder } from '../../../tools/build/dashboard.ts';
import { type HttpAnswer, type TestApi, startTestApi } from '../../support/api/http.ts';

/** What a browser sends to open a page. */
const navigation = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

let api: TestApi;
let url: string;
beforeAll(async () => {
  await buildDashboard();
  api = await startTestApi({ dashboardFolder });
  url = `http://127.0.0.1:${api.port}`;
});
afterAll(() => api.close());

const get = (path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<HttpAnswer> =>
  api.client().request(method, path, { headers });

const assets = (): string[] =>
  readdirSync(join(dashboardFolder, 'assets')).filter((name) => !/\.(?:br|gz)$/.test(name));

describe('the page of the dashboard', () => {
  test.each(Object.values(dashboardPaths))('is at %s, for everyone, and is not stored', async (path) => {
    const { status, headers, text } = await get(path);
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(text).toBe(readFileSync(join(dashboardFolder, 'index.html'), 'utf8'));
    expect((await get(path, {}, 'POST')).status).toBe(405);
  });

  test('has no inline script or style, and loads from /assets alone', async () => {
    const { text } = await get('/');
    expect(text).not.toMatch(/<script(?![^>]* src=)|<style| style=| on[a-z]+=|javascript:|https?:/);
    const urls = [...text.matchAll(/<(?:script|link)[^>]* (?:src|href)="([^"]*)"/g)].map(([, found = '']) => found);
    expect(urls.length).toBeGreaterThan(2);
    for (const found of urls) {
      expect(found).toMatch(/^\/assets\/[\w.-]+-[\w-]{8}\.(?:js|css|svg)$/);
      expect((await fetch(url + found)).status).toBe(200);
    }
  });

  test('has a policy that allows this server alone, nothing inline, and no text as HTML', async () => {
    const policy = new Map(
      ((await get('/')).headers.get('content-security-policy') ?? '').split('; ').map((rule) => {
        const [directive = '', ...sources] = rule.split(' ');
        return [directive, sources.join(' ')];
      }),
    );
    expect(Object.fromEntries(policy)).toEqual({
      'default-src': "'none'",
      'script-src': "'self'",
      'style-src': "'self'",
      'font-src': "'self'",
      'img-src': "'self'",
      'connect-src': "'self'",
      'base-uri': "'none'",
      'form-action': "'none'",
      'frame-ancestors': "'none'",
      'require-trusted-types-for': "'script'",
      'trusted-types': "'none'",
    });
  });

  test('is what a browser gets at an unknown path, with status 404, and other clients get a problem', async () => {
    const shown = await get('/no-such-page', navigation);
    expect([shown.status, shown.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
    expect(shown.headers.get('content-security-policy')).toContain("script-src 'self'");
    for (const [path, headers] of [
      ['/no-such-page', { accept: '*/*' }],
      ['/no-such-page', {}],
      ['/api/v1/no-such-route', navigation],
    ] as const) {
      const { status, body } = await get(path, headers);
      expect([path, status, body]).toEqual([path, 404, expect.objectContaining({ code: 'not_found' })]);
    }
    expect((await get('/no-such-page', navigation, 'POST')).body).toMatchObject({ code: 'not_found' });
  });
});

describe('the files of the dashboard', () => {
  test('may be kept for ever, each with its own type, which no browser may guess', async () => {
    const types: Record<string, string> = {
      js: 'text/javascript; charset=utf-8',
      css: 'text/css; charset=utf-8',
      svg: 'image/svg+xml',
      woff2: 'font/woff2',
    };
    expect(assets().length).toBeGreaterThan(2);
    for (const name of assets()) {
      const { status, headers } = await fetch(`${url}/assets/${name}`);
      expect([name, status, headers.get('content-type')]).toEqual([name, 200, types[name.split('.').at(-1) ?? '']]);
      expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
    }
  });

  test.each([
    ['br, gzip', 'br'],
    ['gzip, deflate, br', 'br'],
    ['gzip', 'gzip'],
    ['br;q=0, gzip', 'gzip'],
    ['identity', null],
    ['deflate', null],
  ])('are sent to a client that accepts "%s" as %s', async (accepted, encoding) => {
    const name = assets().find((file) => /^packages-.*\.js$/.test(file)) ?? '';
    const answer = await fetch(`${url}/assets/${name}`, { headers: { 'accept-encoding': accepted } });
    const { headers } = answer;
    expect([headers.get('content-encoding'), headers.get('vary')]).toEqual([encoding, 'Accept-Encoding']);
    const original = readFileSync(join(dashboardFolder, 'assets', name));
    const isSmaller = Number(headers.get('content-length')) < original.length / 2;
    expect(isSmaller).toBe(encoding !== null);
    // `fetch` decodes it.
    expect(original.equals(Buffer.from(await answer.arrayBuffer()))).toBe(true);
  });

  test('are these alone, and read only', async () => {
    const [name = ''] = assets();
    expect((await fetch(`${url}/assets/${name}`, { method: 'POST' })).status).toBe(405);
    for (const path of [
      '/assets/',
      '/assets/index.js',
      `/assets/${name}/`,
      `/assets/${name}.br`,
      '/assets/..%2Findex.html',
      '/assets/..%2F..%2Fserver%2Fmain.js',
      '/index.html',
    ]) {
      expect([path, (await get(path)).status]).toEqual([path, 404]);
    }
  });

  test('have no source maps, and styles load from no other host', async () => {
    const names = readdirSync(dashboardFolder, { recursive: true, encoding: 'utf8' });
    expect(names.filter((name) => name.endsWith('.map'))).toEqual([]);
    const faults = assets().filter((name) => {
      const text = readFileSync(join(dashboardFolder, 'assets', name), 'utf8');
      return (
        text.includes('sourceMappingURL') || (name.endsWith('.css') && /url\(["']?(?:https?:|\/\/|data:)/.test(text))
      );
    });
    expect(faults).toEqual([]);
  });

  test('are at most 250 KB of script at first load, compressed', () => {
    const scripts = readdirSync(join(dashboardFolder, 'assets')).filter((name) => name.endsWith('.js.gz'));
    const sizes = scripts.map((name) => readFileSync(join(dashboardFolder, 'assets', name)).length);
    expect(sizes.reduce((total, size) => total + size, 0)).toBeLessThan(250_000);
  });
});

test('a server without the dashboard shows the start page, and the dashboard once it is built', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'keyframe-dashboard-'));
  const other = await startTestApi({ dashboardFolder: join(folder, 'dashboard') });
  try {
    const page = async (path: string): Promise<Response> =>
      fetch(`http://127.0.0.1:${other.port}${path}`, { headers: navigation });
    expect(await (await page('/')).text()).toContain('href="/docs"');
    for (const path of [dashboardPaths.sessions, '/no-such-page', '/assets/index.js']) {
      const answer = await page(path);
      expect([answer.status, await answer.json()]).toEqual([404, expect.objectContaining({ code: 'not_found' })]);
    }
    cpSync(dashboardFolder, join(folder, 'fresh'), { recursive: true });
    renameSync(join(folder, 'fresh'), join(folder, 'dashboard'));
    expect(await (await page('/')).text()).toContain('<div id="root">');
  } finally {
    await other.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
