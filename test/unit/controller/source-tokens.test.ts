import { describe, expect, test } from '@jest/globals';
import { Seen } from '../../../src/controller/frame/dependencies.ts';
import { SyncMemories } from '../../../src/controller/kinds/secret-sync/memory.ts';
import type { SyncContext } from '../../../src/controller/kinds/secret-sync/model.ts';
import { BoundedReads } from '../../../src/controller/kinds/secret-sync/read/bounded-reads.ts';
import {
  type ReadDeps,
  type SourceReadings,
  readSources,
} from '../../../src/controller/kinds/secret-sync/read/read-sources.ts';
import { DomainError } from '../../../src/domain/errors/domain-error.ts';
import type { SourcesAnswer, SourcesQuestion } from '../../../src/domain/source-reads.ts';
import type { SecretObject } from '../../../src/kube/client/secrets.ts';
import { secretSync } from './builders.ts';

const place = { namespace: 'ns', name: 'token', key: 'token', serviceToken: undefined };
const state = { environmentId: 'env', revision: 1, revisionId: 'r1', secrets: [], destroyed: [], deletedSince: [] };

function tokenSecret(resourceVersion: string, token: string): SecretObject {
  const metadata = { namespace: 'ns', name: 'token', uid: 'u', resourceVersion };
  return { metadata, data: { token: Buffer.from(token).toString('base64') } };
}

/** What the backend answers about one source that presents a token. */
function answerTo({ sources: [source] }: SourcesQuestion, accepted: string): SourcesAnswer {
  const { credential } = source ?? {};
  const presented = typeof credential === 'object' ? credential.token?.reveal() : undefined;
  if (presented !== accepted) {
    const error = new DomainError('unauthenticated', 'the token was revoked; use another');
    const refusal = { source: 0, step: 'token', error, fault: 'revoked', tokenId: undefined, environmentId: undefined };
    const nothing = {
      token: undefined,
      environmentId: undefined,
      head: undefined,
      clusterRules: undefined,
      state: undefined,
    };
    return { sources: [nothing], isReplaced: false, refusal } as SourcesAnswer;
  }
  const token = { id: 'good', credentialId: 'credential-good', expiresAt: null };
  const found = {
    token,
    environmentId: 'env',
    head: { revision: 1, revisionId: 'r1' },
    clusterRules: undefined,
    state,
  };
  return { sources: [found], isReplaced: false, refusal: undefined };
}

/** An API server whose cache is at version 1 and whose etcd is at version 2. */
function behindCache(accepted: string): { deps: ReadDeps; context: SyncContext; asked: (string | undefined)[] } {
  const asked: (string | undefined)[] = [];
  const deps = {
    sources: { read: async (question: SourcesQuestion) => await Promise.resolve(answerTo(question, accepted)) },
    secretsClient: {
      find: async (_place: unknown, notOlderThan?: string) => {
        asked.push(notOlderThan);
        return await Promise.resolve(
          notOlderThan === undefined ? tokenSecret('2', 'kf_svc_new') : tokenSecret('1', 'kf_svc_old'),
        );
      },
    },
    grants: { rulesFor: () => [], ownGrantOf: () => undefined },
    issuedSecret: () => undefined,
    followedSecret: () => tokenSecret('1', ''),
  };
  const context: SyncContext = {
    key: 'ns/app',
    resource: secretSync(),
    requestId: 'r',
    seen: new Seen(),
    isForced: false,
    memory: new SyncMemories().ensure('ns/app'),
  };
  return { deps: deps as unknown as ReadDeps, context, asked };
}

async function read(deps: ReadDeps, context: SyncContext): Promise<SourceReadings> {
  const reads = new BoundedReads({ maxKeys: 10, maxValueBytes: 10 });
  const objection = (): undefined => undefined;
  return await readSources(deps, context, { tokens: [place], recordedIds: [undefined], objection, reads });
}

describe('the token of a SecretSync', () => {
  test('is asked for as the watch has shown it', async () => {
    const { deps, context, asked } = behindCache('kf_svc_old');
    const { readings } = await read(deps, context);
    expect(readings[0]?.admitted.tokenId).toBe('good');
    expect(asked).toEqual(['1']);
  });

  test('that was replaced a moment ago is not refused for its predecessor', async () => {
    const { deps, context, asked } = behindCache('kf_svc_new');
    const { readings } = await read(deps, context);
    expect(readings[0]?.admitted.tokenId).toBe('good');
    expect(asked).toEqual(['1', undefined]);
    const { dependencies } = context.seen;
    expect([...dependencies.values()]).toContainEqual({ kind: 'Secret', id: 'ns/token', saw: 'u/2' });
  });

  test('is followed by the one watch of all Secrets of ServiceTokens if that shows it', async () => {
    const { deps, context, asked } = behindCache('kf_svc_old');
    const issued = { ...deps, issuedSecret: () => tokenSecret('1', ''), followedSecret: () => undefined };
    const { readings } = await read(issued, context);
    expect(readings[0]?.admitted.tokenId).toBe('good');
    expect(asked).toEqual(['1']);
    expect([...context.seen.dependencies.values()]).toContainEqual({
      kind: 'issued Secret',
      id: 'ns/token',
      saw: 'u/1',
    });
  });

  test('is refused when the newest one is', async () => {
    const { deps, context } = behindCache('kf_svc_other');
    await expect(read(deps, context)).rejects.toMatchObject({ refusal: { code: 'unauthenticated' } });
  });
});
