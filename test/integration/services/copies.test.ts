import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { limits } from '../../../src/domain/limits.ts';
import { Plaintext } from '../../../src/domain/plaintext.ts';
import type { Caller } from '../../../src/domain/principal.ts';
import type { CopyAnswer, CopyInput, CopyPlan } from '../../../src/services/secrets/copy/copies.ts';
import { secretCalls, type SecretCalls } from '../../support/api/secret-calls.ts';
import type { TestServices, World } from '../../support/api/services.ts';
import { withWorlds } from '../../support/api/with-services.ts';
import { prismaOf } from '../../support/database/prisma.ts';

let services: TestServices;
let world: World;
/** The developer's calls on the destination. */
let calls: SecretCalls;

withWorlds((given) => ({ services, world, calls } = given));

/** Another environment of the world, which copies read from, and the developer's calls on it. */
async function newSource(slug = 'staging'): Promise<{ readonly slug: string; readonly source: SecretCalls }> {
  await services.environments.create(await world.onProject(world.owner.caller, 'environment.create'), { slug });
  return { slug, source: secretCalls(services, worldAt(slug), world.developer.caller) };
}

/** The world with another environment as its own. */
function worldAt(slug: string): World {
  const slugs = { ...world.slugs, environment: slug };
  return { ...world, slugs, onEnvironment: (caller, action) => services.access.environment(caller, action, slugs) };
}

type Rest = Partial<CopyInput>;

async function endsOf(
  from: string,
  caller: Caller,
  to = world.slugs.environment,
): Promise<Parameters<TestServices['copies']['copy']>[0]> {
  return {
    destination: await worldAt(to).onEnvironment(caller, 'environment.copy'),
    source: await worldAt(from).onEnvironment(caller, 'secret.list'),
  };
}

async function copy(from: string, rest: Rest = {}, caller = world.developer.caller): Promise<CopyAnswer> {
  return services.copies.copy(await endsOf(from, caller), { mode: 'changed', ...rest });
}

async function plan(from: string, rest: Rest = {}): Promise<CopyPlan> {
  return services.copies.plan(await endsOf(from, world.developer.caller), { mode: 'changed', ...rest });
}

const nothing = { created: [], updated: [], unchanged: [], kept: [], deleted: [], destroyed: [] };

async function filled(): Promise<{ readonly slug: string; readonly source: SecretCalls }> {
  const made = await newSource();
  await made.source.patch({ NEW: 'n', SAME: 's', OTHER: 'theirs' });
  await calls.patch({ SAME: 's', OTHER: 'ours', ONLY: 'o' });
  return made;
}

