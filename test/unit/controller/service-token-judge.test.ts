import { describe, expect, test } from '@jest/globals';
import { type Facts, type SecretFacts, type Step, judge } from '../../../src/controller/kinds/service-token/judge.ts';
import type { ResourceCredential, ResourceToken } from '../../../src/domain/resources/tokens.ts';
import { tokenWith } from '../../support/fixtures/token-facts.ts';

const minute = 60_000;
const hour = 60 * minute;
const madeAt = Date.UTC(2030, 0, 1);
const at = (ms: number): Date => new Date(madeAt + ms);
const rotation = { intervalMs: 24 * hour, overlapMs: 10 * minute, maxOverlapMs: hour };

function credential(serial: number, more: Partial<ResourceCredential> = {}): ResourceCredential {
  const unused = { revokedAt: null, firstUsedAt: null, lastUsedAt: null, expiresAt: null, audience: null };
  return { serial, state: 'active', createdAt: at(0), ...unused, ...more };
}

function holding(
  serial: number | undefined,
  more: Partial<Extract<SecretFacts, { state: 'owned' }>> = {},
): SecretFacts {
  const metadata = { uid: 'secret', resourceVersion: '1', metadataFits: true, isReplaceable: true };
  return { state: 'owned', serial, ...metadata, ...more };
}

function judged(facts: Partial<Facts> = {}): Step {
  return judge({
    now: madeAt + minute,
    times: { lifeMs: undefined, rotation: undefined },
    permission: 'read',
    token: tokenWith([credential(1)]),
    isSamePlace: true,
    secret: holding(1),
    ...facts,
  });
}

const absent: SecretFacts = { state: 'absent' };
const unwanted: SecretFacts = { state: 'unwanted', leftover: undefined };
const revoked = { revokedAt: at(0) };
const pending = { state: 'pending' } as const;

describe('the next step of a ServiceToken', () => {
  test.each<[string, Partial<Facts>, object]>([
    ['that has nothing is the first value', { token: undefined, secret: absent }, { do: 'mint', serial: 1 }],
    ['whose token lost its values is the next', { token: tokenWith([]), secret: absent }, { do: 'mint', serial: 1 }],
    ['whose value reached the Secret activates it', { token: tokenWith([credential(1, pending)]) }, { do: 'activate' }],
    [
      'whose first value did not reach the Secret makes it again',
      { token: tokenWith([credential(1, pending)]), secret: absent },
      { do: 'mint', serial: 1 },
    ],
    ['whose Secret was deleted revokes what is lost', { secret: absent }, { do: 'revoke', serial: 1 }],
    ['whose Secret was edited revokes what is lost', { secret: holding(undefined) }, { do: 'revoke', serial: 1 }],
    [
      'whose lost value is revoked makes the next',
      { token: tokenWith([credential(1, revoked)]), secret: absent },
      { do: 'mint', serial: 2 },
    ],
    [
      'all of whose values were revoked beneath it makes the next, and none of those again',
      { token: tokenWith([credential(1, revoked), credential(2, { ...revoked, ...pending })]), secret: holding(1) },
      { do: 'mint', serial: 3 },
    ],
    [
      'whose Secret was put back to a revoked value makes the next',
      { token: tokenWith([credential(1, revoked), credential(2, revoked)]) },
      { do: 'mint', serial: 3 },
    ],
    [
      'whose Secret was put back to a value that still works revokes the later one',
      { token: tokenWith([credential(1), credential(2)]), times: { lifeMs: undefined, rotation } },
      { do: 'revoke', serial: 2 },
    ],
    ['whose Secret lacks its label marks it', { secret: holding(1, { metadataFits: false }) }, { do: 'mark' }],
    [
      'in the way of which there is a Secret waits and makes nothing',
      { token: undefined, secret: { state: 'unmanaged', owner: undefined } },
      { do: 'rest', because: 'unmanaged' },
    ],
    ['that is suspended goes on', { token: tokenWith([credential(1)], { suspendedAt: at(0) }) }, { do: 'resume' }],
    [
      'that is suspended revokes a lost value before it goes on',
      { token: tokenWith([credential(1)], { suspendedAt: at(0) }), secret: absent },
      { do: 'revoke', serial: 1 },
    ],
    [
      'that is suspended revokes a value before whose overlap has ended before it goes on',
      { token: tokenWith([credential(1), credential(2)], { suspendedAt: at(0) }), secret: holding(2) },
      { do: 'revoke', serial: 1 },
    ],
    [
      'that is suspended and has no value goes on before it makes one',
      { token: tokenWith([credential(1, revoked)], { suspendedAt: at(0) }), secret: absent },
      { do: 'resume' },
    ],
    [
      'that JWTs prove, and that is suspended, revokes a value of before while it does not work',
      { token: tokenWith([credential(1)], { suspendedAt: at(0) }), secret: unwanted },
      { do: 'revoke', serial: 1 },
    ],
    ['of another permission changes it', { permission: 'read_write' }, { do: 'update', expiries: [] }],
    [
      'of another permission changes it before it goes on',
      { token: tokenWith([credential(1)], { suspendedAt: at(0), permission: 'read_write' }) },
      { do: 'update' },
    ],
    ['that was revoked is over', { token: tokenWith([credential(1)], revoked) }, { do: 'rest', because: 'revoked' }],
    ['whose place is another one is over', { isSamePlace: false }, { do: 'rest', because: 'replaced' }],
    [
      'whose place was purged and recreated is over',
      { token: undefined, isSamePlace: false },
      { do: 'rest', because: 'replaced' },
    ],
    [
      'that is as it should be is none',
      {},
      { do: 'rest', because: 'issued', isExpiring: false, dueAt: undefined, previous: undefined },
    ],
  ])('%s', (_, facts, step) => expect(judged(facts)).toMatchObject(step));
});

