import { describe, expect, test } from '@jest/globals';
import { ApiError } from '../../../src/kube/client/api-error.ts';
import type { ApiCall, KubeClient } from '../../../src/kube/client/client.ts';
import {
  deleteResource,
  patchFinalizers,
  patchResource,
  patchStatus,
} from '../../../src/kube/client/custom-resources.ts';
import { recordEvent } from '../../../src/kube/client/events.ts';
import { SecretsClient } from '../../../src/kube/client/secrets.ts';
import { object } from './scripted-api.ts';

const metadataOnly = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
const kind = { group: 'keyframe.dev', version: 'v1alpha1', kind: 'SecretSync', plural: 'secretsyncs' };
const content = { metadata: { name: 'app', labels: { a: 'b' } }, type: 'Opaque', data: { KEY: 'dmFsdWU=' } };

/** A client that notes its calls and answers, or refuses, all of them alike. */
function recorder(answer: object | ApiError = object('app', '9')): Pick<KubeClient, 'request'> & { calls: ApiCall[] } {
  const calls: ApiCall[] = [];
  return {
    calls,
    request: async <T>(call: ApiCall) => {
      calls.push(call);
      if (answer instanceof ApiError) throw answer;
      return (await Promise.resolve(answer)) as T;
    },
  };
}

describe('a Secret', () => {
  test('is made by POST and only its metadata comes back', async () => {
    const client = recorder();
    const made = await new SecretsClient({ client }).create('ns', content);
    expect(made.resourceVersion).toBe('9');
    expect(client.calls).toEqual([
      {
        method: 'POST',
        path: '/api/v1/namespaces/ns/secrets',
        query: {},
        accept: metadataOnly,
        body: { apiVersion: 'v1', kind: 'Secret', ...content },
      },
    ]);
  });

  test('is replaced by PUT with uid and resource version as preconditions', async () => {
    const client = recorder();
    await new SecretsClient({ client }).replace('ns', content, { uid: 'u', resourceVersion: '8' });
    expect(client.calls).toMatchObject([
      {
        method: 'PUT',
        path: '/api/v1/namespaces/ns/secrets/app',
        accept: metadataOnly,
        body: {
          kind: 'Secret',
          metadata: { name: 'app', labels: { a: 'b' }, uid: 'u', resourceVersion: '8' },
          data: content.data,
        },
      },
    ]);
  });

  test('is deleted only at that uid and resource version', async () => {
    const client = recorder();
    await new SecretsClient({ client }).delete({ namespace: 'ns', name: 'app' }, { uid: 'u', resourceVersion: '8' });
    expect(client.calls).toMatchObject([
      { method: 'DELETE', body: { kind: 'DeleteOptions', preconditions: { uid: 'u', resourceVersion: '8' } } },
    ]);
  });

  test('that is to take the place of another is checked by a dry run, for which a name that is taken is no fault', async () => {
    const taken = recorder(new ApiError('POST', 409, 'AlreadyExists'));
    await new SecretsClient({ client: taken }).check('ns', content);
    expect(taken.calls).toMatchObject([{ method: 'POST', query: { dryRun: 'All' } }]);
    const invalid = recorder(new ApiError('POST', 422, 'Invalid'));
    await expect(new SecretsClient({ client: invalid }).check('ns', content)).rejects.toThrow('422 Invalid');
  });

  test('that is not there is found to be undefined, and no other fault is taken for that', async () => {
    const target = { namespace: 'ns', name: 'app' };
    const missing = new SecretsClient({ client: recorder(new ApiError('GET', 404, 'NotFound')) });
    expect(await missing.find(target)).toBeUndefined();
    for (const status of [0, 401, 403, 500, 503]) {
      const failing = new SecretsClient({ client: recorder(new ApiError('GET', status, 'Fault')) });
      await expect(failing.find(target)).rejects.toThrow(ApiError);
    }
  });

  test.each([410, 504])(
    'is asked for without a version if the server is behind the watch and answers %s',
    async (status) => {
      const asked: unknown[] = [];
      const behind = async <T>({ query }: ApiCall): Promise<T> => {
        asked.push(query);
        if (query?.['resourceVersion'] !== undefined) throw new ApiError('GET', status, 'Expired');
        return object('app', '9') as T;
      };
      const secrets = new SecretsClient({ client: { request: behind } });
      expect((await secrets.find({ namespace: 'ns', name: 'app' }, '8'))?.metadata.resourceVersion).toBe('9');
      expect(asked).toEqual([{ resourceVersion: '8' }, {}]);
    },
  );

  test('cannot lead to another path by its name', async () => {
    const client = recorder();
    await new SecretsClient({ client }).find({ namespace: 'ns', name: '../configmaps/x' });
    expect(client.calls[0]?.path).toBe('/api/v1/namespaces/ns/secrets/..%2Fconfigmaps%2Fx');
  });
});

