import { ApiClient } from '../../client/api-client.ts';
import { Connections } from '../../client/connections.ts';
import { CliError } from './cli-error.ts';
import type { CommandContext } from './command.ts';
import { Configuration } from '../settings/configuration.ts';
import type { Environment } from '../settings/environment.ts';
import { exitCodes } from './exit-codes.ts';
import type { GlobalValues } from './global-options.ts';
import { Io, type Streams } from '../terminal/io.ts';
import { Printer } from '../terminal/printer.ts';
import { proxyFor } from '../settings/proxy-variables.ts';
import { resolveScope } from '../settings/scope.ts';
import { scopeSourcesOf } from '../settings/scope-sources.ts';

export interface ContextOptions {
  readonly streams: Streams;
  readonly environment: Environment;
  readonly flags: GlobalValues;
  readonly endWith: (exitCode: number) => void;
  readonly help: CommandContext['help'];
}

/** What a command works with, from the global flags and the environment. */
export function createContext({ streams, environment, flags, ...rest }: ContextOptions): CommandContext {
  const io = new Io({ streams, hasColor: flags.isColored && environment.hasColor, isJson: flags.output === 'json' });
  const configuration = new Configuration({ environment, flags, warn: (line) => io.warn(line) });
  const { isConfirmed, timeout } = flags;
  const connections = new Connections();
  const client: CommandContext['client'] = ({ url, token, signal }) =>
    new ApiClient({
      url,
      token,
      signal,
      connections,
      proxy: proxyFor(url, environment.proxies),
      // Opening a pipe takes time.
      whileWaiting: () => void streams.stdout,
      onSlow: () => io.note(`Waiting for ${url} …`),
      timeoutMs: timeout === undefined ? undefined : timeout * 1000,
    });
  const api: CommandContext['api'] = (signal) => client({ url: configuration.url, token: configuration.token, signal });
  const scopeSources = scopeSourcesOf(configuration, api);
  return {
    io,
    environment,
    configuration,
    printer: new Printer({ io, format: flags.output ?? 'table' }),
    isConfirmed,
    client,
    api,
    scopeSources,
    scope: async (scopeFlags) => await resolveScope(scopeFlags, scopeSources, 'environment'),
    project: async (projectFlags) => await resolveScope(projectFlags, scopeSources, 'project'),
    organization: async (organizationFlags) =>
      (await resolveScope(organizationFlags, scopeSources, 'organization')).organization,
    requireConfirmable: (question) => {
      if (!isConfirmed) requireTerminal(io, question);
    },
    confirm: async (question) => {
      if (isConfirmed) return;
      requireTerminal(io, question);
      if (!(await io.askYes(question))) throw refused();
    },
    confirmByTyping: async (question, word) => {
      if (isConfirmed) return;
      requireTerminal(io, question);
      const answer = await io.ask(`${question} Type ${word} to continue:`);
      if (answer?.trim() !== word) throw refused();
    },
    showsValues: ({ reveal }) => reveal || !io.isOutputTerminal,
    ...rest,
  };
}

/** Throws CliError refused if no question can be asked. */
function requireTerminal(io: Io, question: string): void {
  if (io.canAsk) return;
  throw new CliError(exitCodes.refused, `this must be confirmed, and there is no terminal to ask at: ${question}`, {
    next: ['To continue without confirmation, add --yes'],
  });
}

function refused(): CliError {
  return new CliError(exitCodes.refused, 'not confirmed; nothing was changed');
}
