import type { ApiCall } from '../../../src/kube/client/client.ts';
import type { AnyObject } from './fake-cluster.ts';
import { refuse } from './object-rules.ts';
import { fits } from './selectors.ts';

interface Source {
  /** The present version. */
  readonly version: string;
  /** All objects by their paths: now, or as they were at a version. */
  readonly at: (version: string | undefined) => ReadonlyMap<string, AnyObject>;
}

interface Page {
  readonly resourceVersion: string;
  /** What asks for the next page; absent on the last one. */
  readonly continue?: string;
  readonly items: readonly AnyObject[];
}

interface Token {
  readonly version: string;
  /** The path of the last object that was shown. */
  readonly after: string;
}

/** The page that a list asks for, in the order of the paths. All pages show the version of the first one. */
export function pageOf(call: ApiCall, source: Source): Page {
  const { limit, continue: text } = call.query ?? {};
  const token = text === undefined ? undefined : parseToken(call, text);
  const resourceVersion = token?.version ?? source.version;
  const found = [...source.at(token?.version)]
    .filter(([path, object]) => path > (token?.after ?? '') && fits(call, path, object))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const shown = limit === undefined ? found : found.slice(0, Number(limit));
  const items = shown.map(([, object]) => object);
  if (shown.length === found.length) return { resourceVersion, items };
  return {
    resourceVersion,
    items,
    continue: formatToken({ version: resourceVersion, after: shown.at(-1)?.[0] ?? '' }),
  };
}

function formatToken(token: Token): string {
  return Buffer.from(JSON.stringify(token)).toString('base64url');
}

function parseToken(call: ApiCall, text: string): Token {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString()) as Token;
  } catch {
    return refuse(call, 400, 'BadRequest');
  }
}
