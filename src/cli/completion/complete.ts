import { readFileSync } from 'node:fs';
import { ApiClient } from '../../client/api-client.ts';
import { commandTable } from '../command-table.ts';
import { Configuration } from '../settings/configuration.ts';
import type { Environment } from '../settings/environment.ts';
import { proxyFor } from '../settings/proxy-variables.ts';
import { resolveScope } from '../settings/scope.ts';
import { scopeSourcesOf } from '../settings/scope-sources.ts';
import { endNow } from '../terminal/end-now.ts';
import { completionOutput, completionsOf } from './candidates.ts';
import { type GivenInput, targetOf } from './line.ts';
import { apiSources } from './sources.ts';

// Users wait for it with a key pressed.
const defaultDeadlineMs = 1000;

/**
 * `keyframe __complete -- words…`, or with the words on standard input, each ended by NUL: prints what can stand in place of
 * the last word, and ends with 0. It asks nothing, stores nothing and writes nothing to standard error: what fails leaves
 * candidates out.
 */
export async function printCompletions(args: readonly string[], environment: Environment): Promise<never> {
  const output = await outputFor(args, environment).catch(() => ':words\n');
  process.stdout.on('error', () => endNow(0));
  return await new Promise<never>(() => void process.stdout.write(output, () => endNow(0)));
}

async function outputFor(args: readonly string[], environment: Environment): Promise<string> {
  const words = args[0] === '--' ? args.slice(1) : wordsOfInput();
  const configurationOf = ({ options }: GivenInput): Configuration => {
    const [url, tokenFile, profile] = [options.get('url'), options.get('tokenFile'), options.get('profile')];
    const flags = {
      ...(url === undefined ? {} : { url }),
      ...(tokenFile === undefined ? {} : { tokenFile }),
      ...(profile === undefined ? {} : { profile }),
      allowsInsecureHttp: options.has('allowsInsecureHttp'),
    };
    return new Configuration({ environment, flags });
  };
  const api = (given: GivenInput): ApiClient => {
    const { url, token } = configurationOf(given);
    const proxy = proxyFor(url, environment.proxies);
    return new ApiClient({ url, token, proxy, signal: AbortSignal.timeout(deadlineMs(given)) });
  };
  const sources = apiSources({
    api,
    scope: async (given, deepest) => {
      const { options } = given;
      const flags = {
        organization: options.get('organization'),
        project: options.get('project'),
        environment: options.get('environment'),
      };
      const named = scopeSourcesOf(configurationOf(given), () => api(given));
      return await resolveScope(flags, named, deepest);
    },
  });
  const target = await targetOf(words, commandTable);
  return completionOutput(await completionsOf(target, { sections: commandTable, sources }));
}

/** One second, or what the line says with `--timeout`. */
function deadlineMs({ options }: GivenInput): number {
  const seconds = Number(options.get('timeout'));
  return seconds >= 1 && seconds <= 3600 ? seconds * 1000 : defaultDeadlineMs;
}

/** The words on standard input; none at a terminal, which would block. */
function wordsOfInput(): string[] {
  if (process.getBuiltinModule('node:tty').isatty(0)) return [];
  return readFileSync(0, 'utf8').split('\0').slice(0, -1);
}
