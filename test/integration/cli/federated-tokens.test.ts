import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { TestApi } from '../../support/api/http.ts';
import type { World } from '../../support/api/services.ts';
import { changeIssuer, insertIssuer, type TestIssuer } from '../../support/api/trusted-issuers.ts';
import type { CliRunner } from '../../support/cli/cli.ts';
import { withCommandWorld } from '../../support/cli/command-world.ts';
import { FederationFixtures, jwtFor } from '../../support/oidc/federation-fixtures.ts';
import { JwtSigner } from '../../support/oidc/jwt-signer.ts';
import { prismaOf } from '../../support/database/prisma.ts';

let api: TestApi;
let world: World;
let cli: CliRunner;
let issuer: TestIssuer;

withCommandWorld((given) => {
  ({ api, world, cli } = given);
});
beforeEach(async () => {
  issuer = await insertIssuer(api.services.database, { preset: 'github' });
});

const organization = (): string[] => ['-o', world.slugs.organization];
const creation = (name = 'jobs'): string[] =>
  ['token', 'create-service', '-n', name, '-s', 'organization', '-p', 'read'].concat(organization());
const claims = (...pairs: readonly string[]): string[] => pairs.flatMap((pair) => ['--claim', pair]);
const proof = (): string[] => ['--issuer', issuer.name, ...claims('repository_id=1', 'environment=production')];

describe('token create-service --issuer', () => {
  test('prints the audience in place of a value, and what to do with it', async () => {
    const given = [...creation(), ...proof(), ...claims('repository_id=2', 'ref=refs/heads/a=b')];
    const { code, stdout, stderr } = await cli.run(given);
    expect(code).toBe(0);
    const { audience, claims: stored } = await prismaOf(api.services.database).serviceTokenFederation.findFirstOrThrow({
      where: { issuerId: issuer.id },
    });
    expect(stored).toEqual({ repository_id: ['1', '2'], environment: ['production'], ref: ['refs/heads/a=b'] });
    expect(stdout).toMatch(new RegExp(`Audience: +${audience}`));
    expect(stdout).toMatch(new RegExp(`Issuer: +${issuer.name}`));
    expect(stdout).toContain('repository_id=1 or 2');
    expect(stdout).not.toContain('kf_svc_');
    expect(stderr).toContain('exactly this audience');
  });

  test.each([
    ['a claim without an issuer', () => claims('sub=a'), '--claim needs --issuer'],
    ['an issuer without a claim', () => ['--issuer', issuer.name], '--issuer needs --claim'],
    ['a claim without a value', () => ['--issuer', issuer.name, ...claims('sub')], '--claim must be name=value'],
    ['a claim without a name', () => ['--issuer', issuer.name, ...claims('=a')], '--claim must be name=value'],
    ['--output token', () => [...proof(), '--output', 'token'], '--output token does not fit --issuer'],
  ])('refuses %s', async (_what, given, message) => {
    const { code, stdout, stderr } = await cli.run([...creation('refused'), ...given()]);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(message);
    expect(await prismaOf(api.services.database).serviceToken.count({ where: { name: 'refused' } })).toBe(0);
  });

  test('names the claim whose value is refused by its option', async () => {
    const given = ['--issuer', issuer.name, ...claims('repository_id=', 'environment=production')];
    const { code, stderr } = await cli.run([...creation(), ...given]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('error: --claim repository_id has a value')]);
  });

  test('says how an issuer is added that does not exist', async () => {
    const { code, stderr } = await cli.run([...creation(), '--issuer', 'absent', ...claims('sub=a')]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('error: --issuer is no trusted issuer')]);
    expect(stderr).toContain('`keyframe issuer set`');
  });

  test('says which claim is missing, and why', async () => {
    const given = ['--issuer', issuer.name, ...claims('sub=repo:acme/shop:environment:production')];
    const { code, stderr } = await cli.run([...creation(), ...given]);
    expect(code).toBe(2);
    expect(stderr).toContain('repository_id is missing');
    expect(stderr).toContain('others can take the name');
  });
});

describe('token list-service', () => {
  test('shows the kind and the issuer of each token, and an issuer that was changed', async () => {
    await cli.output(creation('plain'));
    await cli.output([...creation('listed'), ...proof()]);
    const list = (): Promise<string> => cli.output(['token', 'list-service', ...organization()]);
    const lineOf = (text: string, name: string): string => text.split('\n').find((line) => line.includes(name)) ?? '';
    expect(lineOf(await list(), 'plain')).toMatch(/ value +- /);
    expect(lineOf(await list(), 'listed')).toMatch(new RegExp(` federated +${issuer.name} +- `));
    await changeIssuer(api.services.database, issuer);
    expect(lineOf(await list(), 'listed')).toContain(`${issuer.name} (changed)`);
    await prismaOf(api.services.database).trustedIssuer.delete({ where: { id: issuer.id } });
    expect(lineOf(await list(), 'listed')).toContain(`${issuer.name} (deleted)`);
  });
});

