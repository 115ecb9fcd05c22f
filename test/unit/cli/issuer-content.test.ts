import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { issuerBody, type IssuerOptions } from '../../../src/cli/commands/issuer/issuer-content.ts';
import type { CommandContext } from '../../../src/cli/core/command.ts';
import type { TrustedIssuerView } from '../../../src/wire/trusted-issuers.ts';

const pair = generateKeyPairSync('ed25519');
const publicKey = pair.publicKey.export({ format: 'jwk' }) as Record<string, string>;
const privateKey = pair.privateKey.export({ format: 'jwk' }) as Record<string, string>;
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'keyframe-issuer-'));
  const file = (name: string, text: string): void => writeFileSync(join(folder, name), text);
  file('keys.json', JSON.stringify({ keys: [{ ...publicKey, kid: 'a', x5c: ['MII'], issuer: 'x' }] }));
  file('private.json', JSON.stringify({ keys: [publicKey, privateKey] }));
  file('oct.json', JSON.stringify({ keys: [{ kty: 'oct', k: 'c2VjcmV0' }] }));
  file('other.json', '[]');
  file('ca.pem', 'certificates');
});

afterAll(() => rmSync(folder, { recursive: true }));

const none: IssuerOptions = {
  preset: undefined,
  iss: undefined,
  jwksUrl: undefined,
  jwksFile: undefined,
  algorithm: [],
  caFile: undefined,
  maxAge: undefined,
};

function body(options: Partial<IssuerOptions>, before?: TrustedIssuerView): object {
  const context = { environment: { workingDirectory: folder } } as unknown as CommandContext;
  return issuerBody(context, { ...none, ...options }, before);
}

const github = 'https://token.actions.githubusercontent.com';
const other = { preset: 'none', iss: 'https://a.example', jwksUrl: 'https://a.example/keys' } as const;

describe('a new issuer', () => {
  test.each<[Partial<IssuerOptions>, object]>([
    [{ preset: 'github' }, { preset: 'github', iss: github, jwksUrl: `${github}/.well-known/jwks` }],
    [
      { preset: 'github', jwksUrl: `${github}/keys` },
      { preset: 'github', iss: github, jwksUrl: `${github}/keys` },
    ],
    [
      { ...other, preset: 'gitlab' },
      { ...other, preset: 'gitlab' },
    ],
    [
      { ...other, algorithm: ['ES256', 'EdDSA'], caFile: 'ca.pem', maxAge: 90_000 },
      { ...other, algorithms: ['ES256', 'EdDSA'], ca: 'certificates', maxAgeSeconds: 90 },
    ],
    [
      { preset: 'kubernetes', iss: 'https://a.example', jwksFile: 'keys.json' },
      { preset: 'kubernetes', iss: 'https://a.example', keys: [{ ...publicKey, kid: 'a' }] },
    ],
  ])('with %j', (options, expected) => {
    expect(body(options)).toEqual({ expectedVersion: 0, ...expected });
  });

  test.each<[Partial<IssuerOptions>, string]>([
    [{}, 'a new issuer needs --preset'],
    [{ preset: 'none', jwksUrl: 'https://a.example' }, 'a new issuer needs --iss <text>'],
    [{ preset: 'github', jwksUrl: 'https://a.example/keys' }, 'a new issuer needs --iss <text>'],
    [{ preset: 'gitlab', jwksUrl: 'https://gitlab.com.a.example/keys' }, 'a new issuer needs --iss <text>'],
    [{ preset: 'gitlab', jwksUrl: 'https://gitlab.com:8443/keys' }, 'a new issuer needs --iss <text>'],
    [{ preset: 'gitlab', jwksUrl: 'gitlab.com/keys' }, 'a new issuer needs --iss <text>'],
    [{ preset: 'none', iss: 'a' }, 'a new issuer needs its keys: --jwks-url <url>, or --jwks <file> with a JWK Set'],
    [
      { preset: 'github', iss: 'https://github.example.com' },
      'a new issuer needs its keys: --jwks-url <url>, or --jwks <file> with a JWK Set',
    ],
    [{ ...other, jwksFile: 'keys.json' }, 'give either --jwks-url or --jwks'],
    [{ ...other, algorithm: ['HS256'] }, '--algorithm must be one of RS256, ES256, EdDSA'],
    [
      { preset: 'none', iss: 'a', jwksFile: 'private.json' },
      'key 1 of private.json is private or symmetric, and was not sent',
    ],
    [{ preset: 'none', iss: 'a', jwksFile: 'oct.json' }, 'key 0 of oct.json is private or symmetric, and was not sent'],
    [
      { preset: 'none', iss: 'a', jwksFile: 'other.json' },
      'other.json is not a JWK Set: it must be JSON such as {"keys": […]}',
    ],
    [{ preset: 'none', iss: 'a', jwksFile: 'absent.json' }, 'absent.json cannot be read: there is no such file'],
  ])('is refused with %j', (options, message) => expect(() => body(options)).toThrow(message));
});

describe('an issuer that is changed', () => {
  const before = {
    ...other,
    name: 'a',
    keys: [{ ...publicKey }],
    algorithms: ['ES256'],
    ca: 'old',
    maxAgeSeconds: 60,
    version: 3,
  } as unknown as TrustedIssuerView;
  const kept = { ...other, algorithms: ['ES256'], maxAgeSeconds: 60, expectedVersion: 3 };

  test('keeps what is not given, and not the keys that were fetched', () => {
    expect(body({}, before)).toEqual({ ...kept, ca: 'old' });
    expect(body({ maxAge: 5_000 }, before)).toEqual({ ...kept, ca: 'old', maxAgeSeconds: 5 });
  });

  test('keeps its keys if they were given', () => {
    const given = { ...before, jwksUrl: null, ca: null };
    const { jwksUrl: _, ...rest } = kept;
    expect(body({}, given)).toEqual({ ...rest, keys: [publicKey] });
  });

  test('keeps its algorithms with another URL', () => {
    expect(body({ jwksUrl: 'https://b.example' }, before)).toEqual({
      ...kept,
      jwksUrl: 'https://b.example',
      ca: 'old',
    });
  });

  test('gets its keys from a URL or a file, and their algorithms, as the last option says', () => {
    const { jwksUrl: _url, algorithms: _algorithms, ...rest } = kept;
    expect(body({ jwksFile: 'keys.json' }, before)).toEqual({ ...rest, keys: [{ ...publicKey, kid: 'a' }] });
    const given = { ...before, jwksUrl: null, ca: null };
    expect(body({ jwksUrl: 'https://b.example' }, given)).toEqual({ ...rest, jwksUrl: 'https://b.example' });
  });
});
