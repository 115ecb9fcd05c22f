import { describe, expect, test } from '@jest/globals';
import { statusCauses, statusRefuser } from '../../../src/kube/client/api-error.ts';
import type { ApiCall, KubeClient } from '../../../src/kube/client/client.ts';
import { appliedDataKeys } from '../../../src/kube/client/managed-fields.ts';
import { SecretsClient } from '../../../src/kube/client/secrets.ts';
import { object } from './scripted-api.ts';

describe('an apply', () => {
  const target = { namespace: 'ns', name: 'app' };
  const precondition = { uid: 'u', resourceVersion: '8' };

  function recorder(): Pick<KubeClient, 'request'> & { calls: ApiCall[] } {
    const calls: ApiCall[] = [];
    const { metadata } = object('app', '9');
    const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': 'all values' };
    const answer = { metadata: { ...metadata, annotations, managedFields: [{ manager: 'm' }] } };
    return {
      calls,
      request: async <T>(call: ApiCall) => {
        calls.push(call);
        return (await Promise.resolve(answer)) as T;
      },
    };
  }

  test('is never forced, and is for one version under one manager; no values come back', async () => {
    const client = recorder();
    const content = { manager: 'm', annotations: { a: 'b' }, data: { KEY: 'dmFsdWU=' } };
    const metadata = await new SecretsClient({ client }).apply(target, content, precondition);
    expect(client.calls).toEqual([
      {
        method: 'PATCH',
        path: '/api/v1/namespaces/ns/secrets/app',
        query: { fieldManager: 'm', force: 'false' },
        contentType: 'application/apply-patch+yaml',
        accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1',
        body: {
          apiVersion: 'v1',
          kind: 'Secret',
          metadata: { ...target, annotations: { a: 'b' }, ...precondition },
          data: { KEY: 'dmFsdWU=' },
        },
      },
    ]);
    expect(metadata.resourceVersion).toBe('9');
    expect(JSON.stringify(metadata)).not.toContain('all values');
    expect(metadata).not.toHaveProperty('managedFields');
  });

  test('of no key holds no data', async () => {
    const client = recorder();
    await new SecretsClient({ client }).apply(target, { manager: 'm', annotations: {}, data: {} }, precondition);
    expect(client.calls[0]?.body).not.toHaveProperty('data');
  });
});

describe('the keys that a manager applied', () => {
  const entry = (more: object): object => ({
    manager: 'ours',
    operation: 'Apply',
    apiVersion: 'v1',
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:data': { '.': {}, 'f:A': {}, 'f:tls.crt': {} }, 'f:metadata': { 'f:annotations': { 'f:a': {} } } },
    ...more,
  });
  const keysOf = (managedFields: unknown): string[] =>
    appliedDataKeys({ ...object('app', '9').metadata, managedFields }, 'ours');

  test('are those under data', () => expect(keysOf([entry({})])).toEqual(['A', 'tls.crt']));

  test.each<[sentence: string, fields: unknown]>([
    ['another manager', [entry({ manager: 'theirs' })]],
    ['a manager of its name that did not apply', [entry({ operation: 'Update' })]],
    ['a manager of its name that wrote a subresource', [entry({ subresource: 'status' })]],
    ['no manager', undefined],
    ['an entry without fields', [entry({ fieldsV1: undefined }), null, 7, 'x', {}]],
    ['an entry without data', [entry({ fieldsV1: { 'f:metadata': {} } })]],
    ['an entry that is no list', { 0: entry({}) }],
  ])('are not those of %s', (_, fields) => expect(keysOf(fields)).toEqual([]));
});

describe('the causes of a refusal', () => {
  const message = 'conflict with "kubectl-edit" using v1';
  const cause = { reason: 'FieldManagerConflict', message, field: '.data.A' };
  const causesOf = (...causes: unknown[]): unknown => statusCauses({ kind: 'Status', details: { causes } });

  test('name the field and its manager, and nothing else of the message', () => {
    const subresource = 'conflict with "a.b/c" with subresource "status" using v1 at 2026-01-01T00:00:00Z';
    const causes = causesOf(cause, { ...cause, message: subresource, field: '.data.tls.crt' });
    expect(causes).toEqual([
      { reason: 'FieldManagerConflict', field: '.data.A', manager: 'kubectl-edit' },
      { reason: 'FieldManagerConflict', field: '.data.tls.crt', manager: 'a.b/c' },
    ]);
  });

  test('of another kind name the field alone', () => {
    const causes = causesOf({ reason: 'FieldValueInvalid', message: 'Invalid value: "canary"', field: 'data[A]' });
    expect(causes).toEqual([{ reason: 'FieldValueInvalid', field: 'data[A]', manager: undefined }]);
  });

  test('name no manager whose name could be anything', () => {
    for (const odd of ['conflict with "`rm`" using v1', 'conflict with "a\nb" using v1', 'canary', 7])
      expect(causesOf({ ...cause, message: odd })).toMatchObject([{ manager: undefined }]);
  });

  test('leave out everything that is not a name', () => {
    const odd = [null, 7, {}, { ...cause, field: 'a b' }, { ...cause, field: '' }, { ...cause, reason: 'two words' }];
    expect(causesOf(...odd)).toEqual([]);
    for (const body of [undefined, null, 'x', {}, { details: null }, { details: { causes: {} } }])
      expect(statusCauses(body)).toEqual([]);
  });
});

describe('what refused a call', () => {
  test.each([
    [
      'admission webhook "validate.kyverno.svc-fail" denied the request: canary',
      'admission webhook validate.kyverno.svc-fail',
    ],
    [
      `secrets "app" is forbidden: ValidatingAdmissionPolicy 'no-secrets' with binding 'all' denied request: canary`,
      'ValidatingAdmissionPolicy no-secrets',
    ],
    [
      'secrets "app" is forbidden: exceeded quota: few, requested: secrets=1, used: secrets=9, limited: secrets=9',
      'ResourceQuota few',
    ],
  ])('is named by the beginning of the message: %s', (message, refuser) => {
    expect(statusRefuser({ message })).toBe(refuser);
  });

  test.each([
    'secrets "app" is forbidden: User "x" cannot create resource "secrets"',
    'Secret "app" is invalid: data[A]: admission webhook "canary" denied the request',
    'admission webhook "a`b" denied the request',
    'admission webhook "Canary value" denied the request',
    `secrets "app" is forbidden: ValidatingAdmissionPolicy 'x y' with binding 'b'`,
    undefined,
    7,
  ])('is unknown for any other: %j', (message) => {
    expect(statusRefuser({ message })).toBeUndefined();
    expect(statusRefuser(undefined)).toBeUndefined();
  });
});
