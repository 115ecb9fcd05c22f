import { join } from 'node:path';
import type { CommandVariable, RunnerVariable } from '../../lib/command-variables.ts';
import { type ProxyVariable, type ProxyVariables, readProxyVariables } from './proxy-variables.ts';

/** The environment of the command. Nothing else reads process.env; `run` passes it on. */
export interface Environment {
  readonly url: string | undefined;
  readonly token: string | undefined;
  readonly tokenFile: string | undefined;
  /** KEYFRAME_AUDIENCE: of the JWT that the runner of a job of GitHub gives. */
  readonly audience: string | undefined;
  /** What a job of GitHub with the permission `id-token: write` has. */
  readonly runner: {
    readonly requestUrl: string | undefined;
    readonly requestToken: string | undefined;
    /** Whether this is a job of GitHub, with or without the permission. */
    readonly isJob: boolean;
  };
  /** KEYFRAME_PROFILE: which stored sign-in to use. */
  readonly profile: string | undefined;
  /** KEYFRAME_ORG, KEYFRAME_PROJECT and KEYFRAME_ENV: the environment of a pipeline. */
  readonly place: {
    readonly organization: string | undefined;
    readonly project: string | undefined;
    readonly environment: string | undefined;
  };
  /** The user's own file of settings, which need not be there. */
  readonly userFile: string;
  /** The folder files that the user trusts; it need not be there either. */
  readonly trustFile: string;
  /** The names of the variables that programs got; it need not be there either. */
  readonly variablesFile: string;
  /** KEYFRAME_TRUST_FOLDER, as it is set. */
  readonly trustsFolder: string | undefined;
  /** KEYFRAME_RUN_VARIABLES: the variables that a program gets. */
  readonly runVariables: string | undefined;
  /** KEYFRAME_INSECURE_HTTP, as it is set. */
  readonly insecureHttp: string | undefined;
  readonly proxies: ProxyVariables;
  /** VISUAL, else EDITOR, else vi: a line of the shell. */
  readonly editor: string;
  /** Folders for a file that must not last, best first: memory that only the user can enter, other memory, the disk. */
  readonly temporaryFolders: readonly string[];
  readonly workingDirectory: string;
  /** NO_COLOR is not set, and the terminal is not a dumb one. */
  readonly hasColor: boolean;
  /** All variables, for a child process. */
  readonly variables: Readonly<NodeJS.ProcessEnv>;
}

/** Variables of all programs, and of jobs of GitHub. */
type OtherVariable =
  | 'XDG_CONFIG_HOME'
  | 'HOME'
  | 'VISUAL'
  | 'EDITOR'
  | 'XDG_RUNTIME_DIR'
  | 'TMPDIR'
  | 'NO_COLOR'
  | 'TERM'
  | 'GITHUB_ACTIONS'
  | RunnerVariable
  | ProxyVariable;

/** Reads the environment. An empty variable counts as absent, as NO_COLOR and XDG_CONFIG_HOME have it. */
export function readEnvironment(
  variables: Readonly<NodeJS.ProcessEnv> = process.env,
  workingDirectory: string = process.cwd(),
): Environment {
  const value = (name: CommandVariable | OtherVariable): string | undefined => variables[name]?.trim() || undefined;
  const configHome =
    value('XDG_CONFIG_HOME') ?? join(value('HOME') ?? process.getBuiltinModule('node:os').homedir(), '.config');
  return {
    url: value('KEYFRAME_URL'),
    token: value('KEYFRAME_TOKEN'),
    tokenFile: value('KEYFRAME_TOKEN_FILE'),
    audience: value('KEYFRAME_AUDIENCE'),
    runner: {
      requestUrl: value('ACTIONS_ID_TOKEN_REQUEST_URL'),
      requestToken: value('ACTIONS_ID_TOKEN_REQUEST_TOKEN'),
      isJob: value('GITHUB_ACTIONS') === 'true',
    },
    profile: value('KEYFRAME_PROFILE'),
    place: {
      organization: value('KEYFRAME_ORG'),
      project: value('KEYFRAME_PROJECT'),
      environment: value('KEYFRAME_ENV'),
    },
    userFile: join(configHome, 'keyframe', 'config.json'),
    trustFile: join(configHome, 'keyframe', 'trusted-folders.json'),
    variablesFile: join(configHome, 'keyframe', 'known-variables.json'),
    runVariables: value('KEYFRAME_RUN_VARIABLES'),
    trustsFolder: value('KEYFRAME_TRUST_FOLDER'),
    insecureHttp: value('KEYFRAME_INSECURE_HTTP'),
    proxies: readProxyVariables(value),
    editor: value('VISUAL') ?? value('EDITOR') ?? 'vi',
    temporaryFolders: [value('XDG_RUNTIME_DIR') ?? [], '/dev/shm', value('TMPDIR') ?? '/tmp'].flat(),
    workingDirectory,
    hasColor: value('NO_COLOR') === undefined && value('TERM') !== 'dumb',
    variables,
  };
}
