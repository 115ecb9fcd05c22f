import { type BodyOf, call } from '../../../client/call.ts';
import { ClientError } from '../../../client/client-error.ts';
import { isOlderRelease } from '../../../lib/release.ts';
import { CliError } from '../../core/cli-error.ts';
import { cliErrorOf } from '../../core/client-failure.ts';
import { type CommandContext, defineCommand } from '../../core/command.ts';
import { exitCodes } from '../../core/exit-codes.ts';
import { scopeOptions } from '../../core/options.ts';
import { problemOf } from '../../output/problem.ts';
import type { StatusOutput } from '../../output/shapes.ts';
import { type Scope, type ScopeFlags, findScope, isWhole, scopeParams } from '../../settings/scope.ts';
import type { ObjectView } from '../../terminal/printer.ts';
import { version } from '../../core/version.ts';
import { shownScope } from '../secret/secrets-api.ts';
import { meFields } from './me-fields.ts';

/** `status`. */
export const statusCommand = defineCommand({
  summary: 'Show the server, the identity, the directory and the environment that commands use',
  description:
    'Says whether the server can be reached and is ready, which setting names it, its version (with a valid token), who you are and until when the token is valid, whether .keyframe.json is trusted, and at which revision the environment is. What cannot be found out is a problem with its next steps. The exit code is that of the first problem: 1 if the server cannot be reached or is not ready, 3 without a valid token, 5 if the environment does not exist, 7 if .keyframe.json is not trusted. A warning says if the command is older than the server. No token is printed.',
  options: scopeOptions,
  examples: [
    { line: 'status', note: 'Before you ask why another command fails' },
    { line: 'status -e production --output json', note: 'For a program' },
  ],
  async run(context, { options }) {
    const problems = new Problems(context);
    const server = await serverState(context, problems);
    const folder = problems.catching(() => folderState(context));
    const token = problems.catching(() => context.configuration.token);
    const isAsked = canServe(server) && token !== undefined;
    const identity = isAsked ? await problems.catchingAsync(async () => meOf(context)) : undefined;
    const environment = await environmentState(context, options, { problems, isAsked: identity !== undefined });
    const { configuration } = context;
    const value = {
      command: { version },
      server: { ...server, version: identity?.serverVersion ?? null },
      profile: configuration.profile ?? null,
      tokenSource: token === undefined ? null : configuration.tokenSource,
      identity: identity ?? null,
      folder: folder ?? null,
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
  if (url === undefined) return { url: null, source: null, ...unknown };
  const server = { url, source: configuration.urlSource };
  try {
    const { isReady = null, reason = null } = (await client({ url, token: '' }).readiness()) ?? {};
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

function folderState({ configuration }: CommandContext): StatusOutput['folder'] {
  const found = configuration.foundFolder;
  return found === undefined ? null : { path: found.file.path, trust: configuration.trustOf(found) };
}

/** The environment that flags and a trusted file name, with its revision if it can be read. */
async function environmentState(
  context: CommandContext,
  flags: ScopeFlags,
  { problems, isAsked }: { readonly problems: Problems; readonly isAsked: boolean },
): Promise<StatusOutput['environment']> {
  const isNamed = isWhole(flags, 'environment');
  const folder = isNamed ? undefined : problems.catching(() => context.configuration.folder);
  const { organization, project, environment } = findScope(flags, folder);
  if (organization === undefined || project === undefined || environment === undefined) return null;
  const scope: Scope = { organization, project, environment };
  const params = scopeParams(scope);
  const read = () => call(context.api(), 'GET /environments/{org}/{project}/{env}', { params });
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
  environment,
}: StatusOutput): ObjectView['fields'] {
  const place = environment === null ? null : shownScope(environment);
  return [
    ['Command', command.version],
    ['Server', server.url === null ? null : `${server.url} (${server.source})`],
    ['State', stateOf(server)],
    ['Server version', server.version],
    ['Profile', profile],
    ['Token', tokenSource === null ? 'none' : `from ${tokenSource}`],
    ...(identity === null ? [] : meFields(identity)),
    ['Folder file', folder === null ? null : `${folder.path} (${trustWords[folder.trust]})`],
    ['Environment', place],
    ['Revision', environment?.revision],
  ];
}

function stateOf({ isReachable, isReady, reason }: ServerState): string {
  if (!isReachable) return 'not reachable';
  if (isReady === null) return 'reachable';
  return isReady ? 'ready' : `not ready: ${reason}`;
}
