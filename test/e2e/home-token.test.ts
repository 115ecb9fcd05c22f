import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { generateToken } from '../../src/crypto/token.ts';
import type { ServerProcess } from '../support/api/server-process.ts';
import { Stack } from '../support/cluster/stack.ts';
import type { SyncSite } from '../support/cluster/sync-site.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

/**
 * The home token is replaced in the files of the API and of a controller at different moments. One story: each test begins
 * where the one before has ended.
 */

const resources = new AsyncDisposableStack();
const folder = mkdtempSync(join(tmpdir(), 'keyframe-home-token-'));
const files = { api: join(folder, 'api'), controller: join(folder, 'controller') };
const tokens = [0, 1].map(() => generateToken('cluster', randomUUID()).token.reveal());
let stack: Stack;
let controller: ServerProcess;
let site: SyncSite;

beforeAll(async () => {
  resources.defer(() => rmSync(folder, { recursive: true }));
  put('api', 0);
  put('controller', 0);
  stack = await Stack.start(resources, { namespaces: 1, apiEnv: { HOME_TOKEN_FILE: files.api } });
  controller = await stack.startController({ server: { url: stack.api.url, tokenFile: files.controller } });
  site = await stack.makeSite({ values: { A: 'first' } });
  await site.waitUntilSynced({ A: 'first' });
});

afterAll(() => resources.disposeAsync());

function put(side: keyof typeof files, index: number): void {
  writeFileSync(files[side], tokens[index] ?? '');
}

async function expectFollowing(value: string): Promise<void> {
  await site.environment.change({ A: value });
  await site.waitUntilSynced({ A: value });
  expect(await controller.isReady()).toBe(true);
}

async function endFormerToken(): Promise<void> {
  const client = new pg.Client({ connectionString: stack.databaseUrl });
  await client.connect();
  await client.query('UPDATE home_token SET former_until = clock_timestamp()');
  await client.end();
}

test('a controller that has the new token first works on with the one before', async () => {
  put('controller', 1);
  await expectFollowing('second');
  expect(controller.captured.output.toString()).not.toContain('cluster_unknown');
});

test('it presents the new one as soon as the API knows it, without a restart of either', async () => {
  put('api', 1);
  const known = (): boolean => stack.api.captured.output.toString().split('the home token is a new one').length > 2;
  await waitFor('the API to read its file', known);
  await expectFollowing('third');
  await endFormerToken();
  await expectFollowing('fourth');
});