describe('a copy', () => {
  test('writes missing and changed keys as one revision, and nothing else', async () => {
    const { slug } = await filled();
    const answer = await copy(slug);
    expect(answer).toMatchObject({
      ...nothing,
      created: ['NEW'],
      updated: ['OTHER'],
      unchanged: ['SAME'],
      revision: 2,
    });
    const { secrets, revision, revisionId } = await calls.read();
    expect(secrets).toEqual({ NEW: ['n', 1], OTHER: ['theirs', 2], SAME: ['s', 1], ONLY: ['o', 1] });
    expect({ revision, revisionId }).toEqual({ revision: answer.revision, revisionId: answer.revisionId });
    const [version] = await calls.history('OTHER');
    expect(version).toMatchObject({
      changeType: 'updated',
      comment: `copied from ${world.slugs.project}/staging at revision 1`,
    });
    expect((await calls.history('NEW'))[0]).toMatchObject({ changeType: 'created' });
  });

  test.each(['never had', 'deleted'])('of the missing keys creates one that the destination %s', async (history) => {
    const { slug } = await filled();
    if (history === 'deleted') {
      await calls.put('NEW', 'former');
      await calls.remove('NEW');
    }
    const expected = { ...nothing, created: ['NEW'], kept: ['OTHER'], unchanged: ['SAME'] };
    expect(await plan(slug, { mode: 'missing' })).toMatchObject(expected);
    expect(await copy(slug, { mode: 'missing' })).toMatchObject(expected);
    expect((await calls.read()).secrets['NEW']).toEqual(['n', history === 'deleted' ? 2 : 1]);
    expect((await calls.read()).secrets['OTHER']).toEqual(['ours', 1]);
  });

  test('that mirrors deletes what the source does not have, among the selected keys alone', async () => {
    const { slug } = await filled();
    await calls.put('LOCAL_ONLY', 'x');
    const keys = { exclude: ['LOCAL_*'] };
    expect(await copy(slug, { mode: 'mirror', keys })).toMatchObject({
      ...nothing,
      created: ['NEW'],
      updated: ['OTHER'],
      unchanged: ['SAME'],
      deleted: ['ONLY'],
    });
    expect(Object.keys((await calls.read()).secrets)).toEqual(['LOCAL_ONLY', 'NEW', 'OTHER', 'SAME']);
  });

  test('copies only the selected keys', async () => {
    const { slug } = await filled();
    expect(await copy(slug, { keys: { include: ['N*', 'OTHER'], exclude: ['OTHER'] } })).toMatchObject({
      ...nothing,
      created: ['NEW'],
    });
    expect(await copy(slug, { keys: { include: [] } })).toMatchObject({ ...nothing, revision: 2 });
  });

  test('without a difference makes no revision', async () => {
    const { slug } = await filled();
    const { revisionId } = await copy(slug);
    expect(await copy(slug)).toMatchObject({
      ...nothing,
      unchanged: ['NEW', 'OTHER', 'SAME'],
      revisionId,
      revision: 2,
    });
  });

  test('reads a past revision of the source, and passes over values that were destroyed', async () => {
    const { slug, source } = await newSource();
    await source.patch({ A: 'a1', B: 'b1' });
    await source.patch({ A: 'a2' }, ['B']);
    const access = await worldAt(slug).onEnvironment(world.owner.caller, 'version.destroy');
    await services.destructions.destroy(access, 'A', { version: 1 });
    await calls.put('A', 'ours');
    expect(await copy(slug, { revision: 1, mode: 'mirror' })).toMatchObject({
      ...nothing,
      created: ['B'],
      destroyed: ['A'],
      from: { revision: 1 },
    });
    expect((await calls.read()).secrets).toEqual({ A: ['ours', 1], B: ['b1', 1] });
    await expect(copy(slug, { revision: 99 })).rejects.toMatchObject({ code: 'not_found' });
  });

  test('continues the versions of a key that was deleted', async () => {
    const { slug } = await filled();
    await calls.remove('OTHER');
    expect(await copy(slug)).toMatchObject({ created: ['NEW', 'OTHER'] });
    expect((await calls.read()).secrets['OTHER']).toEqual(['theirs', 2]);
    expect((await calls.history('OTHER'))[0]).toMatchObject({ changeType: 'created', version: 2 });
  });

  test('seals each value for its own secret: the stored bytes differ from those of the source', async () => {
    const { slug, source } = await newSource();
    await source.put('KEY', 'value');
    await copy(slug);
    const rows = await prismaOf(services.database).secretVersion.findMany({
      where: { secret: { key: 'KEY', environment: { projectId: world.project.id } } },
    });
    expect(rows).toHaveLength(2);
    expect(rows[0]?.valueMac).not.toEqual(rows[1]?.valueMac);
    expect(rows[0]?.ciphertext).not.toEqual(rows[1]?.ciphertext);
    expect(await calls.readOne('KEY')).toBe('value');
  });

  test('goes from project to project, under the data key of the destination', async () => {
    const other = await services.projects.create(await world.onOrganization(world.owner.caller, 'project.create'), {
      slug: 'other',
    });
    await services.environments.create(
      await services.access.project(world.owner.caller, 'environment.create', {
        organization: world.slugs.organization,
        project: 'other',
      }),
      { slug: 'dev' },
    );
    const slugs = { organization: world.slugs.organization, project: 'other', environment: 'dev' };
    const source = await services.access.environment(world.developer.caller, 'secret.list', slugs);
    const writing = await services.access.environment(world.developer.caller, 'secret.write', slugs);
    await services.secrets.put(writing, 'KEY', { value: new Plaintext('far') });
    const destination = await world.onEnvironment(world.developer.caller, 'environment.copy');
    await services.copies.copy({ source, destination }, { mode: 'missing' });
    expect(await calls.readOne('KEY')).toBe('far');
    const [row] = await prismaOf(services.database).secretVersion.findMany({
      where: { secret: { key: 'KEY', environmentId: world.environment.id } },
      include: { dataKey: true },
    });
    expect(row?.dataKey.projectId).toBe(world.project.id);
    expect(other.id).not.toBe(world.project.id);
  });

  test('from an earlier revision of the environment itself goes back to it, and leaves the values alone that are equal', async () => {
    await calls.patch({ BACK: 'b1', GONE: 'g1', SAME: 's' });
    const { revision, revisionId } = await calls.read();
    await calls.put('BACK', 'b2');
    await calls.remove('GONE');
    await calls.put('LATER', 'l');
    const itself = world.slugs.environment;
    const input = { revision: revisionId, mode: 'mirror' } as const;
    const { planHash, ...planned } = await plan(itself, input);
    const done = { ...nothing, created: ['GONE'], updated: ['BACK'], unchanged: ['SAME'], deleted: ['LATER'] };
    expect(planned).toMatchObject({ ...done, from: { revision, revisionId }, revision: 4 });
    expect(await copy(itself, { ...input, planHash })).toMatchObject({ ...done, revision: 5 });
    expect((await calls.read()).secrets).toEqual({ BACK: ['b1', 3], GONE: ['g1', 2], SAME: ['s', 1] });
    expect((await calls.history('BACK'))[0]).toMatchObject({
      changeType: 'rolled_back',
      comment: 'restored revision 1',
    });
  });

  test('is refused for the environment itself without a revision, a bad hash and a value beyond the quota', async () => {
    await expect(copy(world.slugs.environment)).rejects.toMatchObject({ code: 'invalid_input' });
    const { slug, source } = await newSource();
    await source.put('KEY', '1');
    await expect(copy(slug, { planHash: 'x' })).rejects.toMatchObject({ code: 'invalid_input' });
    const half = 'x'.repeat(limits.valueBytes);
    const keys = Array.from(
      { length: limits.environmentBytes / limits.valueBytes },
      (_, index) => [`K${index}`, half] as const,
    );
    await calls.patch(Object.fromEntries(keys));
    await expect(copy(slug)).rejects.toMatchObject({ code: 'quota_exceeded' });
    await expect(plan(slug)).rejects.toMatchObject({ code: 'quota_exceeded' });
  });
});

