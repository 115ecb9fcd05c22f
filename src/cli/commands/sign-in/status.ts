import { type BodyOf, call } from '../../../client/call.ts';
import { ClientError } from '../../../client/client-error.ts';
import type { Proxy } from '../../../client/proxy.ts';
import { isOlderRelease } from '../../../lib/release.ts';
import { CliError } from '../../core/cli-error.ts';
import { cliErrorOf } from '../../core/client-failure.ts';
import { type CommandContext, defineCommand } from '../../core/command.ts';
import { exitCodes } from '../../core/exit-codes.ts';
import { scopeOptions } from '../../core/options.ts';
import { problemOf } from '../../output/problem.ts';
import type { StatusOutput } from '../../output/shapes.ts';
import {
  type FoundScope,
  type Scope,
  type ScopeFlags,
  type ScopeName,
  findScope,
  scopeOfToken,
  scopeParams,
} from '../../settings/scope.ts';
import type { ObjectView } from '../../terminal/printer.ts';
import { version } from '../../core/version.ts';
import { meFields } from './me-fields.ts';

/** `status`. */
export const statusCommand = defineCommand({
  summary: 'Show the server, the identity, the directory and the environment that commands use',
  description:
    'Says whether the server can be reached and is ready, which setting names it, which proxy is before it, its version (with a valid token), who you are and until when the token is valid, whether .keyframe.json is trusted, which setting names the organization, the project and the environment, and at which revision the environment is. What cannot be found out is a problem with its next steps. The exit code is that of the first problem: 1 if the server cannot be reached or is not ready, 3 without a valid token, 5 if the environment does not exist, 7 if .keyframe.json is not trusted. A warning says if the command is older than the server. No token is printed.',
  options: scopeOptions,
  examples: [
    { line: 'status', note: 'Before you ask why another command fails' },
    { line: 'status -e production --output json', note: 'For a program' },
  ],
  async run(context, { options }) {
    const problems = new Problems(context);
    const server = await serverState(context, problems);
    const folder = problems.catching(() => folderState(context));
    const token = await problems.catchingAsync(async () => await context.configuration.token.current());
    const isAsked = canServe(server) && token !== undefined;
    const identity = isAsked ? await problems.catchingAsync(async () => meOf(context)) : undefined;
    const named = await namedScope(context, options, { problems, identity });
    const environment = await environmentState(context, named, { problems, isAsked: identity !== undefined });
    const { configuration } = context;
    const value = {
      command: { version },
      server: { ...server, version: identity?.serverVersion ?? null },
      profile: configuration.profile ?? null,
      tokenSource: token === undefined ? null : configuration.tokenSource,
      identity: identity ?? null,
      folder: folder ?? null,
      selected: selectedOf(named),
      environment,
      problems: problems.all.map(problemOf),
    } satisfies StatusOutput;
    await context.printer.object({ value, fields: fieldsOf(value), name: server.url ?? [] });
    warnIfOlder(context, value.server);
    problems.report();
  },
});

async function meOf({ api }: CommandContext): Promise<BodyOf<'GET /me'>> {
  return (await call(api(), 'GET /me')).body;
}

/** A command that is older than its server lacks what the server can do, and may not know a new answer. */
function warnIfOlder({ io }: CommandContext, { url, version: serverVersion }: StatusOutput['server']): void {
  if (serverVersion === null || !isOlderRelease(version, serverVersion)) return;
  io.warn(
    `this command (${version}) is older than the server (${serverVersion}); to replace it: curl -fsSLo keyframe ${url}/cli`,
  );
}

type ServerState = Omit<StatusOutput['server'], 'version'>;

function canServe({ isReachable, isReady }: ServerState): boolean {
  return isReachable && isReady !== false;
}

/** What could not be found out; each problem once. */
class Problems {
  readonly all: CliError[] = [];
  readonly #context: CommandContext;

  constructor(context: CommandContext) {
    this.#context = context;
  }

  /** The result of the work; undefined if it failed. */
  catching<T>(work: () => T): T | undefined {
    try {
      return work();
    } catch (error) {
      this.add(error);
      return undefined;
    }
  }

  async catchingAsync<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      const { explainNotFound } = await import('../../core/not-found.ts');
      this.add(await explainNotFound(error, this.#context.api));
      return undefined;
    }
  }

  /** Throws an error that is neither of the command nor of the server. */
  add(error: unknown): void {
    const known = error instanceof ClientError ? cliErrorOf(error) : error;
    if (!(known instanceof CliError)) throw error;
    if (!this.all.some(({ message }) => message === known.message)) this.all.push(known);
  }

  /** Prints them, unless the result has them, and sets the exit code. */
  report(): void {
    const { printer, endWith } = this.#context;
    const [first] = this.all;
    if (first !== undefined) endWith(first.exitCode);
    if (printer.format === 'json' || printer.format === 'yaml') return;
    for (const { message, next } of this.all) this.#context.io.error(message, next);
  }
}

