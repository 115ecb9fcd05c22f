import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { SecretEnvironment } from '../../src/controller/generated/secret-environment.ts';
import type { EnvironmentRef } from '../support/api/api-client.ts';
import { startOwnCluster } from '../support/cluster/own-cluster.ts';
import { ResourceSite, conditionsOf, readyOf } from '../support/cluster/resource-site.ts';
import { Stack } from '../support/cluster/stack.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

const resources = new AsyncDisposableStack();
let stack: Stack;
let environments: ResourceSite<SecretEnvironment>;

beforeAll(async () => {
  // Of its own, because SecretEnvironments are the whole cluster's.
  const { kubeconfig } = await startOwnCluster(resources);
  stack = await Stack.start(resources, { namespaces: 1, adminKubeconfig: kubeconfig });
  environments = new ResourceSite<SecretEnvironment>({
    kube: stack.kube,
    kind: 'SecretEnvironment',
    plural: 'secretenvironments',
  });
  await stack.startController();
});

afterAll(() => resources.disposeAsync());

/** Slugs that nothing has yet. */
function unusedRef(): EnvironmentRef {
  const suffix = randomBytes(5).toString('hex');
  return { organization: `org-${suffix}`, project: `project-${suffix}`, name: `env-${suffix}` };
}

/** Slugs that nothing has yet but the organization, whose owner the admin is: who is no member sees nothing of it. */
async function newRef(): Promise<EnvironmentRef> {
  const ref = unusedRef();
  await stack.admin.call('POST', '/organizations', { slug: ref.organization });
  return ref;
}

interface ApiEnvironmentView {
  readonly id: string;
  readonly displayName: string;
}

/** The environment over the API; undefined where it is not there. */
async function found({ organization, project, name }: EnvironmentRef): Promise<ApiEnvironmentView | undefined> {
  const path = `/environments/${organization}/${project}/${name}`;
  const { status, body } = await stack.admin.send<ApiEnvironmentView>('GET', path);
  return status === 200 ? body : undefined;
}

const apiPathOf = ({ organization, project, name }: EnvironmentRef): string =>
  `/environments/${organization}/${project}/${name}`;
const secretsPathOf = ({ organization, project, name }: EnvironmentRef): string =>
  `/secrets/${organization}/${project}/${name}`;

