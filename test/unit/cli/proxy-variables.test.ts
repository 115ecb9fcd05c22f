import { describe, expect, test } from '@jest/globals';
import { readEnvironment } from '../../../src/cli/settings/environment.ts';
import { proxyFor } from '../../../src/cli/settings/proxy-variables.ts';
import { shownProxy } from '../../../src/client/proxy.ts';

function shown(url: string, variables: Readonly<Record<string, string>>): string | undefined {
  const proxy = proxyFor(url, readEnvironment(variables, '/').proxies);
  return proxy === undefined ? undefined : shownProxy(proxy);
}

const secure = 'https://keyframe.example.com';
const plain = 'http://keyframe.example.com';

describe('the proxy for a server', () => {
  test.each([
    ['no variable', secure, {}, undefined],
    ['HTTPS_PROXY', secure, { HTTPS_PROXY: 'http://proxy:3128' }, 'http://proxy:3128 of HTTPS_PROXY'],
    ['https_proxy', secure, { https_proxy: 'http://a:1', HTTPS_PROXY: 'http://b:1' }, 'http://a:1 of https_proxy'],
    ['an empty https_proxy', secure, { https_proxy: '', HTTPS_PROXY: 'http://b:1' }, 'http://b:1 of HTTPS_PROXY'],
    ['an address without http://', secure, { HTTPS_PROXY: 'proxy:3128' }, 'http://proxy:3128 of HTTPS_PROXY'],
    ['an https proxy', secure, { HTTPS_PROXY: 'https://proxy:8443/' }, 'https://proxy:8443 of HTTPS_PROXY'],
    ['the proxy of http', secure, { HTTP_PROXY: 'http://proxy:3128' }, undefined],
    ['HTTP_PROXY', plain, { HTTP_PROXY: 'http://proxy:3128' }, 'http://proxy:3128 of HTTP_PROXY'],
    ['the proxy of https', plain, { HTTPS_PROXY: 'http://proxy:3128' }, undefined],
    ['HTTP_PROXY below a web server', plain, { HTTP_PROXY: 'http://proxy:1', REQUEST_METHOD: 'GET' }, undefined],
    ['a user', secure, { HTTPS_PROXY: 'http://ada:hunter2@proxy:3128' }, 'http://proxy:3128 of HTTPS_PROXY'],
  ])('follows from %s', (_, url, variables, expected) => {
    expect(shown(url, variables)).toBe(expected && `the proxy ${expected}`);
  });

  test.each(['localhost', '127.0.0.1', '127.1.2.3', '[::1]'])('is never before %s', (host) => {
    const variables = { HTTP_PROXY: 'http://proxy:3128', HTTPS_PROXY: 'http://proxy:3128' };
    expect([shown(`http://${host}:8700`, variables), shown(`https://${host}`, variables)]).toEqual([
      undefined,
      undefined,
    ]);
  });

  test.each(['socks5://proxy:1080', 'http://', 'http://ada:hunter2%zz@proxy', 'hunter2 x', 'ftp://hunter2@proxy'])(
    'is refused for %j without its value',
    (value) => {
      const read = (): unknown => shown(secure, { HTTPS_PROXY: value });
      expect(read).toThrow('HTTPS_PROXY must be the address of an http or https proxy');
      expect(read).not.toThrow('hunter2');
    },
  );
});

describe('NO_PROXY', () => {
  test.each([
    ['keyframe.example.com', secure, true],
    ['example.com', secure, true],
    ['.example.com', secure, true],
    ['*.example.com', secure, true],
    ['EXAMPLE.com.', secure, true],
    ['ample.com', secure, false],
    ['.', secure, false],
    ['com.example', secure, false],
    ['other.test, example.com', secure, true],
    ['other.test example.com', secure, true],
    ['', secure, false],
    ['*', secure, true],
    ['other.test,*', secure, true],
    ['example.com:443', secure, true],
    ['example.com:8443', secure, false],
    ['example.com:8443', 'https://keyframe.example.com:8443', true],
    ['example.com', 'https://keyframe.example.com.:8443', true],
    ['10.1.2.3', 'https://10.1.2.3', true],
    ['10.1.2.3:443', 'https://10.1.2.3', true],
    ['2.3', 'https://10.1.2.3', false],
    ['10.0.0.0/8', 'https://10.1.2.3', true],
    ['10.0.0.0/16', 'https://10.1.2.3', false],
    ['10.0.0.0/x,10.0.0.0/33,10.0.0.0/', 'https://10.1.2.3', false],
    ['0.0.0.0/0', 'https://10.1.2.3', true],
    ['2001:db8::1', 'https://[2001:db8:0::1]', true],
    ['[2001:db8::1]', 'https://[2001:db8::1]', true],
    ['[2001:db8::1]:443', 'https://[2001:db8::1]', true],
    ['[2001:db8::1]:8443', 'https://[2001:db8::1]', false],
    ['2001:db8::/32', 'https://[2001:db8::1]', true],
    ['10.0.0.0/8', 'https://[2001:db8::1]', false],
    ['10.0.0.0/8', secure, false],
  ])('%j and the server %s', (exceptions, url, isDirect) => {
    const variables = { HTTPS_PROXY: 'http://proxy:3128', NO_PROXY: exceptions };
    expect(shown(url, variables) === undefined).toBe(isDirect);
  });

  test('is no_proxy if both are set', () => {
    const variables = { HTTPS_PROXY: 'http://proxy:3128', no_proxy: 'other.test', NO_PROXY: 'example.com' };
    expect(shown(secure, variables)).toBe('the proxy http://proxy:3128 of HTTPS_PROXY');
  });
});