async function serverState({ configuration, client }: CommandContext, problems: Problems): Promise<ServerState> {
  const unknown = { isReachable: false, isReady: null, reason: null };
  const url = problems.catching(() => configuration.url);
  if (url === undefined) return { url: null, source: null, proxy: null, ...unknown };
  const api = problems.catching(() => client({ url, token: '' }));
  const server = { url, source: configuration.urlSource, proxy: proxyState(api?.proxy) };
  if (api === undefined) return { ...server, ...unknown };
  try {
    const { isReady = null, reason = null } = (await api.readiness()) ?? {};
    if (isReady === false) {
      const message = `${url} is not ready: ${reason}`;
      problems.add(new CliError(exitCodes.failure, message, { next: ['Try again, or see the log of the server'] }));
    }
    return { ...server, isReachable: true, isReady, reason };
  } catch (error) {
    problems.add(error);
    return { ...server, ...unknown };
  }
}

function proxyState(proxy: Proxy | undefined): ServerState['proxy'] {
  return proxy === undefined ? null : { url: proxy.url.origin, source: proxy.variable };
}

function folderState({ configuration }: CommandContext): StatusOutput['folder'] {
  const found = configuration.foundFolder;
  return found === undefined ? null : { path: found.file.path, trust: configuration.trustOf(found) };
}

interface Asked {
  readonly problems: Problems;
  readonly identity: StatusOutput['identity'] | undefined;
}

/** The slugs that commands use, with the setting that names each. */
async function namedScope(
  { scopeSources }: CommandContext,
  flags: ScopeFlags,
  { problems, identity }: Asked,
): Promise<FoundScope> {
  const place = identity === undefined || identity === null ? undefined : scopeOfToken(identity);
  const sources = { ...scopeSources, token: () => Promise.resolve(place) };
  return (await problems.catchingAsync(async () => await findScope(flags, sources, 'environment'))) ?? {};
}

function selectedOf({ organization, project, environment }: FoundScope): StatusOutput['selected'] {
  return { organization: organization ?? null, project: project ?? null, environment: environment ?? null };
}

/** The environment, if all its slugs are named, with its revision if it can be read. */
async function environmentState(
  { api }: CommandContext,
  named: FoundScope,
  { problems, isAsked }: { readonly problems: Problems; readonly isAsked: boolean },
): Promise<StatusOutput['environment']> {
  const { organization, project, environment } = named;
  if (organization === undefined || project === undefined || environment === undefined) return null;
  const scope: Scope = { organization: organization.slug, project: project.slug, environment: environment.slug };
  const params = scopeParams(scope);
  const read = () => call(api(), 'GET /environments/{org}/{project}/{env}', { params });
  const found = isAsked ? await problems.catchingAsync(read) : undefined;
  return { ...scope, revision: found?.body.revision ?? null, revisionId: found?.body.revisionId ?? null };
}

const trustWords = {
  trusted: 'trusted',
  untrusted: 'not trusted',
  changed: 'changed since you trusted it',
} as const;

function fieldsOf({
  command,
  server,
  profile,
  tokenSource,
  identity,
  folder,
  selected,
  environment,
}: StatusOutput): ObjectView['fields'] {
  return [
    ['Command', command.version],
    ['Server', server.url === null ? null : `${server.url} (${server.source})`],
    ['Proxy', server.proxy === null ? null : `${server.proxy.url} (${server.proxy.source})`],
    ['State', stateOf(server)],
    ['Server version', server.version],
    ['Profile', profile],
    ['Token', tokenSource === null ? 'none' : `from ${tokenSource}`],
    ...(identity === null ? [] : meFields(identity)),
    ['Folder file', folder === null ? null : `${folder.path} (${trustWords[folder.trust]})`],
    selectedField(selected),
    ['Revision', environment?.revision],
  ];
}

/** As far as it is named: `acme/shop/dev (organization and project from .keyframe.json, environment from --env)`. */
function selectedField(selected: StatusOutput['selected']): ObjectView['fields'][number] {
  const named = selectedNames.flatMap((name) => {
    const found = selected[name];
    return found === null ? [] : [{ name, ...found }];
  });
  const deepest = named.at(-1);
  if (deepest === undefined) return ['Environment', null];
  const sources = [...new Set(named.map(({ source }) => source))];
  const namesFrom = (setting: string): string[] =>
    named.flatMap(({ name, source }) => (source === setting ? [name] : []));
  const words = sources.map((setting) => `${namesFrom(setting).join(' and ')} from ${setting}`);
  const source = sources.length === 1 ? `from ${deepest.source}` : words.join(', ');
  return [titles[deepest.name], `${named.map(({ slug }) => slug).join('/')} (${source})`];
}

const selectedNames = ['organization', 'project', 'environment'] as const satisfies readonly ScopeName[];
const titles = { organization: 'Organization', project: 'Project', environment: 'Environment' };

function stateOf({ isReachable, isReady, reason }: ServerState): string {
  if (!isReachable) return 'not reachable';
  if (isReady === null) return 'reachable';
  return isReady ? 'ready' : `not ready: ${reason}`;
}