test('going back at once with other writes leaves each revision whole, and loses no write', async () => {
  const keys = ['A', 'B', 'C', 'D'];
  const all = (value: string): Record<string, string> => Object.fromEntries(keys.map((key) => [key, value]));
  await calls.patch(all('one'));
  await calls.patch({ ...all('two'), LATER: 'l' });
  const states = { 1: all('one'), 2: { ...all('two'), LATER: 'l' } };
  const input = { mode: 'mirror', keys: { exclude: ['OWN_*'] } } as const;
  const done = await Promise.all(
    Array.from({ length: 20 }, async (_, index) => {
      const revision = index % 2 === 0 ? 1 : 2;
      const [{ revision: after }] = await Promise.all([
        copy(world.slugs.environment, { ...input, revision }),
        calls.patch({ ...all(`w${index}`), [`OWN_${index}`]: 'kept' }),
      ]);
      return { after, state: states[revision] };
    }),
  );
  const valuesAt = async (revision?: number): Promise<(readonly [string, string])[]> => {
    const access = await world.onEnvironment(world.developer.caller, 'secret.list');
    const { secrets } = await services.secrets.list(access, revision === undefined ? {} : { revision });
    return secrets.map(({ key, value }) => [key, value.reveal()]);
  };
  for (const { after, state } of done) {
    const values = (await valuesAt(after)).filter(([key]) => !key.startsWith('OWN_'));
    expect(Object.fromEntries(values)).toEqual(state);
  }
  expect((await valuesAt()).filter(([key]) => key.startsWith('OWN_'))).toHaveLength(20);
});

