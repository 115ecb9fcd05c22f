import type { World } from '../fuzz/world.ts';

/** A GET request of the API and its answer. `'*'` stands for what differs from time to time. */
export interface RecordedRead {
  readonly path: string;
  readonly status: number;
  readonly body: unknown;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

// What never ends, and what is no JSON of the API.
const isStream = (path: string): boolean => path.startsWith('/changes/');

/** The paths of all GET requests of a document, with values that the world has. */
export function readPaths(document: Document, world: World): string[] {
  const templates = Object.entries(document.paths).flatMap(([path, item]) => {
    const name = path.replace(/^\/api\/v1/, '');
    return 'get' in item && path.startsWith('/api/v1') && !isStream(name) ? [name] : [];
  });
  return templates.map((template) => {
    const [, resource = ''] = template.split('/');
    const values = { ...world.path, ...world.resources[resource], ...world.operations[`GET ${template}`] };
    return template.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? name));
  });
}

/** Sends GET requests one after the other. */
export async function sendReads(
  { url, token }: { readonly url: string; readonly token: string },
  paths: readonly string[],
): Promise<RecordedRead[]> {
  const reads: RecordedRead[] = [];
  for (const path of paths) {
    const answer = await fetch(`${url}/api/v1${path}`, { headers: { authorization: `Bearer ${token}` } });
    const text = await answer.text();
    reads.push({ path, status: answer.status, body: text === '' ? null : (JSON.parse(text) as unknown) });
  }
  return reads;
}

/** One answer, with `'*'` for each part in which another answer to the same request differs. */
export function stableParts(one: unknown, other: unknown): unknown {
  if (Array.isArray(one) && Array.isArray(other)) {
    if (one.length !== other.length) return '*';
    return one.map((part, index) => stableParts(part, other[index] as unknown));
  }
  if (!isObject(one) || !isObject(other)) return one === other ? one : '*';
  return Object.fromEntries(
    Object.entries(one).map(([name, part]) => [name, isStable(name, other) ? stableParts(part, other[name]) : '*']),
  );
}

// The use of a token is noted once a minute, and each release has a version of its own.
const volatile: ReadonlySet<string> = new Set(['lastUsedAt', 'serverVersion']);
const isStable = (name: string, other: object): boolean => name in other && !volatile.has(name);

/** Where an answer lacks what was recorded, as paths. It may have more fields. */
export function readFaults(recorded: unknown, answer: unknown, at = ''): string[] {
  if (recorded === '*') return [];
  if (Array.isArray(recorded)) {
    if (!Array.isArray(answer) || answer.length !== recorded.length) return [at];
    return recorded.flatMap((part, index) => readFaults(part, answer[index] as unknown, `${at}[${index}]`));
  }
  if (!isObject(recorded)) return recorded === answer ? [] : [at];
  if (!isObject(answer)) return [at];
  return Object.entries(recorded).flatMap(([name, part]) =>
    readFaults(volatile.has(name) ? '*' : part, answer[name], `${at}.${name}`),
  );
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
