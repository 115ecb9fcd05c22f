import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Asker } from '../../../src/domain/asker.ts';
import type { GrantRule } from '../../../src/domain/grants.ts';
import { Plaintext } from '../../../src/domain/plaintext.ts';
import { type FoundState, refOf } from '../../../src/domain/secret-states.ts';
import type { AdmittedSource, AskedSource, SourcesAnswer } from '../../../src/domain/source-reads.ts';
import type { DomainError } from '../../../src/domain/errors/domain-error.ts';
import { ReadsRoom } from '../../../src/http/cluster/reads-room.ts';
import { AuthenticationRefusal } from '../../../src/services/access/authentication.ts';
import { ClusterSources } from '../../../src/services/cluster/sources.ts';
import { FakeServices, serviceToken } from '../controller/fake-services.ts';

const rule: GrantRule = {
  organization: 'acme',
  project: 'web',
  environments: ['*'],
  permission: 'read',
  kinds: ['SecretSync'],
};

let services: FakeServices;
let reads: ClusterSources;
let steps: string[];

beforeEach(() => {
  services = new FakeServices();
  reads = new ClusterSources(services.sourcesDeps(() => 'test'));
  steps = [];
  services.onStep = (step) => void steps.push(step);
  for (const name of ['one', 'two']) {
    services.create(`acme/web/${name}`, name, { KEY: `value of ${name}` });
    services.tokens.set(`kf_svc_${name}`, serviceToken(name));
  }
});

const askerOf = (requestId: string): Asker<'SecretSync'> => ({
  kind: 'SecretSync',
  namespace: 'ns',
  name: 'app',
  uid: 'u',
  requestId,
  grants: [rule],
  ownGrant: undefined,
});

/** A source that reads the environment of its name with the token of its name. */
function sourceOf(name: string, more: Partial<AskedSource> = {}): AskedSource {
  const slugs = { organization: 'acme', project: 'web', environment: name };
  const credential = { token: new Plaintext(`kf_svc_${name}`) };
  return { name, slugs, credential, state: 'newest', recordedId: undefined, ...more };
}

async function read(sources: readonly AskedSource[], requestId = 'r'): Promise<SourcesAnswer> {
  return await reads.read({ asker: askerOf(requestId), sources, maxKeys: 10 });
}

/** A source that was read, for what follows. */
function admitted(asked: AskedSource, { sources: [found] }: SourcesAnswer, requestId = 'r'): AdmittedSource {
  const { name, slugs, credential } = asked;
  const { token, environmentId = '' } = found ?? {};
  return { name, slugs, credential, asker: askerOf(requestId), tokenId: token?.id ?? '', environmentId };
}

function foundOf({ sources: [found] }: SourcesAnswer): FoundState {
  const { state } = found ?? {};
  if (state === undefined || 'keys' in state) throw new Error('the state was not found');
  return state;
}

describe('a read', () => {
  test('takes all tokens, then all environments, and then all states', async () => {
    await read([sourceOf('one'), sourceOf('two')]);
    expect(steps.filter((step) => step.startsWith('before'))).toEqual([
      'before authentication',
      'before authentication',
      'before look-up',
      'before look-up',
      'before finding a state',
      'before finding a state',
    ]);
  });

  test('makes equal calls of several sources once, and another read makes them again', async () => {
    const past = { state: { revision: 1 } };
    const same = ['a', 'b', 'c'].map((name) => sourceOf('one', { name, ...(name === 'c' ? past : {}) }));
    const { sources } = await read(same);
    expect(sources.map(({ environmentId }) => environmentId)).toEqual(['one', 'one', 'one']);
    const once = ['before authentication', 'before look-up', 'before finding a state', 'before finding a state'];
    const begun = (): string[] => steps.filter((step) => step.startsWith('before'));
    expect(begun()).toEqual(once);
    await read(same);
    expect(begun()).toEqual([...once, ...once]);
  });

  test('ends with the first refusal, and says what was found before', async () => {
    const refused = new AuthenticationRefusal('revoked', 'the token was revoked', serviceToken('two'));
    services.tokens.set('kf_svc_two', refused);
    const { sources, refusal, isReplaced } = await read([sourceOf('one'), sourceOf('two')]);
    expect(refusal).toEqual({
      source: 1,
      step: 'token',
      error: refused,
      fault: 'revoked',
      tokenId: 'two',
      environmentId: undefined,
    });
    const token = { id: 'one', credentialId: 'credential-one', expiresAt: null };
    expect(sources[0]).toEqual({ token, environmentId: undefined, head: undefined, state: undefined });
    expect([sources[1]?.token, isReplaced]).toEqual([undefined, false]);
  });

  test('refuses the token of a user', async () => {
    services.tokens.set('kf_svc_one', { ...serviceToken('one'), type: 'user' } as never);
    const { refusal } = await read([sourceOf('one')]);
    expect(refusal).toMatchObject({ source: 0, step: 'token', fault: 'personal', tokenId: undefined });
  });

  test('names the keyless token that is refused, and its environment', async () => {
    services.setRevoked('one', true);
    const { refusal } = await read([sourceOf('one', { credential: 'keyless' })]);
    expect(refusal).toMatchObject({
      error: { code: 'token_revoked' },
      tokenId: 'keyless ns one',
      environmentId: 'one',
    });
  });

  test.each(['one', 'two'])('creates no keyless token if the environment %s is not the recorded one', async (name) => {
    const recorded = (of: string): Partial<AskedSource> => (of === name ? { recordedId: 'before' } : {});
    const sources = [sourceOf('one', { credential: 'keyless', ...recorded('one') }), sourceOf('two', recorded('two'))];
    const answer = await read(sources);
    expect(answer).toMatchObject({ isReplaced: true, refusal: undefined });
    expect(answer.sources.map(({ environmentId }) => environmentId)).toEqual(['one', 'two']);
    expect([services.keylessTokens.size, steps.includes('before finding a state')]).toEqual([0, false]);
  });

  test('leaves what the record says to the caller if every source has a token', async () => {
    const answer = await read([sourceOf('one', { recordedId: 'before' })]);
    expect(answer).toMatchObject({ isReplaced: false, sources: [{ state: { environmentId: 'one' } }] });
  });

  test('finds no revision above the newest one, and none that is asked for later', async () => {
    const { sources } = await read([sourceOf('one', { state: { revision: 2 } }), sourceOf('two', { state: 'later' })]);
    expect(sources).toMatchObject([{ head: { revision: 1 } }, { head: { revision: 1 } }]);
    expect(sources.map(({ state }) => state)).toEqual([undefined, undefined]);
    expect(steps).not.toContain('before finding a state');
  });
});