describe('a SecretEnvironment', () => {
  test('makes the organization as well, which has no member then', async () => {
    const environmentRef = unusedRef();
    const name = await environments.create({ environmentRef });
    const { status } = await environments.waitForReason(name, 'Available');
    expect(status?.environmentId).toMatch(/^[0-9a-f-]{36}$/);
    expect(await found(environmentRef)).toBeUndefined();
    const { status: answer } = await stack.admin.send('POST', '/organizations', { slug: environmentRef.organization });
    expect(answer).toBe(409);
  });

  test('gives the organization the owners that it names, once all of them exist, and leaves owners alone afterwards', async () => {
    const environmentRef = unusedRef();
    const email = `${environmentRef.name}@corp.test`;
    const me = await stack.admin.call<{ name: string }>('GET', '/me');
    const name = await environments.create({ environmentRef, owners: [me.name, email] });
    const waiting = await environments.waitForReason(name, 'NotFound');
    expect(readyOf(waiting)?.message).toContain(email);
    expect(waiting.status?.environmentId).toMatch(/^[0-9a-f-]{36}$/);
    expect(await found(environmentRef)).toBeUndefined();
    await stack.admin.call('POST', '/users', { email });
    await environments.waitForReason(name, 'Available');
    const path = `/members/${environmentRef.organization}`;
    const owners = async (): Promise<unknown> => {
      const { members } = await stack.admin.call<{ members: { email: string; role: string }[] }>('GET', path);
      return members.map((member) => `${member.email} ${member.role}`).toSorted();
    };
    expect(await owners()).toEqual([`${me.name} owner`, `${email} owner`].toSorted());
    await stack.admin.call('DELETE', `${path}/${email}`);
    await environments.requestReconcile(name);
    await environments.waitForReason(name, 'Available');
    expect(await owners()).toEqual([`${me.name} owner`]);
  });

  test('makes the environment with its project, and its name for people', async () => {
    const environmentRef = await newRef();
    const name = await environments.create({ environmentRef, displayName: 'Production' });
    const resource = await environments.waitForReason(name, 'Available');
    expect(conditionsOf(resource)).toEqual(['Ready True', 'Reconciling False', 'Stalled False']);
    expect(resource.metadata.finalizers).toBeUndefined();
    const environment = await found(environmentRef);
    expect(environment?.displayName).toBe('Production');
    expect(resource.status).toMatchObject({ environmentId: environment?.id, revision: 0, secretCount: 0 });
    await environments.patch(name, { spec: { displayName: 'Live' } });
    await waitFor('the other name', async () => (await found(environmentRef))?.displayName === 'Live');
    await environments.delete(name);
    await environments.waitUntilGone(name);
    expect(await found(environmentRef)).toBeDefined();
  });

  test('follows the commits of its environment with few writes', async () => {
    const environmentRef = await newRef();
    const name = await environments.create({ environmentRef });
    const before = await environments.waitForReason(name, 'Available');
    let revisionId = '';
    const versions = new Set<string>();
    const beganAt = Date.now();
    for (let change = 1; change <= 20; change += 1) {
      const body = { set: { [`KEY_${change}`]: `value ${change}` } };
      const path = secretsPathOf(environmentRef);
      ({ revisionId } = await stack.admin.call<{ revisionId: string }>('PATCH', path, body));
      versions.add((await environments.get(name)).metadata.resourceVersion);
    }
    await waitFor('the status to report the newest revision', async () => {
      const { status, metadata } = await environments.get(name);
      versions.add(metadata.resourceVersion);
      expect(status).toMatchObject({ revision: 20, revisionId, secretCount: 20 });
      return true;
    });
    expect(before.status?.revision).toBe(0);
    // The one before, one at the first commit, and at most one for each second after it.
    expect(versions.size).toBeLessThanOrEqual(3 + (Date.now() - beganAt) / 1000);
  });

  test('of an environment that is there takes it as it is, and leaves it whatever its policy is', async () => {
    const { ref } = await stack.admin.makeEnvironment();
    const name = await environments.create({ environmentRef: ref, deletionPolicy: 'Delete' });
    const resource = await environments.waitForReason(name, 'Available');
    expect(readyOf(resource)?.message).toContain('did not create it');
    await environments.delete(name);
    await environments.waitUntilGone(name);
    expect(await found(ref)).toBeDefined();
  });

  test('with the policy Delete takes the environment that it made with it', async () => {
    const environmentRef = await newRef();
    const name = await environments.create({ environmentRef, deletionPolicy: 'Delete' });
    const { metadata } = await environments.waitForReason(name, 'Available');
    expect(metadata.finalizers).toEqual(['keyframe.dev/cleanup']);
    await environments.delete(name);
    await environments.waitUntilGone(name);
    expect(await found(environmentRef)).toBeUndefined();
  });

  test('whose environment is deleted over the API says what to do, and recreates it after a purge', async () => {
    const environmentRef = await newRef();
    const name = await environments.create({ environmentRef });
    const before = await environments.waitForReason(name, 'Available');
    await stack.admin.call('DELETE', apiPathOf(environmentRef));
    const deleted = await environments.waitForReason(name, 'EnvironmentDeleted');
    expect(conditionsOf(deleted)).toEqual(['Ready False', 'Reconciling False', 'Stalled True']);
    expect(readyOf(deleted)?.message).toContain('purge');
    await stack.admin.call('POST', `${apiPathOf(environmentRef)}/purge`);
    const after = await environments.waitForReason(name, 'Available');
    expect(after.status?.environmentId).not.toBe(before.status?.environmentId);
    expect((await found(environmentRef))?.id).toBe(after.status?.environmentId);
  });

  test('whose environment is deleted and undeleted over the API has it again, with its id, at once', async () => {
    const environmentRef = await newRef();
    const name = await environments.create({ environmentRef });
    const before = await environments.waitForReason(name, 'Available');
    await stack.admin.call('DELETE', apiPathOf(environmentRef));
    const { organization, project, name: slug } = environmentRef;
    const deleted = await environments.waitForReason(name, 'EnvironmentDeleted');
    expect(readyOf(deleted)?.message).toContain(`\`keyframe env undelete ${slug} -o ${organization} -p ${project}\``);
    // It knows nothing of the environment from before.
    const late = await environments.create({ environmentRef });
    await environments.waitForReason(late, 'SlugTaken');
    const undeletedAt = Date.now();
    await stack.admin.call('POST', `${apiPathOf(environmentRef)}/undelete`);
    const after = await environments.waitForReason(name, 'Available');
    await environments.waitForReason(late, 'Available');
    // Not by the retry, which comes after a minute.
    expect(Date.now() - undeletedAt).toBeLessThan(30_000);
    expect(after.status?.environmentId).toBe(before.status?.environmentId);
  });

  test('for a slug that something deleted still has waits for the purge', async () => {
    const { ref } = await stack.admin.makeEnvironment();
    await stack.admin.call('DELETE', apiPathOf(ref));
    const name = await environments.create({ environmentRef: ref });
    const refused = await environments.waitForReason(name, 'SlugTaken');
    expect(readyOf(refused)?.message).toContain(`${ref.organization}/${ref.project}/${ref.name} was deleted`);
    await stack.admin.call('POST', `${apiPathOf(ref)}/purge`);
    await environments.waitForReason(name, 'Available');
  });

  test('makes nothing while it is suspended', async () => {
    const environmentRef = await newRef();
    const name = await environments.create({ environmentRef, suspend: true });
    await environments.waitForReason(name, 'Suspended');
    await environments.requestReconcile(name);
    // One that is made after the request shows that the first one has been reconciled.
    const another = await environments.create({ environmentRef: await newRef() });
    await environments.waitForReason(another, 'Available');
    expect(await found(environmentRef)).toBeUndefined();
    await environments.patch(name, { spec: { suspend: false } });
    await environments.waitForReason(name, 'Available');
  });
});
