import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import type { CliRunner } from '../../support/cli/cli.ts';
import { withCommandWorld } from '../../support/cli/command-world.ts';
import type { TestApi } from '../../support/api/http.ts';
import { putClusterIssuer } from '../../support/database/cluster-issuer.ts';
import { IssuerCalls } from '../../support/api/issuer-calls.ts';
import type { World } from '../../support/api/services.ts';
import { JwtSigner } from '../../support/oidc/jwt-signer.ts';

let api: TestApi;
let world: World;
let cli: CliRunner;

withCommandWorld((given) => {
  ({ api, world, cli } = given);
});

const folder = mkdtempSync(join(tmpdir(), 'keyframe-issuers-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('issuer set takes the algorithms of the keys in a file, and of the next file', async () => {
  const files = [new JwtSigner('ES256'), new JwtSigner('EdDSA')].map(({ jwk }) => {
    const path = join(folder, `${jwk.alg}.json`);
    writeFileSync(path, JSON.stringify({ keys: [jwk] }));
    return path;
  });
  for (const [index, file] of files.entries()) {
    const given = ['issuer', 'set', 'fra', '--preset', 'kubernetes', '--iss', 'https://kubernetes.default.svc'];
    const text = await cli.output([...given, '--jwks', file, '--yes']);
    expect(text).toMatch(index === 0 ? /Algorithms: +ES256\n/ : /Algorithms: +EdDSA\n/);
    expect(text).toMatch(/Longest lifetime: +24h\n/);
  }
});

test('issuer set refuses a lifetime of over a day before it asks', async () => {
  const issuer = new IssuerCalls(api.services);
  await issuer.set();
  const { code, stderr } = await cli.run(['issuer', 'set', issuer.name, '--max-age', '25h']);
  expect([code, stderr]).toEqual([2, expect.stringContaining('--max-age must be a duration')]);
  expect(stderr).toContain('at most 24h');
});

test('issuer show says why the last fetch of the keys failed', async () => {
  const issuer = new IssuerCalls(api.services);
  await issuer.set();
  await api.services.database.pool.query(
    `UPDATE trusted_issuer SET fetch_fault = 'timeout', fetch_failed_at = '2026-01-02T03:04:05Z' WHERE name = $1`,
    [issuer.name],
  );
  const { stdout } = await cli.run(['issuer', 'show', issuer.name]);
  expect(stdout).toMatch(/^Fetch failed: +2026-01-02/m);
  expect(stdout).toMatch(/^Fault: +timeout$/m);
});

test('issuer show says where the issuers are listed, for one that does not exist', async () => {
  const { code, stderr } = await cli.run(['issuer', 'show', 'absent']);
  expect(code).toBe(5);
  expect(stderr.split('\n').filter((line) => line !== '')).toEqual([
    'error: trusted issuer absent does not exist',
    '  See the trusted issuers, as an administrator of the server: keyframe issuer list --all',
  ]);
});

test.each([
  ['set', ['--max-age', '1h'], 'Choose another name for another issuer'],
  ['delete', ['--force'], 'keyframe cluster forget '],
])('issuer %s refuses the issuer of a cluster before it asks', async (command, given, next) => {
  const cluster = `home-${command}`;
  await putClusterIssuer(api.services.database.pool, cluster);
  const { code, stderr } = await cli.run(['issuer', command, cluster, ...given]);
  expect([code, stderr]).toEqual([6, expect.stringContaining(`${cluster} is the issuer of a cluster`)]);
  expect(stderr).toContain(next);
});

test('issuer delete ends the tokens of an issuer only with --force, and after its name was typed', async () => {
  const issuer = new IssuerCalls(api.services);
  await issuer.set();
  await issuer.prove(world);
  // Nothing is asked that the server would refuse.
  const refused = await cli.run(['issuer', 'delete', issuer.name]);
  expect(refused.code).toBe(6);
  expect(refused.stderr).toContain(`keyframe issuer delete ${issuer.name} --force`);
  const asked = await cli.run(['issuer', 'delete', issuer.name, '--force']);
  expect(asked).toMatchObject({
    code: 7,
    stderr: expect.stringContaining('revokes 1 service token in 1 organization for good'),
  });
  expect(await issuer.get()).toMatchObject({ tokens: 1, disabledAt: null });
  const done = await cli.run(['issuer', 'delete', issuer.name, '--force', '--yes']);
  expect(done.stderr).toContain(`Deleted ${issuer.name} and revoked 1 service token in 1 organization.`);
});