describe('the plan of a copy', () => {
  test('says what the copy then does, and changes nothing', async () => {
    const { slug } = await filled();
    const before = await calls.read();
    const { planHash, revisionId, ...planned } = await plan(slug, { mode: 'mirror' });
    expect(await calls.read()).toEqual(before);
    expect(revisionId).toBe(before.revisionId);
    const { revisionId: _after, ...done } = await copy(slug, { mode: 'mirror', planHash });
    expect({ ...done, revision: done.revision - 1 }).toEqual(planned);
  });

  test('is outdated by a change of either side, and by other options', async () => {
    const { slug, source } = await filled();
    const outdated = { code: 'plan_outdated' };
    const { planHash } = await plan(slug);
    await expect(copy(slug, { planHash, mode: 'missing' })).rejects.toMatchObject(outdated);
    await expect(copy(slug, { planHash, keys: { include: ['*'], exclude: ['X'] } })).rejects.toMatchObject(outdated);
    await source.put('UNRELATED', '1');
    await expect(copy(slug, { planHash })).rejects.toMatchObject(outdated);
    const again = await plan(slug);
    await calls.put('UNRELATED', '1');
    await expect(copy(slug, { planHash: again.planHash })).rejects.toMatchObject(outdated);
    const last = await plan(slug);
    await expect(copy(slug, { planHash: last.planHash, keys: { include: ['*'] } })).resolves.toMatchObject({
      created: ['NEW'],
    });
  });

  test('holds only at the expected revision', async () => {
    const { slug } = await filled();
    const { revisionId } = await calls.read();
    await expect(copy(slug, { expectedRevision: randomUUID() })).rejects.toMatchObject({ code: 'version_mismatch' });
    await expect(plan(slug, { expectedRevision: randomUUID() })).rejects.toMatchObject({ code: 'version_mismatch' });
    await expect(copy(slug, { expectedRevision: revisionId })).resolves.toMatchObject({ revision: 2 });
  });
});

describe('the audit', () => {
  async function entries(action = 'environment.copy'): Promise<Record<string, unknown>[]> {
    const rows = await prismaOf(services.database).auditEntry.findMany({
      where: { organizationId: world.organization.id, action },
      orderBy: { id: 'asc' },
    });
    return rows.map(({ outcome, target }) => ({ outcome, ...(target as object) }));
  }

  test('has an entry in both environments, for a copy and for its plan', async () => {
    const { slug } = await filled();
    await plan(slug);
    await copy(slug);
    const { project, environment } = world.slugs;
    expect(await entries()).toEqual([
      expect.objectContaining({
        environment: slug,
        toEnvironment: environment,
        toProject: project,
        dryRun: true,
        created: 1,
      }),
      expect.objectContaining({ environment, fromEnvironment: slug, fromProject: project, dryRun: true, created: 1 }),
      expect.objectContaining({ environment: slug, toEnvironment: environment, setKeys: ['NEW', 'OTHER'] }),
      expect.objectContaining({ environment, fromEnvironment: slug, setKeys: ['NEW', 'OTHER'], revision: 2 }),
    ]);
    expect(JSON.stringify(await entries())).not.toContain('theirs');
  });

  test('has one entry for a copy from an earlier revision of the environment itself, and one for its plan', async () => {
    await calls.put('KEY', '1');
    await calls.put('KEY', '2');
    const itself = world.slugs.environment;
    await plan(itself, { revision: 1 });
    await copy(itself, { revision: 1 });
    const from = { environment: itself, fromEnvironment: itself, fromRevision: 1 };
    expect(await entries()).toEqual([
      expect.objectContaining({ ...from, dryRun: true, updated: 1 }),
      expect.objectContaining({ ...from, setKeys: ['KEY'], revision: 3 }),
    ]);
  });

  test('records a copy that failed', async () => {
    const { slug } = await filled();
    await copy(slug, { expectedRevision: randomUUID() }).catch(() => undefined);
    expect(await entries()).toEqual([expect.objectContaining({ outcome: 'failed', fromEnvironment: slug })]);
  });
});

