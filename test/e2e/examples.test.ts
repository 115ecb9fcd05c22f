import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ServiceToken } from '../../src/controller/generated/service-token.ts';
import { buildPatienceMs } from '../support/cluster/cluster-cache.ts';
import { exampleThemes } from '../support/fixtures/example-page.ts';
import { ExampleSite } from '../support/fixtures/example-site.ts';
import { ageToken } from '../support/cluster/resource-rows.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';
import { Workloads } from '../support/cluster/workloads.ts';

const resources = new AsyncDisposableStack();
let site: ExampleSite;

beforeAll(async () => {
  site = await ExampleSite.start(resources);
}, 60_000 + buildPatienceMs);

afterAll(() => resources.disposeAsync());

const run = (command: string): Promise<string> => site.run(command);
const step = (heading: string, number: number): Promise<string> => site.step(heading, number);
const valuesOf = (namespace: string, name: string): ReturnType<ExampleSite['values']> => site.values(namespace, name);

describe('«Several teams»', () => {
  test('two teams get what their grants cover, report what is missing otherwise, and lose it with the label', async () => {
    const heading = 'Several teams';
    await step(heading, 1);
    expect(await valuesOf('payments', 'app')).toEqual({ STRIPE_KEY: 'sk-payments' });
    expect(await valuesOf('search', 'app')).toEqual({ INDEX_KEY: 'ix-search' });
    for (const team of ['payments', 'search']) {
      expect(await valuesOf(team, 'shared')).toEqual({ CA_URL: 'https://ca.example' });
    }
    const dashboard = (await valuesOf('payments', 'dashboard'))?.['token'];
    expect(await site.answer(dashboard, 'payments/production')).toBe(200);
    expect(await site.answer(dashboard, 'search/production')).toBe(404);
    await site.stack.admin
      .as((await valuesOf('payments', 'seed-staging'))?.['token'] ?? '')
      .call('PATCH', '/secrets/acme/payments/staging', { set: { SEED: 'x' } });
    await step(heading, 2);
    await waitFor('the SecretSync to report what it lacks', async () => {
      const peek = await site.ready('search', 'secretsyncs', 'peek');
      expect(peek).toMatchObject({
        reason: 'AccessDenied',
        message: expect.stringContaining('The namespace is granted'),
      });
      return true;
    });
    for (const [namespace, plural, name] of [
      ['search', 'servicetokens', 'dashboard'],
      ['payments', 'servicetokens', 'write-production'],
      ['payments', 'secretsnapshots', 'of-production'],
    ] as const) {
      expect(await site.ready(namespace, plural, name)).toMatchObject({ status: 'False', reason: 'AccessDenied' });
    }
    expect(await site.secret('search', 'peek')).toBeUndefined();
    expect(await site.secret('search', 'dashboard')).toBeUndefined();
    await step(heading, 3);
    expect(await site.answer(dashboard, 'payments/production')).toBe(401);
    expect(await valuesOf('payments', 'app')).toEqual({ STRIPE_KEY: 'sk-payments' });
    await step(heading, 4);
    expect(await site.answer(dashboard, 'payments/production')).toBe(200);
  });
});

describe('«A canary beside a pinned production»', () => {
  test('production stays on its release until the pin moves, and goes back with it', async () => {
    const heading = 'A canary beside a pinned production';
    const first = { API_URL: 'https://v1.example', LEGACY: 'on' };
    const second = { API_URL: 'https://v2.example' };
    await step(heading, 1);
    expect(await valuesOf('web', 'web')).toEqual(first);
    expect(await valuesOf('web', 'web-canary')).toEqual(first);
    await step(heading, 2);
    expect(await valuesOf('web', 'web')).toEqual(first);
    expect(await valuesOf('web', 'web-canary')).toEqual(second);
    await step(heading, 3);
    expect(await valuesOf('web', 'web')).toEqual(second);
    await step(heading, 4);
    expect(await valuesOf('web', 'web')).toEqual(first);
    expect(await valuesOf('web', 'web-canary')).toEqual(second);
  });
});

describe('«Rotating tokens»', () => {
  test('tokens are replaced without a gap, and a leaked one ends at once', async () => {
    const heading = 'Rotating tokens';
    const place = 'reports/production';
    await step(heading, 1);
    expect(await valuesOf('reports', 'reports')).toEqual({ DATABASE_URL: 'postgresql://reports.example' });
    const [held, ci] = [await valuesOf('reports', 'reader'), await valuesOf('reports', 'ci-keyframe')];
    // The SecretSync reads with the token that it names, and has none made for it.
    const tokens = await run('kubectl get servicetokens.keyframe.dev -n reports -o name');
    expect(tokens.match(/[^/\n]+$/gm)).toEqual(['ci', 'reader']);
    expect(await step(heading, 2)).toContain('DATABASE_URL');
    await step(heading, 3);
    expect(await site.answer(ci?.['token'], place)).toBe(401);
    expect(await site.answer((await valuesOf('reports', 'ci-keyframe'))?.['token'], place)).toBe(200);
    // A week later.
    const { metadata } = await site.resource('reports', 'servicetokens', 'reader');
    await ageToken(site.stack.databaseUrl, metadata.uid, 168 * 3600);
    await run('kubectl annotate servicetokens.keyframe.dev reader -n reports keyframe.dev/reconcile-at=now');
    await waitFor('the token to be rotated', async () => {
      const { status } = await site.resource<ServiceToken>('reports', 'servicetokens', 'reader');
      return status?.serial === 2 && status.previousSerial === 1;
    });
    expect(await site.answer(held?.['token'], place)).toBe(200);
    expect((await valuesOf('reports', 'reader'))?.['token']).not.toBe(held?.['token']);
    await run('keyframe set -o acme -p reports -e production DATABASE_URL=changed');
    await waitFor(
      'the Secret to follow',
      async () => (await valuesOf('reports', 'reports'))?.['DATABASE_URL'] === 'changed',
    );
  });
});

