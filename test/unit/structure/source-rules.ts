import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync } from 'oxc-parser';
import { checkoutDirectory } from '../../../tools/checkout.ts';
import { type SyntaxNode, visit } from './import-rules.ts';

/** Rules about what the sources may contain, each as a function from a file to its violations. */

/** The paths and texts of all sources but the generated client of the database. */
export function readSources(): readonly { readonly path: string; readonly source: string }[] {
  return readdirSync(join(checkoutDirectory, 'src'), { recursive: true, encoding: 'utf8' })
    .map((path) => `src/${path.replaceAll('\\', '/')}`)
    .filter((path) => /\.tsx?$/.test(path) && !path.includes('/generated/'))
    .map((path) => ({ path, source: readFileSync(join(checkoutDirectory, path), 'utf8') }));
}

const aeadPath = 'src/crypto/aead.ts';
const encryption = /\b(?:createCipheriv|createCipher|encrypt|subtle|webcrypto)\b/;

/** Only `seal` in aead.ts encrypts, and its nonce is 12 bytes of `randomBytes` and nothing else. */
export function nonceFaults(path: string, source: string): string[] {
  const code = withoutComments(source);
  if (path !== aeadPath) return encryption.test(code) ? [`${path} encrypts; only ${aeadPath} may`] : [];
  const faults: string[] = [];
  const calls = [...code.matchAll(/\bcreateCipheriv\(([^)]*)\)/g)].map(([, text = '']) => text.split(/\s*,\s*/));
  if (calls.length !== 1) faults.push(`${path} calls createCipheriv ${calls.length} times`);
  for (const [, , nonce = ''] of calls) faults.push(...variableFaults(path, code, nonce));
  if (!/^const nonceBytes = 12;$/m.test(code)) faults.push(`${path}: a nonce must have 12 bytes`);
  return [...faults, ...importFaults(path, code)];
}

/** `randomBytes` must be that of Node. */
function importFaults(path: string, code: string): string[] {
  const isNode = /^import \{[^}]*\brandomBytes\b(?! as)[^}]*\} from 'node:crypto';$/m.test(code);
  const isDeclared = /\b(?:function|const|let|var|as) randomBytes\b/.test(code);
  return [
    ...(isNode ? [] : [`${path} must import randomBytes from node:crypto`]),
    ...(isDeclared ? [`${path} declares another randomBytes`] : []),
  ];
}

function variableFaults(path: string, code: string, nonce: string): string[] {
  if (!/^\w+$/.test(nonce)) return [`${path}: the nonce must be a variable, not ${nonce}`];
  const uses = code.split('\n').filter((line) => new RegExp(`\\b${nonce}\\b`).test(line));
  const allowed = [
    new RegExp(`^ *const ${nonce} = randomBytes\\(nonceBytes\\);$`),
    new RegExp(`\\bcreateCipheriv\\(algorithm, key, ${nonce}, options\\);$`),
    new RegExp(`^ *return Buffer\\.concat\\(\\[format, ${nonce}, cipher\\.getAuthTag\\(\\), ciphertext\\]\\);$`),
  ];
  const missing = allowed.filter((pattern) => !uses.some((line) => pattern.test(line)));
  const foreign = uses.filter((line) => !allowed.some((pattern) => pattern.test(line)));
  return [
    ...missing.map(() => `${path}: the nonce must come from randomBytes(nonceBytes)`),
    ...foreign.map((line) => `${path} also uses the nonce in: ${line.trim()}`),
  ];
}

const tokenPath = 'src/crypto/token.ts';

/** Where keys, tokens, passwords and generated values come from: the one expression of each file. */
const secretSources: Readonly<Record<string, string>> = {
  [tokenPath]: 'encodeBase62(randomBytes(32), secretLength)',
  'src/crypto/data-keys.ts': 'const bytes = randomBytes(keyBytes);',
  'src/crypto/instance-keys.ts': 'const bytes = randomBytes(keyBytes);',
  'src/crypto/root-keys.ts': "${randomBytes(keyBytes).toString('base64')}",
  'src/crypto/random-text.ts': 'const bytes = randomBytes(Math.ceil(',
  'src/roles/init/initial-secrets.ts': "const password = randomBytes(24).toString('hex');",
  'src/services/secrets/state-cache.ts': 'return createSecretKey(randomBytes(32));',
};

/** The files that `randomnessFaults` expects to make secrets. */
export const secretSourcePaths: readonly string[] = Object.keys(secretSources);

/**
 * Secrets come from the system's generator. Tests of their distribution cannot distinguish it from `Math.random`, which can be
 * predicted: only `jitterPaths`, which spread times, may use that.
 */