test('a status is patched by a merge patch on the version that was judged', async () => {
  const client = recorder();
  const patched = await patchStatus(client, kind, {
    resource: { namespace: 'ns', name: 'app' },
    resourceVersion: '8',
    status: { secretCount: 3, target: null },
  });
  expect(patched.resourceVersion).toBe('9');
  expect(client.calls).toEqual([
    {
      method: 'PATCH',
      path: '/apis/keyframe.dev/v1alpha1/namespaces/ns/secretsyncs/app/status',
      contentType: 'application/merge-patch+json',
      accept: metadataOnly,
      body: { metadata: { resourceVersion: '8' }, status: { secretCount: 3, target: null } },
    },
  ]);
});

describe('on the version that was judged, and no other,', () => {
  const judged = { resource: { namespace: 'ns', name: 'app' }, uid: 'u', resourceVersion: '8' };
  const path = '/apis/keyframe.dev/v1alpha1/namespaces/ns/secretsyncs/app';

  test('finalizers are patched', async () => {
    const client = recorder();
    await patchFinalizers(client, kind, { ...judged, finalizers: ['theirs'] });
    const body = { metadata: { resourceVersion: '8', finalizers: ['theirs'] } };
    expect(client.calls).toMatchObject([{ method: 'PATCH', path, body }]);
  });

  test('a spec is patched', async () => {
    const client = recorder();
    await patchResource(client, kind, { ...judged, patch: { spec: { suspend: null } } });
    const body = { metadata: { resourceVersion: '8' }, spec: { suspend: null } };
    expect(client.calls).toMatchObject([{ method: 'PATCH', path, body }]);
  });

  test('a resource is deleted', async () => {
    const client = recorder();
    await deleteResource(client, kind, judged);
    const preconditions = { uid: 'u', resourceVersion: '8' };
    expect(client.calls).toMatchObject([{ method: 'DELETE', path, body: { kind: 'DeleteOptions', preconditions } }]);
  });
});

describe('an Event', () => {
  const event = {
    type: 'Warning',
    reason: 'NotFound',
    action: 'Sync',
    note: 'why',
    at: Date.UTC(2026, 10, 21, 10, 9, 8, 7),
  } as const;
  const deps = { controller: 'keyframe.dev/secretsync', instance: 'host' };

  test('names its object and has a time with six digits, as the API server demands', async () => {
    const client = recorder();
    await recordEvent({ client, ...deps }, kind, object('app', '8'), event);
    expect(client.calls).toMatchObject([
      {
        method: 'POST',
        path: '/apis/events.k8s.io/v1/namespaces/ns/events',
        body: {
          metadata: { generateName: 'app-', namespace: 'ns' },
          eventTime: '2026-11-21T10:09:08.007000Z',
          reason: 'NotFound',
          note: 'why',
          reportingController: 'keyframe.dev/secretsync',
          reportingInstance: 'host',
          regarding: {
            kind: 'SecretSync',
            apiVersion: 'keyframe.dev/v1alpha1',
            name: 'app',
            namespace: 'ns',
            uid: 'uid-app',
          },
        },
      },
    ]);
  });

  test('keeps to the lengths that the API server allows', async () => {
    const client = recorder();
    const name = `${'a'.repeat(239)}.${'b'.repeat(13)}`;
    await recordEvent({ client, ...deps }, kind, object(name, '8'), { ...event, note: 'n'.repeat(2000) });
    const body = client.calls[0]?.body as { metadata: { generateName: string }; note: string };
    expect(body.metadata.generateName).toBe(`${'a'.repeat(239)}-`);
    expect(body.note).toHaveLength(1024);
  });
});
