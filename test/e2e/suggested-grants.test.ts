import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import type { AccessGrant } from '../../src/controller/generated/access-grant.ts';
import { Stack } from '../support/cluster/stack.ts';
import { suggestedPatch } from '../support/cluster/suggested-patch.ts';
import { TokenSite } from '../support/cluster/token-site.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

/** What a message suggests is applied as it is printed, one suggestion after the other. */

const resources = new AsyncDisposableStack();
const grants = '/apis/keyframe.dev/v1alpha1/accessgrants';
let stack: Stack;

beforeAll(async () => {
  stack = await Stack.start(resources, { namespaces: 3 });
  await stack.startController();
});

afterAll(() => resources.disposeAsync());

async function refusal(site: TokenSite, name: string): Promise<string> {
  return (await site.waitForReason('AccessDenied', name)).message;
}

/** Applies the AccessGrant that a message prints, as `kubectl apply` does: one of its name is replaced. */
async function applyPrinted(message: string): Promise<string> {
  const grant = parse(message.slice(message.indexOf('apiVersion:'))) as AccessGrant;
  const path = `${grants}/${grant.metadata.name}`;
  resources.defer(async () => void (await stack.kube.find({ method: 'DELETE', path })));
  const contentType = 'application/apply-patch+yaml';
  await stack.kube.json({ method: 'PATCH', path: `${path}?fieldManager=admin&force=true`, contentType, body: grant });
  return grant.metadata.name;
}

test('two suggestions that are applied as printed both hold, and so does one that patches a grant', async () => {
  const site = await TokenSite.make(stack, { granted: false });
  const { organization, project } = site.environment.ref;
  for (const slug of ['second', 'third']) {
    await stack.admin.call('POST', `/environments/${organization}/${project}`, { slug });
  }
  await site.create({}, 'first');
  await site.create({ environmentRef: { ...site.environment.ref, name: 'second' } }, 'second');
  const messages = [await refusal(site, 'first'), await refusal(site, 'second')];
  const names = [];
  for (const message of messages) names.push(await applyPrinted(message));
  expect(new Set(names).size).toBe(2);
  const first = await site.waitForSerial(1, 'first');
  await site.waitForReason('Issued', 'second');

  await site.create({ environmentRef: { ...site.environment.ref, name: 'third' }, permission: 'ReadWrite' }, 'third');
  const message = await refusal(site, 'third');
  expect(message).not.toContain('kind: AccessGrant');
  const shown = suggestedPatch(message);
  expect(names).toContain(shown.grant);
  await shown.apply();
  await site.waitForReason('Issued', 'third');
  expect(await site.answer(first)).toBe(200);
  expect(await site.condition('Ready', 'second')).toMatchObject({ reason: 'Issued' });
});

test('a mistyped slug is answered with what the namespace is granted, and nothing of what exists beyond that', async () => {
  const [site, other] = [await TokenSite.make(stack), await TokenSite.make(stack)];
  resources.defer(async () => {
    await Promise.all([site.withdraw(), other.withdraw()]);
  });
  const { organization, project, name } = site.environment.ref;
  await site.create({ environmentRef: { ...site.environment.ref, name: `${name}-typo` } });
  const message = await refusal(site, 'ci');
  expect(message).toContain(
    `The namespace is granted, for ServiceToken: ReadWrite on ${organization}/${project}/${name}.`,
  );
  expect(message).toContain('Correct the slugs if they are mistyped');
  // What exists is answered as what does not.
  const { ref } = other.environment;
  await site.create({ environmentRef: ref }, 'existing');
  const absent = { ...ref, name: `x${ref.name.slice(1)}` };
  await site.create({ environmentRef: absent }, 'absent');
  const masked = (text: string): string => text.replaceAll(absent.name, ref.name).replaceAll('absent', 'existing');
  expect(masked(await refusal(site, 'absent'))).toBe(await refusal(site, 'existing'));
  const read = { environmentRef: { ...site.environment.ref, name: `${name}-typo` } };
  const body = { apiVersion: 'keyframe.dev/v1alpha1', kind: 'SecretSync', metadata: { name: 'app' }, spec: read };
  const path = `/apis/keyframe.dev/v1alpha1/namespaces/${site.namespace}/secretsyncs`;
  await stack.kube.json({ method: 'POST', path, body });
  await waitFor('the SecretSync to say the cause itself', async () => {
    const { status } = await stack.kube.json<{
      status?: { conditions?: { type: string; reason: string; message: string }[] };
    }>({
      path: `${path}/app`,
    });
    const ready = status?.conditions?.find(({ type }) => type === 'Ready');
    expect(ready).toMatchObject({
      reason: 'AccessDenied',
      message: expect.stringContaining('The namespace is granted'),
    });
    return true;
  });
});
