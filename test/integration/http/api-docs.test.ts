import { randomUUID } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { openApiDocument } from '../../../src/http/openapi/document.ts';
import { CommandReader, documentedCommands, printedForm, shapeOf } from '../../support/cli/documented-commands.ts';
import { type TestApi, startTestApi } from '../../support/api/http.ts';
import { rolloutReport, stateReport } from '../../support/api/state-reports.ts';
import { createUser, type TestUser } from '../../support/api/services.ts';
import { insertIssuer } from '../../support/api/trusted-issuers.ts';
import { SignedInBrowser } from '../../support/api/browser-session.ts';
import { prismaOf } from '../../support/database/prisma.ts';
import { TestAuthenticator } from '../../support/passkeys/authenticator.ts';
import type { PasskeyCreationView, PasskeyRequestView } from '../../../src/wire/passkeys.ts';
import { waitFor } from '../../support/fixtures/wait-for.ts';

const page = readFileSync(new URL('../../../docs/api.md', import.meta.url), 'utf8');
const commands = documentedCommands(page);
const publicUrl = 'https://keyframe.example.com';

let api: TestApi;
let reader: CommandReader;
let admin: TestUser;
const authenticator = new TestAuthenticator(publicUrl);
beforeAll(async () => {
  requireCurl();
  api = await startTestApi({}, { publicUrl });
  api.services.feed.start();
  await waitFor('the feed to hear', () => api.services.feed.ready);
  admin = await createUser(api.services, { instanceAdmin: true });
  const identity = { issuer: 'https://id.example.com/realms/main', subject: '1f0c7f7e-2d7e-4c35-9a0e-0d5c7b7f4f0a' };
  await prismaOf(api.services.database).identity.create({
    data: { id: randomUUID(), userId: admin.id, delegators: [], ...identity },
  });
  reader = new CommandReader({
    KEYFRAME_URL: `http://127.0.0.1:${api.port}`,
    KEYFRAME_TOKEN: admin.token.reveal(),
  });
});
afterAll(async () => {
  reader[Symbol.dispose]();
  await api.close();
});

function requireCurl(): void {
  let version: string;
  try {
    version = execFileSync('curl', ['--version'], { encoding: 'utf8' });
  } catch (cause) {
    throw new Error('docs/api.md is tried with curl: install curl 7.84 or later', { cause });
  }
  const [, major = 0, minor = 0] = /^curl (\d+)\.(\d+)/.exec(version) ?? [];
  if (Number(major) * 1000 + Number(minor) < 7084) throw new Error(`docs/api.md needs curl 7.84 or later: ${version}`);
}

/** Reports the SecretSync of the page, as the controller does. */
async function reportConsumer(): Promise<void> {
  const { syncStates, database } = api.services;
  const text = `SELECT id, revision_number AS revision, revision_id AS "revisionId" FROM environment WHERE slug = 'production'`;
  const [found] = (await database.pool.query<{ id: string; revision: number; revisionId: string }>(text)).rows;
  if (found === undefined) throw new Error('The page has made no environment yet.');
  const { id: environmentId, ...ids } = found;
  const rollout = rolloutReport({ converged: ids });
  const state = { namespace: 'shop', environmentId, wanted: ids, synced: ids, syncedAt: new Date(), rollout };
  await syncStates.seen('prod');
  await syncStates.report('prod', [stateReport(state)]);
}

/** Links an account of an issuer to every user who has none. */
async function linkAccounts(): Promise<void> {
  await api.services.database.pool.query(
    `INSERT INTO identity (id, user_id, issuer, subject, delegators)
     SELECT gen_random_uuid(), id, 'https://id.example.com/realms/main', id::text, '{}' FROM app_user ON CONFLICT DO NOTHING`,
  );
}

/** Trusts the issuer of the page. */
async function trustIssuer(): Promise<void> {
  await insertIssuer(api.services.database, { name: 'github', preset: 'github' });
}

/** Registers a passkey for every user. */
async function registerPasskeys(): Promise<void> {
  await api.services.database.pool.query(
    `INSERT INTO passkey (id, user_id, credential_id, public_key, counter, rp_id, name, backed_up, delegators)
     SELECT gen_random_uuid(), id, gen_random_uuid()::text::bytea, 'x', 0, 'keyframe.example.com', 'Laptop', true, '{}' FROM app_user`,
  );
}

/** Puts the response of an authenticator in place of an example of one, and the cookies that it needs. */
async function answered(command: string): Promise<string> {
  const isSignIn = command.includes('/passkey-sessions ');
  if (!isSignIn && !command.includes('/passkeys --json')) return command;
  const session = await SignedInBrowser.signIn(api, admin.token);
  const path = isSignIn ? '/passkey-challenges' : '/passkey-registrations';
  const { body, headers } = await session.send('POST', path);
  const [flow = ''] = (headers.get('set-cookie') ?? '').split(';');
  const response = isSignIn
    ? authenticator.get(body as PasskeyRequestView)
    : { name: 'Laptop', ...authenticator.create(body as PasskeyCreationView) };
  return command
    .replace('$SESSION', session.cookie)
    .replace('$FLOW', flow)
    .replace(/'\{.*\}'/s, `'${JSON.stringify(response)}'`);
}

/** JSON by its shape, anything else by its form. */
function comparable(output: string, language: string | undefined): unknown {
  return language === 'json' ? shapeOf(JSON.parse(output)) : printedForm(output);
}

describe('docs/api.md', () => {
  test.each(commands.map((command) => ({ ...command, name: `line ${command.line}` })))(
    '$name does what it says',
    async (documented) => {
      if (documented.command.includes('/consumers')) await reportConsumer();
      if (documented.command.includes('"federation"')) await trustIssuer();
      if (documented.command.includes('$USER_ID/identities')) await linkAccounts();
      if (documented.command.includes('$USER_ID/passkeys)')) await registerPasskeys();
      const { answer } = documented;
      const output = await reader.run({ ...documented, command: await answered(documented.command) });
      expect(comparable(output, answer?.language)).toEqual(comparable(answer?.text ?? '', answer?.language));
    },
  );

  test('has a heading or an example for every resource', () => {
    const resources = new Set(
      Object.keys(openApiDocument().paths ?? {})
        .filter((path) => path.startsWith('/api/v1/'))
        .map((path) => path.split('/')[3]),
    );
    expect([...resources].filter((resource) => !page.includes(`/api/v1/${resource}`))).toEqual([]);
  });

  test('links to pages that are there', () => {
    const targets = Array.from(page.matchAll(/\]\((?!https:)([^)#]+)\)/g), ([, target = '']) => target);
    expect(targets).toContain('openapi.json');
    for (const target of targets) {
      expect(() => readFileSync(new URL(`../../../docs/${target}`, import.meta.url))).not.toThrow();
    }
  });
});
