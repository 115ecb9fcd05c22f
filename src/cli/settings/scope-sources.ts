import type { ApiClient } from '../../client/api-client.ts';
import { call } from '../../client/call.ts';
import { isJwtLike } from '../../client/jwt.ts';
import type { TokenSource } from '../../client/token-source.ts';
import { CliError } from '../core/cli-error.ts';
import { exitCodes } from '../core/exit-codes.ts';
import type { Configuration } from './configuration.ts';
import { type ScopeSources, scopeOfToken } from './scope.ts';

/** What names the environment besides flags. The server is asked for the scope of a service token, and of no other. */
export function scopeSourcesOf(configuration: Configuration, api: () => ApiClient): ScopeSources {
  return {
    variables: configuration.place,
    folder: () => configuration.folder,
    token: async () => {
      if (!(await hasServiceToken(configuration))) return undefined;
      return scopeOfToken((await call(api(), 'GET /me')).body);
    },
  };
}

/** Throws CliError if there is a token that cannot be read, requested or sent. */
async function hasServiceToken(configuration: Configuration): Promise<boolean> {
  const token = (await tokenOf(configuration)?.current()) ?? '';
  return token.startsWith('kf_svc_') || isJwtLike(token);
}

function tokenOf(configuration: Configuration): TokenSource | undefined {
  try {
    return configuration.token;
  } catch (error) {
    // Without a token its scope is missing too, and the command says what users can write instead.
    if (error instanceof CliError && error.exitCode === exitCodes.unauthenticated) return undefined;
    throw error;
  }
}
