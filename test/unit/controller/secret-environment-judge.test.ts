import { expect, test } from '@jest/globals';
import type { SecretEnvironmentSpec } from '../../../src/controller/generated/secret-environment.ts';
import { judgeConflict, judgeEnsured } from '../../../src/controller/kinds/secret-environment/judge.ts';
import * as messages from '../../../src/controller/kinds/secret-environment/messages.ts';
import { DomainError } from '../../../src/domain/errors/domain-error.ts';

const environmentRef = { organization: 'acme', project: 'web', name: 'prod' };
const retaining: SecretEnvironmentSpec = { environmentRef, deletionPolicy: 'Retain', suspend: false };
const deleting: SecretEnvironmentSpec = { ...retaining, deletionPolicy: 'Delete' };
const ensured = { environmentId: 'e1', revision: 3, revisionId: 'r3', secretCount: 2, created: false };
const conflict = new DomainError('conflict', 'project acme/web was deleted and still has that slug');

test('an existing environment is reported with its revision', () => {
  expect(judgeEnsured(retaining, ensured, undefined)).toEqual({
    claim: { progress: 'done', reason: 'Available', message: messages.available('acme/web/prod'), notices: [] },
    fields: { environmentId: 'e1', revision: 3, revisionId: 'r3', secretCount: 2 },
  });
});

test('owners who cannot be appointed are reported, with the environment, and the controller looks again', () => {
  const refusal = new DomainError('not_found', 'these users do not exist: ann@corp.test');
  expect(judgeEnsured(deleting, { ...ensured, refusal }, undefined)).toMatchObject({
    claim: { progress: 'waiting', reason: 'NotFound', message: 'These users do not exist: ann@corp.test.' },
    fields: { environmentId: 'e1', revision: 3 },
    next: { kind: 'retry' },
  });
});

test('with the policy Delete the status says whether the environment would stay', () => {
  const kept = messages.availableAndKept('acme/web/prod');
  const own = judgeEnsured(deleting, ensured, { environmentId: 'e1' });
  expect(own.claim.message).toBe(messages.available('acme/web/prod'));
  expect(judgeEnsured(deleting, ensured, undefined).claim.message).toBe(kept);
  expect(judgeEnsured(deleting, ensured, 'gone').claim.message).toBe(kept);
  expect(judgeEnsured(deleting, ensured, { environmentId: 'another' }).claim.message).toBe(kept);
});

test('an environment whose display name another resource decides is available, with a notice', () => {
  const { claim } = judgeEnsured(deleting, { ...ensured, otherNamer: 'blue-prod' }, undefined);
  const message = messages.displayNameIgnored('blue-prod');
  expect(claim).toEqual({
    progress: 'done',
    reason: 'Available',
    message: `${messages.availableAndKept('acme/web/prod')} ${message}`,
    notices: [{ reason: 'DisplayNameIgnored', message }],
  });
});

test('a deleted environment of this resource is distinguished from a slug that something else has', () => {
  const own = judgeConflict(retaining, conflict, 'gone');
  expect(own.claim).toMatchObject({ progress: 'stalled', reason: 'EnvironmentDeleted' });
  expect(own.claim.message).toBe(messages.environmentDeleted('acme/web/prod', conflict.detail));
  const other = judgeConflict(retaining, conflict, undefined);
  expect(other.claim).toEqual({
    progress: 'stalled',
    reason: 'SlugTaken',
    message: messages.slugTaken(conflict.detail),
  });
  expect(other.next).toMatchObject({ kind: 'retry' });
});
