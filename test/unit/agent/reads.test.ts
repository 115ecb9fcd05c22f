import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { Reads } from '../../../src/agent/reads.ts';
import type { Asker } from '../../../src/domain/asker.ts';
import { DomainError } from '../../../src/domain/errors/domain-error.ts';
import type { GrantRule } from '../../../src/domain/grants.ts';
import type { SourceCredential, SourcesAnswer, SourcesQuestion } from '../../../src/domain/source-reads.ts';
import type { ReadOutcome, ReadsAnswer } from '../../../src/wire/cluster/reads.ts';

/** How a controller groups the reads of its SecretSyncs. */

interface Sent {
  readonly namespaces: readonly { readonly namespace: string; readonly grants: readonly GrantRule[] }[];
  readonly items: readonly { readonly asker: { readonly namespace: string; readonly name: string } }[];
}

const empty: SourcesAnswer = { sources: [], isReplaced: false, refusal: undefined };
const rule: GrantRule = {
  organization: 'acme',
  project: 'web',
  environments: ['prod'],
  permission: 'read',
  kinds: ['SecretSync'],
};

/** A server that answers when the test says so. */
class FakeServer {
  readonly sent: (Sent & PromiseWithResolvers<ReadsAnswer>)[] = [];
  readonly reads = new Reads({
    send: async (_name: string, makeBody: () => string) => {
      const request = { ...(JSON.parse(makeBody()) as Sent), ...Promise.withResolvers<ReadsAnswer>() };
      this.sent.push(request);
      return await request.promise;
    },
  });

  names(index: number): string[] {
    return this.sent[index]?.items.map(({ asker }) => asker.name) ?? [];
  }

  /** Answers a request with the same outcome for each item, unless others are given by name. */
  async answer(index: number, others: Readonly<Record<string, ReadOutcome>> = {}): Promise<void> {
    const names = this.names(index);
    this.sent[index]?.resolve({
      items: names.map((name) => others[name] ?? { outcome: 'read', answer: empty }),
    });
    await turn();
    await turn();
  }
}

let count = 0;

function question(
  name: string,
  {
    namespace = 'ns',
    credential = 'keyless',
    grants = [rule],
  }: {
    readonly namespace?: string;
    readonly credential?: SourceCredential;
    readonly grants?: readonly GrantRule[];
  } = {},
): SourcesQuestion {
  count += 1;
  const uid = `00000000-0000-4000-8000-${String(count).padStart(12, '0')}`;
  const asker: Asker<'SecretSync'> = {
    kind: 'SecretSync',
    namespace,
    name,
    uid,
    requestId: uid,
    grants,
    ownGrant: undefined,
  };
  const slugs = { organization: 'acme', project: 'web', environment: 'prod' };
  return {
    asker,
    sources: [{ name: undefined, slugs, credential, state: 'newest', recordedId: undefined }],
    maxKeys: 9,
  };
}

