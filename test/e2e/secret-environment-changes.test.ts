import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { EnvironmentRef } from '../support/api/api-client.ts';
import { EnvironmentSite, unusedRef } from '../support/cluster/environment-site.ts';
import { conditionsOf, readyOf } from '../support/cluster/resource-site.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

const resources = new AsyncDisposableStack();
let site: EnvironmentSite;

beforeAll(async () => {
  site = await EnvironmentSite.make(resources);
});

afterAll(() => resources.disposeAsync());

const apiPathOf = ({ organization, project, name }: EnvironmentRef): string =>
  `/environments/${organization}/${project}/${name}`;
const secretsPathOf = ({ organization, project, name }: EnvironmentRef): string =>
  `/secrets/${organization}/${project}/${name}`;

describe('a SecretEnvironment', () => {
  test('gives the organization the owners that it names, once all of them exist, and leaves owners alone afterwards', async () => {
    const environmentRef = unusedRef();
    const email = `${environmentRef.name}@corp.test`;
    const me = await site.stack.admin.call<{ name: string }>('GET', '/me');
    const name = await site.environments.create({ environmentRef, owners: [me.name, email] });
    const waiting = await site.environments.waitForReason(name, 'NotFound');
    expect(readyOf(waiting)?.message).toContain(email);
    expect(waiting.status?.environmentId).toMatch(/^[0-9a-f-]{36}$/);
    expect(await site.found(environmentRef)).toBeUndefined();
    await site.stack.admin.call('POST', '/users', { email });
    await site.environments.waitForReason(name, 'Available');
    const path = `/members/${environmentRef.organization}`;
    const owners = async (): Promise<unknown> => {
      const { members } = await site.stack.admin.call<{ members: { email: string; role: string }[] }>('GET', path);
      return members.map((member) => `${member.email} ${member.role}`).toSorted();
    };
    expect(await owners()).toEqual([`${me.name} owner`, `${email} owner`].toSorted());
    await site.stack.admin.call('DELETE', `${path}/${email}`);
    await site.environments.requestReconcile(name);
    await site.environments.waitForReason(name, 'Available');
    expect(await owners()).toEqual([`${me.name} owner`]);
  });

  test('follows the commits of its environment with few writes', async () => {
    const environmentRef = await site.newRef();
    const name = await site.environments.create({ environmentRef });
    const before = await site.environments.waitForReason(name, 'Available');
    let revisionId = '';
    const versions = new Set<string>();
    const beganAt = Date.now();
    for (let change = 1; change <= 20; change += 1) {
      const body = { set: { [`KEY_${change}`]: `value ${change}` } };
      const path = secretsPathOf(environmentRef);
      ({ revisionId } = await site.stack.admin.call<{ revisionId: string }>('PATCH', path, body));
      versions.add((await site.environments.get(name)).metadata.resourceVersion);
    }
    await waitFor('the status to report the newest revision', async () => {
      const { status, metadata } = await site.environments.get(name);
      versions.add(metadata.resourceVersion);
      expect(status).toMatchObject({ revision: 20, revisionId, secretCount: 20 });
      return true;
    });
    expect(before.status?.revision).toBe(0);
    // The one before, one at the first commit, and at most one for each second after it.
    expect(versions.size).toBeLessThanOrEqual(3 + (Date.now() - beganAt) / 1000);
  });

  test('whose environment is deleted over the API says what to do, and recreates it after a purge', async () => {
    const environmentRef = await site.newRef();
    const name = await site.environments.create({ environmentRef });
    const before = await site.environments.waitForReason(name, 'Available');
    await site.stack.admin.call('DELETE', apiPathOf(environmentRef));
    const deleted = await site.environments.waitForReason(name, 'EnvironmentDeleted');
    expect(conditionsOf(deleted)).toEqual(['Ready False', 'Reconciling False', 'Stalled True']);
    expect(readyOf(deleted)?.message).toContain('purge');
    await site.stack.admin.call('POST', `${apiPathOf(environmentRef)}/purge`);
    const after = await site.environments.waitForReason(name, 'Available');
    expect(after.status?.environmentId).not.toBe(before.status?.environmentId);
    expect((await site.found(environmentRef))?.id).toBe(after.status?.environmentId);
  });

  test('whose environment is deleted and undeleted over the API has it again, with its id, at once', async () => {
    const environmentRef = await site.newRef();
    const name = await site.environments.create({ environmentRef });
    const before = await site.environments.waitForReason(name, 'Available');
    await site.stack.admin.call('DELETE', apiPathOf(environmentRef));
    const { organization, project, name: slug } = environmentRef;
    const deleted = await site.environments.waitForReason(name, 'EnvironmentDeleted');
    expect(readyOf(deleted)?.message).toContain(`\`keyframe env undelete ${slug} -o ${organization} -p ${project}\``);
    // It knows nothing of the environment from before.
    const late = await site.environments.create({ environmentRef });
    await site.environments.waitForReason(late, 'SlugTaken');
    const undeletedAt = Date.now();
    await site.stack.admin.call('POST', `${apiPathOf(environmentRef)}/undelete`);
    const after = await site.environments.waitForReason(name, 'Available');
    await site.environments.waitForReason(late, 'Available');
    // Not by the retry, which comes after a minute.
    expect(Date.now() - undeletedAt).toBeLessThan(30_000);
    expect(after.status?.environmentId).toBe(before.status?.environmentId);
  });

  test('for a slug that something deleted still has waits for the purge', async () => {
    const { ref } = await site.stack.admin.makeEnvironment();
    await site.stack.admin.call('DELETE', apiPathOf(ref));
    const name = await site.environments.create({ environmentRef: ref });
    const refused = await site.environments.waitForReason(name, 'SlugTaken');
    expect(readyOf(refused)?.message).toContain(`${ref.organization}/${ref.project}/${ref.name} was deleted`);
    await site.stack.admin.call('POST', `${apiPathOf(ref)}/purge`);
    await site.environments.waitForReason(name, 'Available');
  });

  test('makes nothing while it is suspended', async () => {
    const environmentRef = await site.newRef();
    const name = await site.environments.create({ environmentRef, suspend: true });
    await site.environments.waitForReason(name, 'Suspended');
    await site.environments.requestReconcile(name);
    // One that is made after the request shows that the first one has been reconciled.
    const another = await site.environments.create({ environmentRef: await site.newRef() });
    await site.environments.waitForReason(another, 'Available');
    expect(await site.found(environmentRef)).toBeUndefined();
    await site.environments.patch(name, { spec: { suspend: false } });
    await site.environments.waitForReason(name, 'Available');
  });
});