describe('the end of a value', () => {
  const lifeMs = 4 * hour;
  const times = { lifeMs, rotation: undefined };
  const token = tokenWith([credential(1, { expiresAt: at(lifeMs) })]);

  test.each<[string, Partial<Facts>, object]>([
    ['is set when it is made', { token: undefined, secret: absent }, { expiresAt: at(minute + lifeMs) }],
    ['is announced a quarter of its life ahead', { token }, { isExpiring: false, dueAt: madeAt + 3 * hour }],
    [
      'is near from there on',
      { token, now: madeAt + 3 * hour },
      { because: 'issued', isExpiring: true, dueAt: madeAt + lifeMs },
    ],
    ['comes', { token, now: madeAt + lifeMs }, { because: 'expired', dueAt: undefined }],
    [
      'moves with spec.expiresIn',
      { token, times: { lifeMs: hour, rotation: undefined } },
      { do: 'update', expiries: [{ serial: 1, expiresAt: at(hour) }] },
    ],
    [
      'goes with spec.expiresIn',
      { token, times: { lifeMs: undefined, rotation: undefined } },
      { do: 'update', expiries: [{ serial: 1, expiresAt: null }] },
    ],
    [
      'does not move once it has come',
      { token, now: madeAt + lifeMs, times: { lifeMs: 9 * hour, rotation: undefined } },
      { because: 'expired' },
    ],
    [
      'does not move for the difference of two clocks',
      { token: tokenWith([credential(1, { expiresAt: at(lifeMs + 2000) })]) },
      { because: 'issued' },
    ],
    [
      'is not announced if the value is replaced before',
      { token, now: madeAt + 3 * hour, times: { lifeMs, rotation: { ...rotation, intervalMs: 3.5 * hour } } },
      { because: 'issued', isExpiring: false, dueAt: madeAt + 3.5 * hour },
    ],
  ])('%s', (_, facts, step) => expect(judged({ times, ...facts })).toMatchObject(step));
});

describe('rotation', () => {
  const times = { lifeMs: undefined, rotation };
  const replacedAt = 24 * hour;
  const two = (before: Partial<ResourceCredential> = {}): ResourceToken =>
    tokenWith([credential(1, before), credential(2, { createdAt: at(replacedAt) })]);
  const after = (ms: number): number => madeAt + replacedAt + ms;

  test.each<[string, Partial<Facts>, object]>([
    ['waits for its time', { now: madeAt + replacedAt - 1 }, { do: 'rest', dueAt: madeAt + replacedAt }],
    ['makes the next value at its time', { now: madeAt + replacedAt }, { do: 'mint', serial: 2 }],
    [
      'goes on with a next value that did not reach the Secret',
      { now: madeAt + replacedAt, token: tokenWith([credential(1), credential(2, pending)]) },
      { do: 'mint', serial: 2 },
    ],
    [
      'leaves the value before until it is unused for the overlap',
      { token: two(), secret: holding(2), now: after(minute) },
      { do: 'rest', previous: { serial: 1 }, dueAt: after(10 * minute) },
    ],
    [
      'leaves a value before for the overlap, although it was last used long before the rotation',
      { token: two({ lastUsedAt: at(replacedAt - 5 * hour) }), secret: holding(2), now: after(minute) },
      { do: 'rest', previous: { serial: 1 }, dueAt: after(10 * minute) },
    ],
    [
      'revokes the value before when it was unused for the overlap',
      { token: two(), secret: holding(2), now: after(10 * minute) },
      { do: 'revoke', serial: 1 },
    ],
    [
      'leaves a value before that was used meanwhile, and perhaps a minute later than was noted',
      { token: two({ lastUsedAt: at(replacedAt + 5 * minute) }), secret: holding(2), now: after(15 * minute) },
      { do: 'rest', dueAt: after(16 * minute + 1000) },
    ],
    [
      'revokes a value before that is in use at the latest after maxOverlap',
      { token: two({ lastUsedAt: at(replacedAt + hour) }), secret: holding(2), now: after(hour) },
      { do: 'revoke', serial: 1 },
    ],
    [
      'that is taken away leaves no value before',
      { token: two(), secret: holding(2), now: after(0), times: { lifeMs: undefined, rotation: undefined } },
      { do: 'revoke', serial: 1 },
    ],
    [
      'makes the next value when the present one has ended',
      {
        token: tokenWith([credential(1, { expiresAt: at(hour) })]),
        times: { lifeMs: hour, rotation },
        now: madeAt + hour,
      },
      { do: 'mint', serial: 2 },
    ],
  ])('%s', (_, facts, step) => expect(judged({ times, ...facts })).toMatchObject(step));
});
