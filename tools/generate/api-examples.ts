import { publicRouteTable, routeTable } from '../../src/http/routes/table.ts';

type Values = Readonly<Record<string, unknown>>;

/** One request of docs/api.md. */
interface Request {
  readonly method: string;
  readonly path: string;
  readonly query: Values;
  readonly body?: unknown;
}

/** The example of an operation in the OpenAPI document. */
interface Example {
  path: Values;
  query: Values;
  body?: unknown;
  response?: unknown;
}

const block = /^```(?<language>\w+)\n(?<text>[^]*?)^```$/gm;

/**
 * The requests of docs/api.md and their responses as a module, by operation. A test runs these requests, so the OpenAPI
 * document has examples that work. An operation takes its body and response from its first request that succeeds.
 */
export function apiExamples(page: string): string {
  const found: Record<string, Example> = {};
  const variables: Record<string, string> = {};
  const blocks = Array.from(page.matchAll(block), ({ groups = {} }) => groups as { language: string; text: string });
  for (const [index, { language, text }] of blocks.entries()) {
    if (language !== 'sh') continue;
    const response = responseOf(blocks[index + 1]);
    for (const request of requestsOf(text, variables)) note(found, request, response);
    for (const [, variable = '', filter = ''] of text.matchAll(/^(\w+)=\$\(jq -r '?(\.[\w.[\]]+)/gm)) {
      variables[variable] = String(partOf(response, filter));
    }
  }
  return `// Made from docs/api.md by \`npm run generate\`: never edited by hand.

/** The example of an operation: its request, and the body of its response. */
export interface OperationExample {
  /** Path parameters. */
  readonly path: Readonly<Record<string, string | number>>;
  readonly query: Readonly<Record<string, string | number | boolean>>;
  readonly body?: unknown;
  readonly response?: unknown;
}

export const examples: Readonly<Record<string, OperationExample>> = ${JSON.stringify(found)};
`;
}

/** What a filter of jq selects, such as `.identities[0].id`. */
function partOf(json: unknown, filter: string): unknown {
  const names = filter.split(/[.[\]]+/).filter((name) => name !== '');
  return names.reduce((part, name) => (part as Readonly<Record<string, unknown>>)[name], json);
}

function responseOf(next: { language: string; text: string } | undefined): unknown {
  return next?.language === 'json' ? JSON.parse(next.text) : undefined;
}

function note(found: Record<string, Example>, { method, path, query, body }: Request, response: unknown): void {
  if (isProblem(response)) return;
  for (const route of [...routeTable, ...publicRouteTable]) {
    const params = route.method === method ? matched(route.path, path) : undefined;
    if (params === undefined) continue;
    const example = (found[route.operation] ??= {
      path: params,
      query: {},
      ...(body === undefined ? {} : { body }),
      ...(response === undefined ? {} : { response }),
    });
    example.query = { ...query, ...example.query };
    return;
  }
  throw new Error(`docs/api.md: there is no route ${method} ${path}`);
}

function isProblem(response: unknown): boolean {
  return typeof response === 'object' && response !== null && 'code' in response && 'instance' in response;
}

/** The parameters of a path that fits `/projects/{org}`; undefined for any other. A fixed name goes before a parameter. */
function matched(template: string, path: string): Values | undefined {
  const [wanted, given] = [template.split('/'), path.split('/')];
  if (wanted.length !== given.length) return undefined;
  const params: Record<string, unknown> = {};
  for (const [index, part] of wanted.entries()) {
    const value = given[index] ?? '';
    const name = /^\{(\w+)\}$/.exec(part)?.[1];
    if (name !== undefined) params[name] = typed(value);
    else if (part !== value) return undefined;
  }
  return params;
}

const prefix = '$KEYFRAME_URL/api/v1';

/** The curl commands of a script. */
function requestsOf(script: string, variables: Readonly<Record<string, string>>): Request[] {
  const joined = script.replaceAll('\\\n', ' ');
  return Array.from(joined.matchAll(/\bcurl /g), ({ index }) => {
    const words = wordsOf(joined.slice(index)).map((word) => withVariables(word, variables));
    const [path = '', search = ''] = (words.find((word) => word.startsWith(prefix)) ?? '')
      .slice(prefix.length)
      .split('?');
    const [json, named] = [after(words, '--json'), after(words, '-X')];
    return {
      method: named ?? (json === undefined ? 'GET' : 'POST'),
      path,
      query: Object.fromEntries(Array.from(new URLSearchParams(search), ([name, value]) => [name, typed(value)])),
      ...(json === undefined ? {} : { body: JSON.parse(json) as unknown }),
    };
  });
}

/** A value of a path or query as its schema types it. */
function typed(text: string): unknown {
  return /^(?:\d+|true|false)$/.test(text) ? JSON.parse(text) : text;
}

function after(words: readonly string[], option: string): string | undefined {
  const index = words.indexOf(option);
  return index < 0 ? undefined : words[index + 1];
}

/** Names of variables stay if the page does not show their values: an example then does not fit its schema. */
function withVariables(word: string, variables: Readonly<Record<string, string>>): string {
  return word.replaceAll(/\$(\w+)/g, (whole, name: string) => variables[name] ?? whole);
}

const wordPart = /'([^']*)'|"([^"]*)"|([^\s'"|)>]+)|([ ]+)|[^]/gy;

/** The words of the first command of a script, without quotes and with the names of variables. */
function wordsOf(script: string): string[] {
  const words = [''];
  for (const [, single, double, bare, space] of script.matchAll(wordPart)) {
    if (space !== undefined) words.push('');
    else {
      const text = single ?? double ?? bare;
      if (text === undefined) break;
      words.push((words.pop() ?? '') + text);
    }
  }
  return words;
}