describe('«A token issued elsewhere»', () => {
  test('a SecretSync reads with a token that a person made, without a grant, until it is revoked', async () => {
    const heading = 'A token issued elsewhere';
    await step(heading, 1);
    expect(await valuesOf('partners', 'partners')).toEqual({ API_KEY: 'of-partners' });
    const held = (await valuesOf('partners', 'keyframe-token'))?.['token'];
    expect(await site.answer(held?.trim(), 'partners/production')).toBe(200);
    await step(heading, 2);
    expect(await site.answer(held?.trim(), 'partners/production')).toBe(401);
    expect(await valuesOf('partners', 'partners')).toEqual({ API_KEY: 'of-partners' });
  });
});

describe('«An existing Secret»', () => {
  test('a Secret is adopted once it allows it, and is never gone', async () => {
    const heading = 'An existing Secret';
    await step(heading, 1);
    expect(await valuesOf('billing', 'billing-secrets')).toEqual({ STRIPE_KEY: 'from-the-chart' });
    const { uid } = (await site.secret('billing', 'billing-secrets'))?.metadata ?? {};
    await step(heading, 2);
    expect(await valuesOf('billing', 'billing-secrets')).toEqual({ STRIPE_KEY: 'from-keyframe' });
    expect((await site.secret('billing', 'billing-secrets'))?.metadata).toMatchObject({
      uid,
      labels: { 'app.kubernetes.io/managed-by': 'Helm' },
      annotations: { 'helm.sh/resource-policy': 'keep' },
    });
  });
});

describe('«Keys in a Secret of another owner»', () => {
  test('keys come into a Secret of a chart and go out again, and its own stay', async () => {
    const heading = 'Keys in a Secret of another owner';
    const own = { ADMIN_PASSWORD: 'the-charts-own' };
    await step(heading, 1);
    const merged = { ...own, SMTP_HOST: 'smtp.example', SMTP_PASSWORD: 'of-keyframe' };
    expect(await valuesOf('mail', 'chart-secrets')).toEqual(merged);
    await step(heading, 2);
    expect(await valuesOf('mail', 'chart-secrets')).toEqual(own);
  });
});

describe('«Shared and specific values»', () => {
  test('one Secret has the values of both environments, its own where both have a key, and follows both', async () => {
    const heading = 'Shared and specific values';
    await step(heading, 1);
    const own = { LOG_LEVEL: 'debug', DATABASE_URL: 'postgresql://parcels' };
    expect(await valuesOf('parcels', 'parcels')).toEqual({ ...own, SMTP_HOST: 'smtp.example' });
    await step(heading, 2);
    expect(await valuesOf('parcels', 'parcels')).toEqual({ ...own, SMTP_HOST: 'mail.example' });
  });
});

describe('«One Secret in many namespaces»', () => {
  test('every namespace with the label has the Secret, and a mistyped selector takes none away', async () => {
    const heading = 'One Secret in many namespaces';
    await step(heading, 1);
    const values = { TRACING_TOKEN: 'tr-1' };
    expect(await valuesOf('orders', 'tracing')).toEqual(values);
    expect(await valuesOf('invoices', 'tracing')).toEqual(values);
    expect(await valuesOf('returns', 'tracing')).toBeUndefined();
    await step(heading, 2);
    expect(await valuesOf('returns', 'tracing')).toEqual(values);
    await step(heading, 3);
    await step(heading, 4);
    expect(await valuesOf('returns', 'tracing')).toEqual(values);
  });
});

describe('«A composed value»', () => {
  test('nothing is composed while a part is missing, and the URL is there with it', async () => {
    const heading = 'A composed value';
    await step(heading, 1);
    expect(await site.secret('tickets', 'tickets')).toBeUndefined();
    const { '.dockerconfigjson': credentials = '' } = (await valuesOf('tickets', 'registry')) ?? {};
    expect(JSON.parse(credentials)).toEqual({
      auths: { 'registry.example': { username: 'ci', password: 'say "friend"' } },
    });
    await step(heading, 2);
    const DATABASE_URL = 'postgresql://tickets:hunter2%40%2F@db.tickets.svc:5432/tickets';
    expect(await valuesOf('tickets', 'tickets')).toEqual({ DATABASE_URL });
  });
});

describe('«Restarting pods»', () => {
  // Instead of a kubelet, the test sets pods ready while the reader waits.
  test('pods are restarted when the Secret has changed, and Converged waits for them', async () => {
    const heading = 'Restarting pods';
    const workloads = new Workloads(site.stack.kube, 'storefront');
    for (const [number, THEME] of [
      [1, 'light'],
      [2, 'dark'],
    ] as const) {
      let isOver = false;
      const reading = step(heading, number).finally(() => (isOver = true));
      const runPods = async (): Promise<boolean> => {
        await workloads.runPods('web');
        return isOver;
      };
      await Promise.all([reading, waitFor('the commands to end', runPods, { timeoutMs: 80_000 })]);
      expect(await valuesOf('storefront', 'web')).toEqual({ THEME });
      const marks = await workloads.marks({ kind: 'Deployment', name: 'web' });
      expect(marks['rollout.keyframe.dev/web']).toMatch(new RegExp(`^${number}/`));
    }
  });
});

test('no command of these sections is left that was not run', () => {
  expect(site.reader.untried(exampleThemes.secrets)).toEqual([]);
});
