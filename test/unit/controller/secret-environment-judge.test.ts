import { expect, test } from '@jest/globals';
import type { SecretEnvironmentSpec } from '../../../src/controller/generated/secret-environment.ts';
import { judgeConflict, judgeEnsured } from '../../../src/controller/kinds/secret-environment/judge.ts';
import { DomainError } from '../../../src/domain/errors/domain-error.ts';

const environmentRef = { organization: 'acme', project: 'web', name: 'prod' };
const retaining: SecretEnvironmentSpec = { environmentRef, deletionPolicy: 'Retain', suspend: false };
const deleting: SecretEnvironmentSpec = { ...retaining, deletionPolicy: 'Delete' };
const ensured = { environmentId: 'e1', revision: 3, revisionId: 'r3', secretCount: 2, created: false };
const conflict = new DomainError('conflict', 'project acme/web was deleted and still has that slug');

test('an environment that is there is told of with its revision', () => {
  expect(judgeEnsured(retaining, ensured, undefined)).toEqual({
    claim: { progress: 'done', reason: 'Available', message: 'Environment acme/web/prod is there.' },
    fields: { environmentId: 'e1', revision: 3, revisionId: 'r3', secretCount: 2 },
  });
});

test('with the policy Delete the status says whether the environment would stay all the same', () => {
  const stays = 'so it stays when this resource is deleted';
  expect(judgeEnsured(deleting, ensured, { environmentId: 'e1' }).claim.message).not.toContain(stays);
  expect(judgeEnsured(deleting, ensured, undefined).claim.message).toContain(stays);
  expect(judgeEnsured(deleting, ensured, 'gone').claim.message).toContain(stays);
  expect(judgeEnsured(deleting, ensured, { environmentId: 'another' }).claim.message).toContain(stays);
});

test('an own environment that was deleted is told from a slug that something else has', () => {
  const own = judgeConflict(retaining, conflict, 'gone');
  expect(own.claim).toMatchObject({ progress: 'reconciling', reason: 'EnvironmentDeleted' });
  expect(own.claim.message).toContain('purge');
  const foreign = judgeConflict(retaining, conflict, undefined);
  expect(foreign.claim).toEqual({
    progress: 'reconciling',
    reason: 'SlugTaken',
    message: 'Project acme/web was deleted and still has that slug. After a purge the environment is made.',
  });
  expect(foreign.next).toMatchObject({ kind: 'retry' });
});
