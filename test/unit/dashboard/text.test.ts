import { describe, expect, test } from '@jest/globals';
import { browserName, isPhone } from '../../../src/dashboard/text/browser-name.ts';
import { firstCommands } from '../../../src/dashboard/text/first-commands.ts';
import { callbackOf, loginRequestOf } from '../../../src/dashboard/text/login-request.ts';
import { relativeTime } from '../../../src/dashboard/text/relative-time.ts';
import { tokenFault } from '../../../src/dashboard/text/token-fault.ts';

const agents = {
  chromeMac:
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36',
  edge: 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36 Edg/150.0.0.0',
  firefox: 'Mozilla/5.0 (X11; Linux x86_64; rv:149.0) Gecko/20100101 Firefox/149.0',
  iphone:
    'Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/19.0 Mobile/15E148 Safari/604.1',
  android:
    'Mozilla/5.0 (Linux; Android 16) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Mobile Safari/537.36',
};

describe('the name of a browser', () => {
  test.each([
    [agents.chromeMac, 'Chrome on macOS', false],
    [agents.edge, 'Edge on Windows', false],
    [agents.firefox, 'Firefox on Linux', false],
    [agents.iphone, 'Safari on iPhone', true],
    [agents.android, 'Chrome on Android', true],
    ['curl/8.1', 'curl/8.1', false],
    ['x'.repeat(200), `${'x'.repeat(40)}…`, false],
    ['', 'Unknown browser', false],
    [null, 'Unknown browser', false],
  ])('of %s is %s', (agent, name, phone) => {
    expect([browserName(agent), isPhone(agent)]).toEqual([name, phone]);
  });
});

describe('a time relative to now', () => {
  const [second, minute, hour, day] = [1_000, 60_000, 3_600_000, 86_400_000];
  test.each([
    [0, 'just now'],
    [-29 * second, 'just now'],
    [20 * second, 'in less than a minute'],
    [-100 * second, '2 minutes ago'],
    [-59 * minute, '59 minutes ago'],
    [-60 * minute, '1 hour ago'],
    [12 * hour - second, 'in 12 hours'],
    [11 * hour, 'in 11 hours'],
    [-3 * day, '3 days ago'],
  ])('%i ms away is "%s"', (distance, text) => {
    expect(relativeTime(distance)).toBe(text);
  });
});

describe('a pasted text', () => {
  test.each([
    ['', 'Paste a personal token'],
    ['kf_svc_abc', 'service token'],
    ['hunter2', 'not a personal token'],
    ['kf_pat_abc def', 'the token alone'],
  ])('"%s" is refused before it is sent, with a sentence that does not contain it', (text, part) => {
    const fault = tokenFault(text) ?? '';
    expect(fault).toContain(part);
    expect(text !== '' && fault.includes(text)).toBe(false);
  });

  test('may be a token', () => {
    expect(tokenFault('kf_pat_42iR1v840ej')).toBeUndefined();
  });
});

test('the first commands create an organization only for instance admins who have none', () => {
  const url = 'https://keyframe.example.com';
  const own = firstCommands(url, { organization: 'demo', instanceAdmin: true });
  expect(own.store).not.toContain('org create');
  expect(own.connect).toContain('organization: demo, project: web');
  const admin = firstCommands(url, { organization: undefined, instanceAdmin: true });
  expect(admin.store).toContain('./keyframe org create acme\n');
  const outside = firstCommands(url, { organization: undefined, instanceAdmin: false });
  expect(outside.store).not.toContain('org create');
});

describe('what the command says of itself', () => {
  const right = { port: '43171', challenge: 'c'.repeat(43), state: 's'.repeat(22) };
  const requestOf = (changes: Record<string, string>): unknown =>
    loginRequestOf(new URLSearchParams({ ...right, ...changes }));

  test('leads back to this machine alone', () => {
    const request = loginRequestOf(new URLSearchParams(right));
    expect(request).toEqual({ ...right, port: 43171 });
    const callback = new URL(callbackOf({ ...right, port: 43171 }, 'a&b'));
    expect([callback.origin, callback.pathname]).toEqual(['http://127.0.0.1:43171', '/callback']);
    expect(Object.fromEntries(callback.searchParams)).toEqual({ code: 'a&b', state: right.state });
  });

  test.each([
    { port: '' },
    { port: '0' },
    { port: '65536' },
    { port: '80@evil.example' },
    { port: '80/x' },
    { challenge: 'short' },
    { state: '' },
    { state: 'has space in it, and is long' },
  ])('is refused with %j', (changes) => {
    expect(requestOf(changes)).toBeUndefined();
  });
});
