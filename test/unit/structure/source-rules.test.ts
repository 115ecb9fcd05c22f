import { describe, expect, test } from '@jest/globals';
import {
  byteComparisonFaults,
  nonceFaults,
  randomnessFaults,
  readSources,
  resourcePrincipalFaults,
  secretSourcePaths,
  tokenHashFaults,
} from './source-rules.ts';

const sources = readSources();
const sourceOf = (path: string): string => sources.find((each) => each.path === path)?.source ?? '';

test('all rooms are read', () => {
  expect(sources.length).toBeGreaterThan(300);
  expect(sources.map(({ path }) => path)).toEqual(
    expect.arrayContaining(['src/crypto/aead.ts', 'src/crypto/token.ts', 'src/services/access/authentication.ts']),
  );
});

describe('the nonce of an encryption', () => {
  test('is random bytes, and only one place encrypts', () => {
    expect(sources.flatMap(({ path, source }) => nonceFaults(path, source))).toEqual([]);
  });

  const aead = sourceOf('src/crypto/aead.ts');
  const made = 'const nonce = randomBytes(nonceBytes);';

  test.each([
    ['a counter', made, 'const nonce = Buffer.alloc(nonceBytes); nonce.writeUInt32BE((counter += 1));'],
    ['a counter written into random bytes', made, `${made}\n  nonce.writeUInt32BE((counter += 1));`],
    ['one byte of random bytes that is set', made, `${made}\n  nonce[0] = 0;`],
    ['a digest', made, "const nonce = createHash('sha256').update(plaintext).digest().subarray(0, nonceBytes);"],
    ['a variable that changes', made, made.replace('const', 'let')],
    ['fewer bytes', 'const nonceBytes = 12;', 'const nonceBytes = 8;'],
    ['another randomBytes', 'export function seal', 'const randomBytes = zeros;\nexport function seal'],
    ['a renamed import', 'type KeyObject, randomBytes }', 'type KeyObject, pseudoRandomBytes as randomBytes }'],
    ['an argument that is no variable', 'key, nonce, options', 'key, nextNonce(), options'],
  ])('must not be %s', (_case, from, to) => {
    expect(aead).toContain(from);
    expect(nonceFaults('src/crypto/aead.ts', aead.replace(from, to))).not.toEqual([]);
  });

  test.each(["createCipheriv('aes-256-gcm', key, nonce)", 'crypto.subtle.encrypt(parameters, key, bytes)'])(
    'must not be chosen elsewhere: %s',
    (text) => expect(nonceFaults('src/services/a.ts', text)).not.toEqual([]),
  );
});

