import { parseSync } from 'oxc-parser';
import { type SyntaxNode, visit } from './import-rules.ts';

/**
 * Rules for the clients of the API, the command and the dashboard: each request names an endpoint of the contract, and the
 * type of its response comes from there.
 */

/** What sends requests. Nothing else may write an address of the API, or read a response without its type. */
const transports: ReadonlySet<string> = new Set(['src/client/api-client.ts', 'src/dashboard/api/client.ts']);

/** Files that call the API, and cast something else: the address of a server that they start. */
const otherCasts: ReadonlySet<string> = new Set(['src/cli/commands/sign-in/browser-login.ts']);

/** What is wrong with the requests of one file, a sentence each. `endpoints` are names such as `GET /users`. */
export function clientFaults(path: string, source: string, endpoints: readonly string[]): string[] {
  if (transports.has(path)) return [];
  const { program } = parseSync(path, source);
  const callsApi = /from '[./]+client\/call\.ts'/.test(source);
  const areas = new Set(endpoints.map((endpoint) => endpoint.split('/')[1] ?? ''));
  const faults: string[] = [];
  const report = ({ start }: SyntaxNode, fault: string): void => {
    faults.push(`${path}:${source.slice(0, Number(start)).split('\n').length}: ${fault}`);
  };
  visit(program, (node) => {
    const text = textOf(node);
    if (text !== undefined && isPath(text, areas)) report(node, `writes the path ${text} by hand`);
    if (isSend(node)) report(node, 'sends a request without call()');
    if (callsApi && isCast(node) && !otherCasts.has(path)) report(node, 'has a cast in a file that calls the API');
  });
  return faults;
}

/** Whether a text is a path of the API, or its beginning before a name that is filled in. */
function isPath(text: string, areas: ReadonlySet<string>): boolean {
  const area = /^\/([a-z-]+)(?:[/?]|$)/.exec(text)?.[1];
  return text.startsWith('/api/v1') || (area !== undefined && areas.has(area) && area !== pageOfSignIn);
}

/** A page of the dashboard and of the server has the name of an area. */
const pageOfSignIn = 'sign-in';

function textOf(node: SyntaxNode): string | undefined {
  if (node.type === 'Literal' && typeof node['value'] === 'string') return node['value'];
  if (node.type !== 'TemplateLiteral') return undefined;
  const [first] = node['quasis'] as readonly { readonly value: { readonly cooked: string | null } }[];
  return first?.value.cooked ?? undefined;
}

/** A method of a transport, called for itself. */
function isSend(node: SyntaxNode): boolean {
  if (node.type !== 'CallExpression') return false;
  const callee = node['callee'] as SyntaxNode;
  if (callee.type === 'Identifier') return callee['name'] === 'fetch';
  const property = callee['property'] as SyntaxNode | undefined;
  return property?.type === 'Identifier' && ['send', 'events'].includes(String(property['name']));
}

/** Any but `as const`. */
function isCast(node: SyntaxNode): boolean {
  if (node.type !== 'TSAsExpression' && node.type !== 'TSTypeAssertion') return false;
  const type = node['typeAnnotation'] as SyntaxNode;
  const name = (type['typeName'] as SyntaxNode | undefined)?.['name'];
  return name !== 'const';
}
