import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { checkoutDirectory, workingVersion } from '../../../tools/checkout.ts';
import { CliRunner } from '../../support/cli/cli.ts';
import { documentedCommands } from '../../support/cli/documented-commands.ts';
import { type BlockEnd, expectAsDocumented, followSession, sessionScript } from './documented-session.ts';
import { type TestApi, startTestApi } from '../../support/api/http.ts';
import { createUser } from '../../support/api/services.ts';

const page = readFileSync(join(checkoutDirectory, 'docs', 'tutorial.md'), 'utf8');
const blocks = documentedCommands(page);
const [shortName] = blocks;
if (shortName === undefined) throw new Error('docs/tutorial.md has no commands');

let api: TestApi;
let cli: CliRunner;
let ends: ReadonlyMap<number, BlockEnd>;

beforeAll(async () => {
  api = await startTestApi();
  const admin = await createUser(api.services, { instanceAdmin: true });
  await api.client(admin.token).expectStatus(201, 'POST', '/organizations', { slug: 'demo' });
  cli = await CliRunner.create();
  // As `npm start` leaves it.
  mkdirSync(join(cli.folder, '.dev'));
  writeFileSync(join(cli.folder, '.dev', 'admin-token'), `${admin.token.reveal()}\n`, { mode: 0o600 });
  const script = sessionScript(blocks, { [shortName.line]: 'unset -f keyframe' }).replaceAll(
    'http://127.0.0.1:8700',
    `http://127.0.0.1:${api.port}`,
  );
  const running = cli.startBashOnTerminal(script, { limitMs: 240_000 });
  ends = await followSession(running, blocks);
});

afterAll(async () => {
  cli.remove();
  await api.close();
});

describe('docs/tutorial.md', () => {
  test.each(blocks.map((block) => ({ ...block, name: `line ${block.line}` })))('$name does what it says', (block) =>
    expectAsDocumented(ends, block),
  );

  test('gives a short name that runs the command of the checkout, also from a folder in it', async () => {
    const [definition = ''] = shortName.command.split('\n');
    const script = `${definition}\ncd docs && keyframe --version`;
    const { stdout } = await promisify(execFile)('bash', ['-eu', '-c', script], { cwd: checkoutDirectory });
    expect(stdout).toBe(`${workingVersion()}\n`);
  });

  test('links to pages that are there', () => {
    const targets = Array.from(page.matchAll(/\]\(([^)#]+)\)/g), ([, target = '']) => target);
    expect(targets).toContain('cli.md');
    expect(targets.filter((target) => !existsSync(join(checkoutDirectory, 'docs', target)))).toEqual([]);
  });

  test('leaves no token behind', () => {
    expect(readFileSync(cli.userFile, 'utf8')).not.toContain('kf_');
    expect(existsSync(join(cli.folder, '.dev', 'tutorial'))).toBe(false);
  });
});