export function randomnessFaults(path: string, source: string, jitterPaths: readonly string[] = []): string[] {
  const code = withoutComments(source);
  const usesWeak = /\bMath\s*(?:\.|\[)\s*['"`]?random\b|\{[^}]*\brandom\b[^}]*\} = Math\b|\bpseudoRandomBytes\b/.test(
    code,
  );
  const weak = usesWeak && !jitterPaths.includes(path) ? [`${path} uses a generator that can be predicted`] : [];
  const expected = secretSources[path];
  if (expected === undefined) return weak;
  const absent = code.includes(expected) ? [] : [`${path} must make its secret by: ${expected}`];
  return [...weak, ...absent, ...importFaults(path, code)];
}

const hash = String.raw`(?:token_?hash|\.hash|\bhash)\b`;
const comparisons = [
  // Either side of an operator.
  new RegExp(String.raw`${hash}[)\]}]*(?:\.\w+\([^()]*\))?\s*[=!]==?(?!\s*(?:undefined|null)\b)`, 'i'),
  new RegExp(String.raw`[=!]==?\s*[\w.?!]*${hash}`, 'i'),
  // A method, or a function that takes it.
  new RegExp(String.raw`${hash}\??\.(?:equals|compare|indexOf|includes|startsWith|every|some)\(`, 'i'),
  new RegExp(String.raw`\b(?:equals|compare|isDeepStrictEqual|includes|indexOf|startsWith|has)\([^()]*${hash}`, 'i'),
  // Prisma's conditions.
  /\bwhere\b.*\btokenHash\b/,
  // SQL, but for an assignment of a new one.
  new RegExp(String.raw`token_hash"?\s*(?:=|<>|!=|IN\b|IS\b)(?!\s*excluded\.)`, 'i'),
];

/**
 * A token's hash is compared by `hashesEqual` alone, and that by `timingSafeEqual`. `sqlLookUps` are files whose SQL may
 * look a row up by the hash, for callers that are not reached over the network.
 */
export function tokenHashFaults(path: string, source: string, sqlLookUps: readonly string[] = []): string[] {
  const code = withoutComments(source);
  if (path === tokenPath) return hashesEqualFaults(path, code);
  const faults = code
    .split('\n')
    .filter((line) => /token_?hash|(?<!\burl)\.hash\b/i.test(line) && !isStatedLookUp(path, line, sqlLookUps))
    .filter((line) => comparisons.some((pattern) => pattern.test(line)))
    .map((line) => `${path} compares a token's hash other than by hashesEqual: ${line.trim()}`);
  return /\btimingSafeEqual\b/.test(code) ? [...faults, `${path} uses timingSafeEqual instead of hashesEqual`] : faults;
}

const byteComparison = /\.equals\(|\.compare\(|\bisDeepStrictEqual\(/;

/**
 * Where callers present secrets, bytes are compared by `hashesEqual` alone: every other comparison ends at the first
 * difference. `allowed` are lines whose bytes no caller presents.
 */
export function byteComparisonFaults(path: string, source: string, allowed: readonly string[] = []): string[] {
  if (!/^src\/(?:crypto|services\/(?:access|sign-in))\//.test(path)) return [];
  return withoutComments(source)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => byteComparison.test(line) && !allowed.includes(line))
    .map((line) => `${path} compares bytes other than by hashesEqual: ${line}`);
}

function isStatedLookUp(path: string, line: string, sqlLookUps: readonly string[]): boolean {
  return sqlLookUps.includes(path) && /\btoken_hash = \$|\bwhere = \{.*\btokenHash:/.test(line);
}

function hashesEqualFaults(path: string, code: string): string[] {
  const body = 'return a.length === b.length && timingSafeEqual(a, b);';
  const declared = `export function hashesEqual(a: Uint8Array, b: Uint8Array): boolean {\n  ${body}\n}`;
  const isNode = /^import \{[^}]*\btimingSafeEqual\b(?! as)[^}]*\} from 'node:crypto';$/m.test(code);
  return code.includes(declared) && isNode
    ? []
    : [`${path}: hashesEqual must compare by timingSafeEqual of node:crypto`];
}

function withoutComments(source: string): string {
  return source.replaceAll(/\/\*[^]*?\*\//g, '').replaceAll(/(^|[^:'"`])\/\/.*$/gm, '$1');
}

const vouchedPath = 'src/services/access/cluster-access.ts';

/**
 * Only one file makes the principal of a custom resource, which acts with the grants that it is given: an object of the type
 * `resource` that has grants.
 */
export function resourcePrincipalFaults(path: string, source: string): string[] {
  if (path === vouchedPath || !/type: ['"]resource['"]/.test(source)) return [];
  let count = 0;
  visit(parseSync(path, source).program, (node) => {
    if (node.type === 'ObjectExpression' && isResourcePrincipal(node)) count += 1;
  });
  return count === 0 ? [] : [`${path} makes the principal of a custom resource; only ${vouchedPath} may`];
}

function isResourcePrincipal({ properties }: SyntaxNode): boolean {
  const named = (properties as readonly SyntaxNode[]).map(({ key, value }) => ({
    name: (key as { readonly name?: string } | undefined)?.name,
    text: (value as { readonly value?: unknown } | undefined)?.value,
  }));
  return (
    named.some(({ name, text }) => name === 'type' && text === 'resource') &&
    named.some(({ name }) => name === 'grants')
  );
}
