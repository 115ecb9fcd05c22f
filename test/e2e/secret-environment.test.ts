/** @default A SecretEnvironment makes its environment with project and organization, and deletes only what it made or took over. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { stringify } from 'yaml';
import { EnvironmentSite, unusedRef } from '../support/cluster/environment-site.ts';
import { runKubectl } from '../support/cluster/kubectl.ts';
import { conditionsOf, readyOf } from '../support/cluster/resource-site.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

const resources = new AsyncDisposableStack();
let site: EnvironmentSite;

beforeAll(async () => {
  site = await EnvironmentSite.make(resources);
});

afterAll(() => resources.disposeAsync());

describe('a SecretEnvironment', () => {
  test('makes the organization as well, which has no member then', async () => {
    const environmentRef = unusedRef();
    const name = await site.environments.create({ environmentRef });
    const { status } = await site.environments.waitForReason(name, 'Available');
    expect(status?.environmentId).toMatch(/^[0-9a-f-]{36}$/);
    expect(await site.found(environmentRef)).toBeUndefined();
    const { status: answer } = await site.stack.admin.send('POST', '/organizations', {
      slug: environmentRef.organization,
    });
    expect(answer).toBe(409);
  });

  test('makes the environment with its project, and its name for people', async () => {
    const environmentRef = await site.newRef();
    const name = await site.environments.create({ environmentRef, displayName: 'Production' });
    const resource = await site.environments.waitForReason(name, 'Available');
    expect(conditionsOf(resource)).toEqual(['Ready True', 'Reconciling False', 'Stalled False']);
    expect(resource.metadata.finalizers).toBeUndefined();
    const environment = await site.found(environmentRef);
    expect(environment?.displayName).toBe('Production');
    expect(resource.status).toMatchObject({ environmentId: environment?.id, revision: 0, secretCount: 0 });
    await site.environments.patch(name, { spec: { displayName: 'Live' } });
    await waitFor('the other name', async () => (await site.found(environmentRef))?.displayName === 'Live');
    await site.environments.delete(name);
    await site.environments.waitUntilGone(name);
    expect(await site.found(environmentRef)).toBeDefined();
  });

  test('of an environment that is there takes it as it is, and leaves it whatever its policy is', async () => {
    const { ref } = await site.stack.admin.makeEnvironment();
    const name = await site.environments.create({ environmentRef: ref, deletionPolicy: 'Delete' });
    const resource = await site.environments.waitForReason(name, 'Available');
    expect(readyOf(resource)?.message).toContain('did not create it');
    await site.environments.delete(name);
    await site.environments.waitUntilGone(name);
    expect(await site.found(ref)).toBeDefined();
  });

  test('leaves the name of its environment to another one that made it, until that one is gone', async () => {
    const environmentRef = await site.newRef();
    const first = await site.environments.create({ environmentRef, displayName: 'First' });
    await site.environments.waitForReason(first, 'Available');
    const second = await site.environments.create({ environmentRef, displayName: 'Second' });
    const resource = await site.environments.waitForReason(second, 'Available');
    expect(readyOf(resource)?.message).toContain(`SecretEnvironment ${first} decides the display name`);
    const { organization, project, name } = environmentRef;
    await site.stack.admin.call('PATCH', `/secrets/${organization}/${project}/${name}`, { set: { KEY: 'value' } });
    for (const each of [first, second]) {
      await waitFor('the commit in the status', async () => {
        const { status } = await site.environments.waitForReason(each, 'Available');
        return status?.secretCount === 1;
      });
    }
    expect((await site.found(environmentRef))?.displayName).toBe('First');
    await site.environments.delete(first);
    await waitFor(
      'the name of the second one',
      async () => (await site.found(environmentRef))?.displayName === 'Second',
    );
  });

  test('with the policy Delete takes the environment that it made with it', async () => {
    const environmentRef = await site.newRef();
    const name = await site.environments.create({ environmentRef, deletionPolicy: 'Delete' });
    const { metadata } = await site.environments.waitForReason(name, 'Available');
    expect(metadata.finalizers).toEqual(['keyframe.dev/cleanup']);
    await site.environments.delete(name);
    await site.environments.waitUntilGone(name);
    expect(await site.found(environmentRef)).toBeUndefined();
  });
});

describe('a SecretEnvironment with the policy Delete that kustomize renames', () => {
  const folder = mkdtempSync(join(tmpdir(), 'keyframe-rename-'));
  // With a label for each test: kubectl prunes what has the label and is not applied.
  const app = `rename-${randomUUID()}`;

  /** Applies the folder with this prefix, and prunes what has left it. */
  async function apply(namePrefix: string): Promise<void> {
    const labels = [{ pairs: { app } }];
    writeFileSync(join(folder, 'kustomization.yaml'), stringify({ namePrefix, labels, resources: ['app.yaml'] }));
    const allowed = '--prune-allowlist=keyframe.dev/v1alpha1/SecretEnvironment';
    await runKubectl(site.cluster, ['apply', '-k', folder, '--prune', '-l', `app=${app}`, allowed, '--wait=false']);
  }

  afterAll(() => rmSync(folder, { recursive: true }));

  test('leaves its environment with its secrets to the one with the new name, which deletes it later', async () => {
    const environmentRef = await site.newRef();
    const spec = { environmentRef, deletionPolicy: 'Delete' };
    const manifest = {
      apiVersion: 'keyframe.dev/v1alpha1',
      kind: 'SecretEnvironment',
      metadata: { name: 'app' },
      spec,
    };
    writeFileSync(join(folder, 'app.yaml'), stringify(manifest));
    await apply('blue-');
    const before = await site.environments.waitForReason('blue-app', 'Available');
    const { organization, project, name } = environmentRef;
    const secrets = `/secrets/${organization}/${project}/${name}`;
    await site.stack.admin.call('PATCH', secrets, { set: { KEY: 'value' } });
    await apply('green-');
    await site.environments.waitUntilGone('blue-app');
    await waitFor('the new one to count as the creator', async () => {
      const resource = await site.environments.waitForReason('green-app', 'Available');
      expect(readyOf(resource)?.message).not.toContain('did not create it');
      expect(resource.status).toMatchObject({ environmentId: before.status?.environmentId, secretCount: 1 });
      return true;
    });
    expect((await site.found(environmentRef))?.id).toBe(before.status?.environmentId);
    await site.environments.delete('green-app');
    await site.environments.waitUntilGone('green-app');
    expect(await site.found(environmentRef)).toBeUndefined();
  });
});
