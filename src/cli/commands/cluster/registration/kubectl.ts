import { execFile } from 'node:child_process';
import { CliError, usageError } from '../../../core/cli-error.ts';
import { exitCodes } from '../../../core/exit-codes.ts';

/** A cluster, as kubectl reaches it. */
export interface KubectlOptions {
  readonly context: string;
  /** All variables, so that kubectl finds its configuration. */
  readonly variables: Readonly<NodeJS.ProcessEnv>;
}

const timeoutMs = 30_000;
const maxBytes = 1024 * 1024;
const shownErrorLength = 500;

/** What an API server answers to GET of a path. Throws CliError. */
export async function readRaw(options: KubectlOptions, path: string): Promise<string> {
  return await run(options, ['get', '--raw', path]);
}

/** The uid of the namespace kube-system. Throws CliError. */
export async function readClusterUid(options: KubectlOptions): Promise<string> {
  return (await run(options, ['get', 'namespace', 'kube-system', '--output=jsonpath={.metadata.uid}'])).trim();
}

async function run({ context, variables }: KubectlOptions, args: readonly string[]): Promise<string> {
  const all = [`--context=${context}`, `--request-timeout=${timeoutMs / 1000}s`, ...args];
  // A plugin of kubectl must not see the token of this command.
  const env = Object.fromEntries(Object.entries(variables).filter(([name]) => !name.startsWith('KEYFRAME_')));
  return await new Promise((resolve, reject) => {
    const limits = { timeout: timeoutMs + 5_000, maxBuffer: maxBytes };
    execFile('kubectl', all, { env, ...limits, encoding: 'utf8' }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(failureOf(error, { context, args, stderr }));
    });
  });
}

function failureOf(
  error: { readonly code?: unknown; readonly message: string },
  { context, args, stderr }: { readonly context: string; readonly args: readonly string[]; readonly stderr: string },
): CliError {
  if (error.code === 'ENOENT') {
    return usageError(
      'kubectl is not on the PATH',
      'Install it, or give --issuer with --jwks-file or --jwks-url, and --uid',
    );
  }
  const said = stderr.trim().slice(0, shownErrorLength);
  return new CliError(
    exitCodes.failure,
    `kubectl --context=${context} ${args.join(' ')} failed: ${said === '' ? 'it did not answer' : said}`,
    { next: ['Try this command alone. It needs the right to read the path and the namespace kube-system'] },
  );
}