describe('the values of a source', () => {
  const keyless = sourceOf('one', { credential: 'keyless' });

  async function valueOf(source: AdmittedSource, state: FoundState): Promise<string | undefined> {
    const values = await reads.values({ source, state: refOf(state), keys: ['KEY'] });
    return values.get('KEY')?.reveal();
  }

  test.each([
    ['a token', sourceOf('one')],
    ['a keyless token', keyless],
  ])('are of the revision that was found, and take no second admission with %s', async (_name, asked) => {
    services.change('acme/web/one', { KEY: 'newer' });
    const answer = await read([{ ...asked, state: { revision: 1 } }]);
    steps.splice(0);
    services.change('acme/web/one', { KEY: 'newest' });
    const source = admitted(asked, answer);
    expect(await reads.find({ source, state: { revision: 'one-r2' }, maxKeys: 10 })).toMatchObject({
      revision: 2,
    });
    expect(await valueOf(source, foundOf(answer))).toBe('value of one');
    expect(steps).toEqual(['before finding a state', 'after finding a state', 'after reading values']);
  });

  test.each([
    ['a token', sourceOf('one')],
    ['a keyless token', keyless],
  ])('are read by another request after a new admission, with %s', async (_name, asked) => {
    const answer = await read([asked]);
    steps.splice(0);
    expect(await valueOf(admitted(asked, answer, 'other'), foundOf(answer))).toBe('value of one');
    expect(steps).toContain('before look-up');
  });

  test.each(['r', 'other'])('are refused to the request %s once it names another environment', async (requestId) => {
    const answer = await read([keyless]);
    services.end('acme/web/one');
    services.create('acme/web/one', 'next');
    const source = { ...admitted(keyless, answer, requestId), environmentId: requestId === 'r' ? 'another' : 'one' };
    await expect(valueOf(source, foundOf(answer))).rejects.toMatchObject({ code: 'conflict' });
    expect([...services.keylessTokens.keys()]).toEqual(['ns one']);
  });

  test('are refused to another request once the token is', async () => {
    const answer = await read([keyless]);
    services.setRevoked('one', true);
    const source = admitted(keyless, answer, 'other');
    await expect(valueOf(source, foundOf(answer))).rejects.toMatchObject({ code: 'token_revoked' });
    expect(services.reads).toEqual([]);
  });
});

describe('a read for another process', () => {
  test('ends at its next step once the answer was sent without it', async () => {
    const room = new ReadsRoom();
    services.onStep = (step) => {
      steps.push(step);
      if (step === 'after authentication') room.close();
    };
    const { refusal } = await reads.readForAnswer(
      { asker: askerOf('r'), sources: [sourceOf('one')], maxKeys: 10 },
      room,
    );
    expect(steps).toEqual(['before authentication', 'after authentication']);
    expect(refusal?.error.code).toBe('overloaded');
  });

  test.each([
    [500, 'is not judged again after a short wait for memory', 'value of one'],
    [1_500, 'is refused if its access was withdrawn during a long one', 'unauthenticated'],
  ])('of values, %i ms, %s', async (waitMs, _, outcome) => {
    const source = sourceOf('one');
    const answer = await read([source]);
    const room = {
      enter: async (): Promise<void> => {
        services.tokens.set('kf_svc_one', 'the token was revoked');
        const now = performance.now();
        jest.spyOn(performance, 'now').mockReturnValue(now + waitMs);
        await Promise.resolve();
      },
    };
    const question = { source: admitted(source, answer), state: refOf(foundOf(answer)), keys: ['KEY'] };
    const values = await reads.values(question, room).catch((error: unknown) => (error as DomainError).code);
    jest.restoreAllMocks();
    expect(typeof values === 'string' ? values : values.get('KEY')?.reveal()).toBe(outcome);
  });
});