describe('the reads of a controller', () => {
  test('go at once if nothing is under way, those of one turn together', async () => {
    const server = new FakeServer();
    const reads = ['a', 'b'].map((name) => server.reads.read(question(name)));
    await turn();
    expect(server.sent).toHaveLength(1);
    expect(server.names(0)).toEqual(['a', 'b']);
    await server.answer(0);
    expect(await Promise.all(reads)).toEqual([empty, empty]);
  });

  test('that come while two requests are under way go together in the next one', async () => {
    const server = new FakeServer();
    for (const name of ['a', 'b', 'c', 'd']) {
      void server.reads.read(question(name));
      await turn();
    }
    expect([server.names(0), server.names(1), server.sent.length]).toEqual([['a'], ['b'], 2]);
    await server.answer(1);
    expect(server.names(2)).toEqual(['c', 'd']);
  });

  test('are each answered by a request that began after them', async () => {
    const server = new FakeServer();
    const first = server.reads.read(question('same'));
    await turn();
    const second = server.reads.read(question('same'));
    await turn();
    expect(server.sent).toHaveLength(2);
    await server.answer(0);
    expect(await first).toEqual(empty);
    await server.answer(1);
    expect(await second).toEqual(empty);
  });

  test('take turns by namespace, at most 250 in one request', async () => {
    const server = new FakeServer();
    for (let index = 0; index < 300; index += 1)
      void server.reads.read(question(`busy-${index}`, { namespace: 'busy' }));
    void server.reads.read(question('quiet', { namespace: 'quiet' }));
    await turn();
    expect(server.names(0)).toHaveLength(250);
    expect(server.names(0).slice(0, 3)).toEqual(['busy-0', 'quiet', 'busy-1']);
    await turn();
    expect(server.names(1)).toHaveLength(51);
  });

  test('have the grants of each namespace once, and none for sources with tokens', async () => {
    const server = new FakeServer();
    void server.reads.read(question('a', { namespace: 'one' }));
    void server.reads.read(question('b', { namespace: 'one' }));
    void server.reads.read(question('c', { namespace: 'two', credential: { token: undefined } }));
    await turn();
    expect(server.sent[0]?.namespaces).toEqual([{ namespace: 'one', grants: [rule] }]);
  });

  test('have the grants as they are when the request is made', async () => {
    const server = new FakeServer();
    for (const name of ['a', 'b']) {
      void server.reads.read(question(name));
      await turn();
    }
    const grants: GrantRule[] = [rule];
    void server.reads.read(question('late', { grants }));
    await turn();
    grants.pop();
    await server.answer(0);
    expect(server.sent[2]?.namespaces).toEqual([{ namespace: 'ns', grants: [] }]);
  });

  test('that the server wants again come first in the next request, and fail nothing', async () => {
    const server = new FakeServer();
    const again = server.reads.read(question('again'));
    const read = server.reads.read(question('a'));
    await turn();
    void server.reads.read(question('b'));
    await turn();
    void server.reads.read(question('c'));
    await server.answer(0, { again: { outcome: 'again' } });
    expect(await read).toEqual(empty);
    expect(server.names(2)).toEqual(['again', 'c']);
    await server.answer(2);
    expect(await again).toEqual(empty);
  });

  test('fail if the server has a result for none of them, so that they are not sent again at once', async () => {
    const server = new FakeServer();
    const reads = ['a', 'b'].map((name) => server.reads.read(question(name)).catch((thrown: unknown) => thrown));
    await turn();
    await server.answer(0, { a: { outcome: 'again' }, b: { outcome: 'again' } });
    const refused = expect.objectContaining({ code: 'store_unavailable' });
    expect(await Promise.all(reads)).toEqual([refused, refused]);
    expect(server.sent).toHaveLength(1);
  });

  test('leave out a selection that no request has room for', async () => {
    const server = new FakeServer();
    const globs = Array.from({ length: 256 }, (_, index) => `K${index}`.padEnd(253, 'X'));
    const rules = {
      include: globs,
      exclude: globs,
      hidden: globs,
      rename: globs.slice(0, 128).map((from) => ({ from, to: from })),
    };
    const large = { rules: Array.from({ length: 8 }, () => rules), templateNames: [], maxBytes: 1 };
    const unknown = {
      rules: [{}],
      templateNames: Array.from({ length: 2_000 }, (_, index) => `K${index}`),
      maxBytes: 1,
    };
    const small = { rules: [{}], templateNames: [], maxBytes: 1 };
    for (const selection of [small, large, unknown]) void server.reads.read({ ...question('a'), selection });
    await turn();
    expect(server.sent[0]?.items.map((item) => 'selection' in item)).toEqual([true, false, false]);
  });

  test('fail each with its own error', async () => {
    const server = new FakeServer();
    const error = new DomainError('not_found', 'no environment');
    const failed = server.reads.read(question('failed')).catch((thrown: unknown) => thrown);
    const read = server.reads.read(question('read'));
    await turn();
    await server.answer(0, { failed: { outcome: 'failed', error } });
    expect(await failed).toBe(error);
    expect(await read).toEqual(empty);
  });

  test('fail all if their request fails, each with a new error', async () => {
    const server = new FakeServer();
    const both = Promise.allSettled(['a', 'b'].map((name) => server.reads.read(question(name))));
    await turn();
    server.sent[0]?.reject(new DomainError('overloaded', 'too many requests', { retryAfterSeconds: 2 }));
    const [one, other] = await both;
    expect(one).toMatchObject({ reason: { code: 'overloaded', retryAfterSeconds: 2 } });
    expect((one as PromiseRejectedResult).reason).not.toBe((other as PromiseRejectedResult).reason);
  });

  test('divide what has no room in one request', async () => {
    const server = new FakeServer();
    const grants = Array.from({ length: 1_500 }, (_, index) => ({ ...rule, environments: [`${index}`.repeat(12)] }));
    for (let index = 0; index < 40; index += 1) {
      void server.reads.read(question(`of-${index}`, { namespace: `ns-${index}`, grants }));
    }
    const sent: string[] = [];
    for (let index = 0; sent.length < 40; index += 1) {
      await turn();
      await turn();
      expect(JSON.stringify(server.sent[index]).length).toBeLessThan(2 * 1024 * 1024);
      sent.push(...server.names(index));
      await server.answer(index);
    }
    expect(new Set(sent).size).toBe(40);
    expect(server.sent.length).toBeGreaterThan(3);
  });

  test('refuse what no request may have, and send the others', async () => {
    const server = new FakeServer();
    const grants = Array.from({ length: 2_001 }, () => rule);
    const refused = server.reads
      .read(question('refused', { namespace: 'many', grants }))
      .catch((thrown: unknown) => thrown);
    void server.reads.read(question('sent'));
    await turn();
    expect(await refused).toMatchObject({ code: 'invalid_input' });
    expect(server.names(0)).toEqual(['sent']);
  });
});
