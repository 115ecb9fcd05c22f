import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { watchHomeToken } from '../../../src/compose/home-token.ts';
import { generateToken } from '../../../src/crypto/token.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { withServices } from '../../support/api/with-services.ts';
import type { TestServices } from '../../support/api/services.ts';
import { claimName } from '../../support/database/cluster-credentials.ts';
import { waitFor } from '../../support/fixtures/wait-for.ts';

let services: TestServices;
let resources: DisposableStack;
let path: string;
let lines: string[];

withServices((given) => ({ services } = given));

beforeAll(async () => await claimName(services.database.pool, 'here'));

beforeEach(() => {
  resources = new DisposableStack();
  const folder = mkdtempSync(join(tmpdir(), 'home-token-'));
  resources.defer(() => rmSync(folder, { recursive: true }));
  path = join(folder, 'token');
  lines = [];
});

afterEach(() => resources.dispose());

function newToken(): string {
  return generateToken('cluster', randomUUID()).token.reveal();
}

async function watch(token: string): Promise<void> {
  writeFileSync(path, token);
  const { database } = services;
  const logger = createLogger('info', { write: (line) => void lines.push(line) });
  const stop = await watchHomeToken({ path, database, logger, intervalMs: 10 });
  resources.defer(stop);
}

async function isAccepted(token: string): Promise<boolean> {
  return await services.clusterAuthentication.authenticate(token, 'here').then(
    () => true,
    () => false,
  );
}

test('a new file is the home token without a restart, and the one before works on', async () => {
  const [first, second] = [newToken(), newToken()];
  await watch(`${first}\n`);
  expect(await isAccepted(first)).toBe(true);
  writeFileSync(path, second);
  await waitFor('the new token', async () => await isAccepted(second));
  expect(await isAccepted(first)).toBe(true);
});

test('a file with something else is reported once, and changes nothing', async () => {
  const first = newToken();
  await watch(first);
  const cut = newToken().slice(0, -1);
  writeFileSync(path, cut);
  await waitFor('a warning', () => lines.some((line) => line.includes('cannot be used')));
  const read = lines.length;
  rmSync(path);
  await waitFor('another warning', () => lines.length > read);
  expect(await isAccepted(first)).toBe(true);
  const second = newToken();
  writeFileSync(path, second);
  await waitFor('the new token', async () => await isAccepted(second));
  expect(lines.filter((line) => line.includes('cannot be used'))).toHaveLength(2);
  expect(lines.join('')).not.toContain(cut.slice(10, 40));
});

test('a server with another file changes it back, and both tokens work', async () => {
  const [first, second] = [newToken(), newToken()];
  await watch(first);
  await watch(second);
  await watch(first);
  expect(await isAccepted(first)).toBe(true);
  expect(await isAccepted(second)).toBe(true);
});
