import { describe, expect, test } from '@jest/globals';
import { Seen } from '../../../src/controller/frame/dependencies.ts';
import { readPrincipal } from '../../../src/controller/kinds/secret-sync/read/read.ts';
import { DomainError } from '../../../src/domain/errors/domain-error.ts';
import type { SecretObject } from '../../../src/kube/client/secrets.ts';
import { serviceToken } from './fake-services.ts';

type Deps = Parameters<typeof readPrincipal>[0];
type Context = Parameters<typeof readPrincipal>[1];

const place = { namespace: 'ns', name: 'token', key: 'token', serviceToken: undefined };

function tokenSecret(resourceVersion: string, token: string): SecretObject {
  const metadata = { namespace: 'ns', name: 'token', uid: 'u', resourceVersion };
  return { metadata, data: { token: Buffer.from(token).toString('base64') } };
}

/** An API server whose cache is at version 1 and whose etcd is at version 2. */
function behindCache(accepted: string): { deps: Deps; context: Context; asked: (string | undefined)[] } {
  const asked: (string | undefined)[] = [];
  const deps = {
    services: {
      authentication: {
        authenticate: async (token: string) => {
          if (token === accepted) return serviceToken('good');
          throw new DomainError('unauthenticated', 'the token was revoked; use another');
        },
      },
    },
    secretsClient: {
      find: async (_place: unknown, notOlderThan?: string) => {
        asked.push(notOlderThan);
        return notOlderThan === undefined ? tokenSecret('2', 'kf_svc_new') : tokenSecret('1', 'kf_svc_old');
      },
    },
    issuedSecret: () => undefined,
    followedSecret: () => tokenSecret('1', ''),
  };
  const context = { requestId: 'r', seen: new Seen() };
  return { deps: deps as unknown as Deps, context: context as unknown as Context, asked };
}

describe('the token of a SecretSync', () => {
  test('is asked for as the watch has shown it', async () => {
    const { deps, context, asked } = behindCache('kf_svc_old');
    expect(await readPrincipal(deps, context, place)).toMatchObject({ id: 'good' });
    expect(asked).toEqual(['1']);
  });

  test('that was replaced a moment ago is not refused for its predecessor', async () => {
    const { deps, context, asked } = behindCache('kf_svc_new');
    expect(await readPrincipal(deps, context, place)).toMatchObject({ id: 'good' });
    expect(asked).toEqual(['1', undefined]);
    const { dependencies } = context.seen;
    expect([...dependencies.values()]).toContainEqual({ kind: 'Secret', id: 'ns/token', saw: 'u/2' });
  });

  test('is followed by the one watch of all Secrets of ServiceTokens if that shows it', async () => {
    const { deps, context, asked } = behindCache('kf_svc_old');
    const issued = { ...deps, issuedSecret: () => tokenSecret('1', ''), followedSecret: () => undefined };
    expect(await readPrincipal(issued, context, place)).toMatchObject({ id: 'good' });
    expect(asked).toEqual(['1']);
    expect([...context.seen.dependencies.values()]).toContainEqual({
      kind: 'issued Secret',
      id: 'ns/token',
      saw: 'u/1',
    });
  });

  test('is refused when the newest one is', async () => {
    const { deps, context } = behindCache('kf_svc_other');
    await expect(readPrincipal(deps, context, place)).rejects.toMatchObject({ code: 'unauthenticated' });
  });
});