describe('the rights', () => {
  test('are to write the destination and to read the source, until the commit', async () => {
    const { slug } = await filled();
    await expect(copy(slug, {}, world.viewer.caller)).rejects.toMatchObject({ code: 'forbidden' });
    await expect(copy(slug, {}, world.stranger.caller)).rejects.toMatchObject({ code: 'not_found' });
    const scoped = await world.serviceToken();
    await expect(copy(slug, {}, scoped.caller)).rejects.toMatchObject({ code: 'not_found' });
    const ends = await endsOf(slug, world.developer.caller);
    await services.environments.delete(await worldAt(slug).onEnvironment(world.owner.caller, 'environment.delete'));
    await expect(services.copies.copy(ends, { mode: 'changed' })).rejects.toMatchObject({ code: 'not_found' });
    expect((await calls.read()).revision).toBe(1);
  });

  test('end with the project of the source, also if it is deleted between authorization and copy', async () => {
    const { caller } = world.owner;
    const project = { organization: world.slugs.organization, project: 'doomed' };
    await services.projects.create(await world.onOrganization(caller, 'project.create'), { slug: 'doomed' });
    await services.environments.create(await services.access.project(caller, 'environment.create', project), {
      slug: 'dev',
    });
    const slugs = { ...project, environment: 'dev' };
    const source = await services.access.environment(caller, 'secret.list', slugs);
    await services.secrets.put(await services.access.environment(caller, 'secret.write', slugs), 'KEY', {
      value: new Plaintext('x'),
    });
    const destination = await world.onEnvironment(caller, 'environment.copy');
    await services.projects.delete(await services.access.project(caller, 'project.delete', project));
    const copied = services.copies.copy({ source, destination }, { mode: 'changed' });
    await expect(copied).rejects.toMatchObject({ code: 'not_found' });
    expect((await calls.read()).secrets).toEqual({});
  });
});

describe('an Idempotency-Key', () => {
  test('makes a copy once, and repeats its answer', async () => {
    const { slug, source } = await filled();
    const idempotency = { key: 'once', requestHash: Buffer.alloc(32) };
    const { replayed, ...first } = await copy(slug, { idempotency });
    expect(replayed).toBeUndefined();
    await source.put('NEW', 'later');
    expect(await copy(slug, { idempotency })).toEqual({ ...first, replayed: true });
    expect(await calls.readOne('NEW')).toBe('n');
  });
});

test('the stored answer of a copy that changes nothing counts against the budget', async () => {
  const { slug } = await filled();
  await copy(slug);
  const budgetOf = async (): Promise<Date | null | undefined> =>
    (await prismaOf(services.database).environment.findUnique({ where: { id: world.environment.id } }))
      ?.writeBudgetEmptyAt;
  const before = await budgetOf();
  await copy(slug);
  expect(await budgetOf()).toEqual(before);
  await copy(slug, { idempotency: { key: 'kept', requestHash: Buffer.alloc(32) } });
  expect(await budgetOf()).not.toEqual(before);
});
