import { createHash } from 'node:crypto';
import { chmodSync, cpSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { buildCli } from '../../../tools/build/cli.ts';
import { checkoutDirectory } from '../../../tools/checkout.ts';
import { type HttpClient, type TestApi, startTestApi } from '../../support/api/http.ts';
import { createUser } from '../../support/api/services.ts';
import { type JobEnd, runGitHubJob } from '../../support/ci/github-job.ts';
import { GitHubRunner } from '../../support/ci/github-runner.ts';
import { runGitLabJob } from '../../support/ci/gitlab-job.ts';
import { CliRunner } from '../../support/cli/cli.ts';
import { fencedBlocks, readPage } from '../../support/fixtures/documentation.ts';
import { JwtSigner, timesFor } from '../../support/oidc/jwt-signer.ts';
import { KeyServer } from '../../support/oidc/key-server.ts';

/** The jobs of docs/ci.md, as they are printed but for the address and the audience, on a real server with an issuer over TLS. */

const page = readPage('docs/ci.md');
const printedUrl = 'https://keyframe.example.com';
const printedAudience = /keyframe\/[a-z2-7]{26}\/service-tokens\/[0-9a-f-]{36}/g;
const secrets = {
  DATABASE_URL: 'postgres://shop@db/shop',
  API_KEY: 'first line\n{\n  second 100%25 line\r\n',
  OTHER: 'not asked for',
};

/** What GitHub documents for a job of an environment. */
const gitHubClaims = {
  iss: 'https://token.actions.githubusercontent.com',
  sub: 'repo:acme/shop:environment:production',
  repository: 'acme/shop',
  repository_id: '123456789',
  repository_owner: 'acme',
  repository_owner_id: '65',
  repository_visibility: 'private',
  actor: 'ann',
  actor_id: '12',
  ref: 'refs/heads/main',
  ref_type: 'branch',
  ref_protected: 'true',
  event_name: 'push',
  environment: 'production',
  job_workflow_ref: 'acme/shop/.github/workflows/deploy.yaml@refs/heads/main',
  run_id: '30433642',
  run_attempt: '1',
  runner_environment: 'github-hosted',
};

/** What GitLab documents for a job of a protected branch. */
const gitLabClaims = {
  iss: 'https://gitlab.com',
  sub: 'project_path:acme/shop:ref_type:branch:ref:main',
  project_id: '4711',
  project_path: 'acme/shop',
  namespace_id: '72',
  namespace_path: 'acme',
  user_login: 'ann',
  pipeline_source: 'push',
  job_id: '302',
  ref: 'main',
  ref_type: 'branch',
  ref_protected: 'true',
};

const signer = new JwtSigner('RS256');
const resources = new AsyncDisposableStack();
let api: TestApi;
let admin: CliRunner;
let owner: HttpClient;
let keys: KeyServer;
let url: string;
let runner: GitHubRunner;
let claims: Readonly<Record<string, unknown>>;
const jwts: string[] = [];

function jwtFor(aud: string): string {
  const jwt = signer.sign({ ...claims, aud, ...timesFor(300) });
  jwts.push(jwt);
  return jwt;
}

beforeAll(async () => {
  api = await startTestApi({ commandFile: await buildCli() }, { trustedIssuerPrivateAddresses: true });
  resources.defer(() => api.close());
  url = `http://127.0.0.1:${api.port}`;
  const user = await createUser(api.services, { instanceAdmin: true });
  owner = api.client(user.token);
  await owner.expectStatus(201, 'POST', '/organizations', { slug: 'acme' });
  await owner.expectStatus(201, 'POST', '/projects/acme', { slug: 'shop' });
  await owner.expectStatus(201, 'POST', '/environments/acme/shop', { slug: 'production' });
  await owner.expectStatus(200, 'PATCH', '/secrets/acme/shop/production', { set: secrets });
  admin = await CliRunner.create({ url, token: user.token });
  resources.defer(() => admin.remove());
  keys = await KeyServer.start();
  resources.use(keys);
  keys.keys = [signer.jwk];
  writeFileSync(join(admin.folder, 'ca.pem'), keys.ca);
  runner = await GitHubRunner.start({ jwtFor });
  resources.defer(() => runner.close());
});

afterAll(() => resources.disposeAsync());

beforeEach(() => {
  claims = gitHubClaims;
  jwts.length = 0;
});

/** Follows what a section says to create first, and has its issuer publish the keys of the test. Returns the audience. */
async function create(issuer: string): Promise<string> {
  const script = fencedBlocks(page, 'sh').find(({ text }) => text.includes(`issuer set ${issuer} `))?.text ?? '';
  const [trust = '', ...rest] = script.split(/\n(?=keyframe )/);
  expect((await admin.bash(trust)).code).toBe(0);
  await admin.output(['issuer', 'set', issuer, '--jwks-url', keys.url, '--ca', 'ca.pem', '--yes']);
  const { code, stdout, stderr } = await admin.bash(`${rest.join('\n').trimEnd()} --output json`);
  expect({ code, stderr }).toMatchObject({ code: 0 });
  return (JSON.parse(stdout) as { federation: { audience: string } }).federation.audience;
}

/** The block that begins with this line, for the server and the service token of the test. */
function printed(firstLine: string, audience: string): string {
  const text = fencedBlocks(page, 'yaml').find((block) => block.text.startsWith(`${firstLine}\n`))?.text ?? '';
  expect(text.match(printedAudience)).toHaveLength(1);
  return text.replaceAll(printedUrl, url).replaceAll(printedAudience, audience);
}

/** A checkout with the programs that the workflows run. */
function prepare(workspace: string): void {
  const digest = (name: string): string => `printf '${name} %s\\n' "$(printf %s "$${name}" | sha256sum)"`;
  const show = ['#!/bin/bash', 'env', ...Object.keys(secrets).map(digest)].join('\n');
  for (const name of ['deploy.sh', 'test.sh']) {
    writeFileSync(join(workspace, name), show);
    chmodSync(join(workspace, name), 0o755);
  }
  cpSync(join(checkoutDirectory, 'actions'), join(workspace, '.github/keyframe'), { recursive: true });
}

async function gitHub(workflow: string): Promise<JobEnd> {
  const path = process.env['PATH'] ?? '';
  return await runGitHubJob({ workflow, runner, prepare, variables: { PATH: path } });
}

function digestOf(value: string): string {
  return createHash('sha256').update(value).digest('hex');
}

function expectVariables(log: string, names: readonly (keyof typeof secrets)[]): void {
  for (const [name, value] of Object.entries(secrets)) {
    const isThere = names.some((one) => one === name);
    expect(log).toContain(`${name} ${digestOf(isThere ? value : '')}  -`);
  }
}

let gitHubAudience: string;

beforeAll(async () => {
  gitHubAudience = await create('github');
});

describe('the workflow for GitHub', () => {
  let workflow: string;

  beforeAll(() => {
    workflow = printed('# .github/workflows/deploy.yaml', gitHubAudience);
  });

  test('runs its program with the variables that it names, by the JWT of the job', async () => {
    const { code, log } = await gitHub(workflow);
    expect({ code, log }).toMatchObject({ code: 0 });
    expectVariables(log, ['DATABASE_URL', 'API_KEY']);
    expect(jwts).toHaveLength(1);
    expect(log).not.toContain(jwts[0]);
    expect(log).not.toMatch(/ACTIONS_ID_TOKEN|KEYFRAME_TOKEN=/);
  });

  test('lets the command say by which issuer the job is known', async () => {
    const { code, log } = await gitHub(workflow.replace('./keyframe run -- ./deploy.sh', './keyframe whoami'));
    expect({ code, log }).toMatchObject({ code: 0 });
    expect(log).toMatch(/^Service token: +shop-deploy$/m);
    expect(log).toMatch(/^Proved by: +a JWT of trusted issuer github$/m);
  });

  test.each([
    ['of another environment', { ...gitHubClaims, environment: 'staging' }],
    ['of another repository with the name', { ...gitHubClaims, repository_id: '987' }],
    ['without an environment', { ...gitHubClaims, environment: undefined }],
  ])('is refused in a job %s, and runs nothing', async (_what, other) => {
    claims = other;
    const { code, log } = await gitHub(workflow);
    expect(code).toBe(3);
    expect(log).toContain('the JWT was refused');
    expect(log).toContain(`keyframe token explain ${gitHubAudience.slice(-36)}`);
    expect(log).not.toContain('DATABASE_URL ');
  });

  test('needs its permission', async () => {
    const { code, log } = await gitHub(workflow.replace('  id-token: write\n', ''));
    expect(code).toBe(3);
    expect(log).toContain('it lacks `permissions: id-token: write`');
    expect(jwts).toEqual([]);
  });

  test('ends if the download is not what the server has', async () => {
    const broken = workflow.replace('chmod +x', 'true').replace('| sha256sum', '| tr 0-8 1-9 | sha256sum');
    expect((await gitHub(broken)).code).toBe(1);
  });
});

describe('the actions', () => {
  let workflow: string;

  beforeAll(() => {
    workflow = printed('# .github/workflows/test.yaml', gitHubAudience);
  });

  test('mask the values, each line by itself, and set them for later steps to the byte', async () => {
    const { code, log } = await gitHub(workflow);
    expect({ code, log }).toMatchObject({ code: 0 });
    expectVariables(log, ['DATABASE_URL', 'API_KEY']);
    expect(log).toContain('DATABASE_URL=***\n');
    expect(log).toMatch(/API_KEY=\*\*\*\n\{\n\*\*\*\r?\n/);
    expect(log).not.toMatch(/first line|second 100%25 line|postgres:/);
    expect(log).not.toContain(secrets.OTHER);
  });

  test('only mask if that is asked for', async () => {
    const { code, log } = await gitHub(
      workflow
        .replace('keys:', 'mask-only: true\n          keys:')
        .replace('./test.sh', "keyframe run --only 'DATABASE_URL' -- ./test.sh"),
    );
    expect({ code, log }).toMatchObject({ code: 0 });
    expectVariables(log, ['DATABASE_URL']);
    expect(log).toContain('DATABASE_URL=***\n');
  });

  test('end if a key does not exist, and set nothing', async () => {
    const { code, log } = await gitHub(workflow.replace('API_KEY', 'NOT_THERE'));
    expect(code).toBe(5);
    expect(log).toContain('NOT_THERE');
    expect(log).not.toContain('DATABASE_URL ');
  });

  test('install no command that differs from its checksum', async () => {
    const other = createServer(({ url: path }, response) => {
      response.end(path === '/cli' ? '#!/bin/sh\necho changed' : `${digestOf('another')}  keyframe\n`);
    });
    await new Promise<void>((resolve) => void other.listen(0, '127.0.0.1', resolve));
    const address = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    const { code, log } = await gitHub(workflow.replace(/url: .*/, `url: ${address}`));
    other.close();
    expect(code).toBe(1);
    expect(log).toContain('keyframe: FAILED');
    expect(log).not.toContain('changed');
  });

  test.each([
    ['an address that is none', 'url: x', 'url must be the address of a Keyframe server'],
    ['plain http to another machine', 'url: http://keyframe.example.com', 'url must begin with https://'],
    [
      'plain http to another machine with this name',
      'url: http://localhost:80@192.0.2.1',
      'url must begin with https://',
    ],
    ['an address of several lines', 'url: "https://a.example\\nPATH=/tmp"', 'url must be the address'],
  ])('refuse %s', async (_what, given, message) => {
    const { code, log } = await gitHub(workflow.replace(/url: .*/, given));
    expect(code).toBe(1);
    expect(log).toContain(message);
  });
});

describe('the pipeline for GitLab', () => {
  let pipeline: string;

  beforeAll(async () => {
    pipeline = printed('# .gitlab-ci.yml', await create('gitlab'));
  });

  test('runs its program with the variables that it names, by the JWT of the job', async () => {
    claims = gitLabClaims;
    const { code, log } = await runGitLabJob({ pipeline, jwtFor, prepare });
    expect({ code, log }).toMatchObject({ code: 0 });
    expectVariables(log, ['DATABASE_URL', 'API_KEY']);
    expect(log).not.toContain(jwts[0]);
  });

  test.each([
    ['of a branch that is not protected', { ...gitLabClaims, ref_protected: 'false' }],
    ['of another branch', { ...gitLabClaims, ref: 'feature' }],
    ['of a tag with the name of the branch', { ...gitLabClaims, ref_type: 'tag' }],
    ['of another project', { ...gitLabClaims, project_id: '4712' }],
  ])('is refused in a job %s, and runs nothing', async (_what, other) => {
    claims = other;
    const { code, log } = await runGitLabJob({ pipeline, jwtFor, prepare });
    expect(code).toBe(3);
    expect(log).not.toContain('DATABASE_URL ');
  });
});

test('every workflow of the page is one that these tests run, and the pod is a manifest', () => {
  const first = fencedBlocks(page, 'yaml').map(({ text }) => text.split('\n')[0]);
  const jobs = [
    '# .github/workflows/deploy.yaml',
    '# .github/workflows/test.yaml',
    '# .gitlab-ci.yml',
    '# report.yaml',
  ];
  expect(first).toEqual(jobs);
});

test('the actions say what they do, and name their inputs', () => {
  for (const name of ['setup', 'export-secrets']) {
    const action = parse(readFileSync(join(checkoutDirectory, 'actions', name, 'action.yml'), 'utf8')) as object;
    expect(action).toMatchObject({
      name: expect.any(String),
      description: expect.any(String),
      runs: { using: 'composite' },
    });
    for (const input of Object.values((action as { inputs: object }).inputs)) {
      expect(input).toMatchObject({ description: expect.any(String), required: expect.any(Boolean) });
    }
  }
});