describe('randomness', () => {
  // They spread retries, renewals and looks over time.
  const jitter = [
    'src/lib/backoff.ts',
    'src/services/changes/change-stream.ts',
    'src/services/cluster/cluster-streams.ts',
    'src/agent/events.ts',
    'src/kube/informer/reflector.ts',
    'src/controller/frame/leadership.ts',
    'src/controller/frame/manager.ts',
  ];

  test('of keys, tokens, passwords and generated values is that of the system', () => {
    expect(sources.flatMap(({ path, source }) => randomnessFaults(path, source, jitter))).toEqual([]);
    expect(sources.map(({ path }) => path)).toEqual(expect.arrayContaining([...secretSourcePaths]));
  });

  test('can be predicted only where it spreads times', () => {
    for (const path of jitter) expect(randomnessFaults(path, sourceOf(path))).toHaveLength(1);
  });

  test.each([
    'Math.random()',
    "Math['random']()",
    'const { random } = Math;',
    'options.random ?? Math.random',
    "import { pseudoRandomBytes as randomBytes } from 'node:crypto';",
  ])('must not be predictable elsewhere: %s', (line) => {
    expect(randomnessFaults('src/services/a.ts', line)).not.toEqual([]);
  });

  const predictable = 'Buffer.from([1, 2, 3].map(() => Math.random() * 256))';
  const replacements = [predictable, 'Buffer.alloc(keyBytes, 7)', 'randomBytes(8)', 'madeUp(keyBytes)'];

  test.each(secretSourcePaths.flatMap((path) => replacements.map((made): [string, string] => [path, made])))(
    'makes what is secret in %s, not %s',
    (path, made) => {
      const source = sourceOf(path);
      expect(randomnessFaults(path, source)).toEqual([]);
      expect(randomnessFaults(path, source.replaceAll(/\brandomBytes\([^()]*\)?/g, made))).not.toEqual([]);
      const other = source.replace(/\brandomBytes\b([^']*'node:crypto')/, 'pseudoRandomBytes as randomBytes$1');
      expect(randomnessFaults(path, other)).not.toEqual([]);
    },
  );
});

describe('bytes that a caller may present', () => {
  // Two lines of one file of the operator's.
  const allowed = [
    "if ([...keys.values()].some((other) => other.equals(key))) return 'has the key of an earlier line';",
  ];

  test('are compared in constant time everywhere', () => {
    expect(sources.flatMap(({ path, source }) => byteComparisonFaults(path, source, allowed))).toEqual([]);
  });

  test('are compared otherwise only where the list says so', () => {
    expect(sources.flatMap(({ path, source }) => byteComparisonFaults(path, source))).toHaveLength(allowed.length);
  });

  test.each([
    ['src/services/sign-in/a.ts', '!Buffer.from(login.codeChallenge).equals(sha256(verifier))'],
    ['src/services/access/a.ts', 'Buffer.compare(one, other) !== 0'],
    ['src/services/access/a.ts', 'one.compare(other) !== 0'],
    ['src/crypto/a.ts', 'isDeepStrictEqual(one, other)'],
  ])('must not be compared otherwise in %s: %s', (path, line) => {
    expect(byteComparisonFaults(path, `  if (${line}) return;`)).not.toEqual([]);
  });
});

describe('the hash of a token', () => {
  // Reached by the controller, by the role recovered and at the bootstrap, each for a token that its own side holds.
  const sqlLookUps = ['src/store/resource-tokens.ts', 'src/store/recovery.ts', 'src/store/users.ts'];

  test('is compared in constant time everywhere', () => {
    expect(sources.flatMap(({ path, source }) => tokenHashFaults(path, source, sqlLookUps))).toEqual([]);
  });

  test('is compared by hashesEqual where a caller presents the token', () => {
    expect(sourceOf('src/services/access/authentication.ts')).toContain('!hashesEqual(found.tokenHash, token.hash)');
    expect(sourceOf('src/services/managed/tokens.ts')).toContain('!hashesEqual(parsed.hash, stored.tokenHash)');
  });

  test('is looked up by SQL nowhere else', () => {
    for (const path of sqlLookUps) expect(tokenHashFaults(path, sourceOf(path))).toHaveLength(1);
  });

  test.each([
    '!found.tokenHash.equals(token.hash)',
    'Buffer.compare(found.tokenHash, token.hash) !== 0',
    'Buffer.from(found.tokenHash).compare(token.hash) === 0',
    "found.tokenHash.toString('hex') === token.hash.toString('hex')",
    'token.hash === found.hash',
    'expected !== token.hash',
    'isDeepStrictEqual(found.tokenHash, token.hash)',
    'found.tokenHash.every((byte, index) => byte === token.hash[index])',
    'known.has(token.hash)',
    'SELECT id FROM personal_token WHERE token_hash = $1',
    'await prisma.personalToken.findFirst({ where: { tokenHash } })',
    'SELECT id FROM personal_token WHERE token_hash IN (SELECT x)',
    'timingSafeEqual(found.tokenHash, token.hash)',
  ])('must not be compared otherwise: %s', (line) => {
    expect(tokenHashFaults('src/services/a.ts', `  if (${line}) return;`)).not.toEqual([]);
  });

  test('must not be compared otherwise within hashesEqual', () => {
    const source = sourceOf('src/crypto/token.ts');
    expect(
      tokenHashFaults('src/crypto/token.ts', source.replace('timingSafeEqual(a, b);', 'Buffer.compare(a, b) === 0;')),
    ).not.toEqual([]);
    expect(
      tokenHashFaults(
        'src/crypto/token.ts',
        source.replace("timingSafeEqual } from 'node:crypto'", "x } from 'node:crypto'"),
      ),
    ).not.toEqual([]);
  });
});

describe('the principal of a custom resource', () => {
  const path = 'src/services/access/cluster-access.ts';

  test('is made in one file', () => {
    expect(sources.flatMap((each) => resourcePrincipalFaults(each.path, each.source))).toEqual([]);
    expect(resourcePrincipalFaults('src/services/managed/a.ts', sourceOf(path))).toHaveLength(1);
  });

  test.each([
    ['with a getter', "const principal = { type: 'resource', id, get grants() { return rules; } };"],
    ['with all grants', "return { principal: { type: 'resource', id, name, grants: [everything] }, requestId };"],
  ])('must not be made elsewhere %s', (_case, code) => {
    const source = `export function make() { ${code} }`;
    for (const place of ['src/services/managed/a.ts', 'src/compose/a.ts', 'src/controller/a.ts'])
      expect(resourcePrincipalFaults(place, source)).toHaveLength(1);
  });

  test('is no actor, which has no grants', () => {
    expect(resourcePrincipalFaults('src/services/a.ts', "const actor = { type: 'resource', id, name };")).toEqual([]);
  });
});