describe('token show-service', () => {
  test('shows the audience and the claims of a federated token, and an issuer that was changed', async () => {
    await cli.output([...creation('shown'), ...proof()]);
    const { audience } = await prismaOf(api.services.database).serviceTokenFederation.findFirstOrThrow({
      where: { issuerId: issuer.id },
    });
    const show = (): Promise<string> => cli.output(['token', 'show-service', 'shown', ...organization()]);
    const text = await show();
    expect(text).toMatch(/Kind: +federated\n/);
    expect(text).toMatch(new RegExp(`Issuer: +${issuer.name}\n`));
    expect(text).toMatch(
      /Claims: +environment=production, repository_id=1\n|Claims: +repository_id=1, environment=production\n/,
    );
    expect(text).toMatch(new RegExp(`Audience: +${audience}\n`));
    await changeIssuer(api.services.database, issuer);
    expect(await show()).toMatch(new RegExp(`Issuer: +${issuer.name} \\(changed\\)\n`));
  });

  test('shows no audience of a token with a value', async () => {
    await cli.output(creation('plain value'));
    const text = await cli.output(['token', 'show-service', 'plain value', ...organization()]);
    expect(text).toMatch(/Kind: +value\n/);
    expect(text).not.toContain('Audience');
  });
});

describe('token accept-issuer', () => {
  const accept = (...given: string[]): string[] => ['token', 'accept-issuer', ...given, ...organization()];

  test('accepts the present generation of the issuer of a token by name', async () => {
    await cli.output([...creation('changed'), ...proof()]);
    await changeIssuer(api.services.database, issuer);
    const { code, stderr } = await cli.run(accept('changed', '--yes'));
    expect([code, stderr]).toEqual([0, expect.stringMatching(/accepts generation 2 of trusted issuer/)]);
    // It asks no question once it is accepted.
    expect((await cli.run(accept('changed'))).code).toBe(0);
  });

  test('refuses another generation than the present one, which it names, before it asks', async () => {
    const id = (await cli.output([...creation('moved'), ...proof(), '--output', 'name'])).trim();
    await changeIssuer(api.services.database, issuer);
    for (const given of [[], ['--yes']]) {
      const { code, stderr } = await cli.run(accept(id, '--generation', '3', ...given));
      expect([given, code, stderr]).toEqual([given, 6, expect.stringContaining('is at generation 2')]);
    }
    // The present one is asked about, as without the option.
    expect((await cli.run(accept(id, '--generation', '2'))).code).toBe(7);
  });

  test('ends with 6 for a token with a value', async () => {
    await cli.output(creation('valued'));
    const { code, stderr } = await cli.run(accept('valued', '--yes'));
    expect(code).toBe(6);
    expect(stderr).toContain('is not federated');
  });
});

describe('token explain', () => {
  const explain = (...given: string[]): string[] => ['token', 'explain', 'explained', ...organization(), ...given];

  test('ends with 3 for a JWT that is refused, lists the checks, and never repeats it', async () => {
    await cli.output([...creation('explained'), ...proof()]);
    const jwt = 'eyJhbGciOiJub25lIn0.e30.Y2FuYXJ5';
    const file = join(cli.folder, 'jwt.txt');
    writeFileSync(file, `${jwt}\n`);
    for (const given of [explain(), explain('--jwt-file', '-'), explain('--jwt-file', file)]) {
      const { code, stdout, stderr } = await cli.run(given, { input: `${jwt}\n` });
      expect([code, stderr]).toEqual([3, '']);
      expect(stdout).toMatch(/form +passed/);
      expect(stdout).toMatch(/header +FAILED +the JWT is not signed with/);
      expect(stdout).not.toContain(jwt);
    }
  });

  test('ends with 0 for a JWT that proves the token', async () => {
    const signer = new JwtSigner('ES256');
    const fixtures = new FederationFixtures(api.services.database.pool);
    const trusted = await fixtures.issuer({ signers: [signer] });
    const { id, caller } = await world.serviceToken();
    const audience = await fixtures.federate({ id, credentialId: caller.principal.credentialId }, trusted);
    const input = jwtFor(signer, trusted, audience);
    const { code, stdout } = await cli.run(['token', 'explain', id, ...organization()], { input });
    expect([code, stdout]).toEqual([0, expect.stringMatching(/claims +passed/)]);
  });

  test.each([
    ['an empty input', (): string[] => explain(), '', 'there is no JWT to explain'],
    ['a file that is missing', (): string[] => explain('--jwt-file', 'absent.txt'), 'x', 'absent.txt'],
  ])('ends with 2 for %s', async (_what, given, input, message) => {
    const { code, stderr } = await cli.run(given(), { input });
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });
});
