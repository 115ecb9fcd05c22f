import { type TokenSource, fixedToken } from '../../client/token-source.ts';
import { CliError, usageError } from '../core/cli-error.ts';
import type { Environment } from './environment.ts';
import { exitCodes } from '../core/exit-codes.ts';
import { type FolderFile, type FoundFolderFile, findFolderFile } from './folder-file.ts';
import { TrustedFolders } from './trusted-folders.ts';
import { storedToken } from './sign-ins.ts';
import { type Profile, type UserFile, readUserFile } from './user-file.ts';
import { isLoopback } from './loopback.ts';
import { RunnerToken } from './runner-token.ts';
import { TokenFile } from './token-file.ts';
import { tokenOf } from './token-form.ts';

/** The address of a local server: without settings a token never leaves the machine. */
const defaultUrl = 'http://127.0.0.1:8700';

/** Whether the folder's file is used, and if not, why. */
export type FolderTrust = 'trusted' | 'untrusted' | 'changed';

export interface ConfigurationOptions {
  readonly environment: Environment;
  /** --url, --token-file, --profile, --insecure-http and --timeout, in seconds. */
  readonly flags: {
    readonly url?: string;
    readonly tokenFile?: string;
    readonly profile?: string;
    readonly allowsInsecureHttp?: boolean;
    readonly timeout?: number;
  };
  /** Without it nothing is written and nothing repaired: a user file that others can read is refused. */
  readonly warn?: (line: string) => void;
}

/**
 * Which server, which token and which folder's file, by precedence: flags, variables, `.keyframe.json` of the folder or one
 * above, the user's file. Files are read when they are first asked for.
 */
export class Configuration {
  readonly #environment: Environment;
  readonly #flags: ConfigurationOptions['flags'];
  readonly #warn: ((line: string) => void) | undefined;
  #folder: { readonly found: FoundFolderFile | undefined } | undefined;
  #user: UserFile | undefined;
  #token: TokenSource | undefined;

  constructor({ environment, flags, warn }: ConfigurationOptions) {
    this.#environment = environment;
    this.#flags = flags;
    this.#warn = warn;
  }

  /** The folder's file, whether or not it is trusted: to be shown, and not to be followed. */
  get foundFolder(): FoundFolderFile | undefined {
    this.#folder ??= { found: findFolderFile(this.#environment.workingDirectory, this.#warn) };
    return this.#folder.found;
  }

  /** The folder's file, if there is one. Throws CliError refused if the user does not trust it. */
  get folder(): FolderFile | undefined {
    const { foundFolder } = this;
    if (foundFolder !== undefined) this.#requireTrust(foundFolder);
    return foundFolder?.file;
  }

  /** Whether this file is used. Throws CliError usage if KEYFRAME_TRUST_FOLDER or the list of trusted files is malformed. */
  trustOf(found: FoundFolderFile): FolderTrust {
    if (isSet(this.#environment.trustsFolder, 'KEYFRAME_TRUST_FOLDER')) return 'trusted';
    const state = this.trustedFolders.stateOf(found);
    return state === 'unknown' ? 'untrusted' : state;
  }

  /** The slugs of KEYFRAME_ORG, KEYFRAME_PROJECT and KEYFRAME_ENV. */
  get place(): Environment['place'] {
    return this.#environment.place;
  }

  get trustedFolders(): TrustedFolders {
    return new TrustedFolders(this.#environment.trustFile);
  }

  get user(): UserFile {
    this.#user ??= readUserFile(this.#environment.userFile, this.#warn);
    return this.#user;
  }

  /** The server's address from --url. */
  get flagUrl(): string | undefined {
    const { url } = this.#flags;
    return url === undefined ? undefined : serverUrl(url, '--url');
  }

  /** The name of the stored sign-in from --profile or KEYFRAME_PROFILE; it need not exist. */
  get profile(): string | undefined {
    const { profile } = this.#flags;
    if (profile === '') throw usageError('--profile must not be empty');
    return profile ?? this.#environment.profile;
  }

  /** The server's address from flags or variables: the choice of the user, not of a file of a folder. */
  get givenUrl(): string | undefined {
    return this.flagUrl ?? this.#profileUrl(this.#flags.profile) ?? this.#variableUrl;
  }

  get #variableUrl(): string | undefined {
    const { url, profile } = this.#environment;
    return url === undefined ? this.#profileUrl(profile) : serverUrl(url, 'KEYFRAME_URL');
  }

  /** The stored sign-in with this name, which may be a name that every object has, such as `constructor`. */
  #findProfile(name: string): Profile | undefined {
    const { profiles = {} } = this.user;
    return Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  }

  #profileUrl(name: string | undefined): string | undefined {
    const profile = name === undefined ? undefined : this.#findProfile(name);
    return profile === undefined
      ? undefined
      : serverUrl(profile.url, `url of a profile in ${this.#environment.userFile}`);
  }

  /** The server's address, without a slash at its end. Throws CliError usage if it is not an http or https address. */
  get url(): string {
    return this.givenUrl ?? this.#folderUrl ?? this.#userUrl ?? defaultUrl;
  }

  /** The setting that names the server, as users write it. */
  get urlSource(): string {
    const { profile: flagProfile } = this.#flags;
    const { url, profile } = this.#environment;
    if (this.flagUrl !== undefined) return '--url';
    if (this.#profileUrl(flagProfile) !== undefined) return '--profile';
    if (url !== undefined) return 'KEYFRAME_URL';
    if (this.#profileUrl(profile) !== undefined) return 'KEYFRAME_PROFILE';
    if (this.#folderUrl !== undefined) return '.keyframe.json';
    return this.#userUrl === undefined ? 'default' : 'login';
  }

  /** The setting that a token comes from, if there is one, as users write it. */
  get tokenSource(): string {
    const { tokenFile: flagFile, profile: flagProfile } = this.#flags;
    const { token, tokenFile, audience, profile } = this.#environment;
    if (flagFile !== undefined) return '--token-file';
    if (flagProfile !== undefined) return '--profile';
    if (token !== undefined) return 'KEYFRAME_TOKEN';
    if (tokenFile !== undefined) return 'KEYFRAME_TOKEN_FILE';
    if (audience !== undefined) return 'KEYFRAME_AUDIENCE';
    return profile === undefined ? 'login' : 'KEYFRAME_PROFILE';
  }

  /**
   * Refuses to send a token unencrypted over a network. Loopback is not a network. The name of a Service in a cluster is no
   * exception: outside the cluster, the DNS server decides which host it is.
   *
   * @throws CliError refused for http to another machine, unless the user allows it.
   */
  requireProtectedTransport(url: string): void {
    if (!url.startsWith('http:') || isLoopback(new URL(url).hostname)) return;
    if (this.#flags.allowsInsecureHttp === true) return;
    if (isSet(this.#environment.insecureHttp, 'KEYFRAME_INSECURE_HTTP')) return;
    const message = `${url} is plain http on another machine: the token and all values could be read on the way; nothing was sent`;
    throw new CliError(exitCodes.refused, message, {
      next: [
        `Use https: ${url.replace('http:', 'https:')}`,
        'If you trust the network, as inside a cluster, add --insecure-http or set KEYFRAME_INSECURE_HTTP=1',
      ],
    });
  }

  /** Only the folder's file names this server: without that file it would be another. */
  get isUrlFromFolder(): boolean {
    const folderUrl = this.givenUrl === undefined ? this.#folderUrl : undefined;
    if (folderUrl === undefined || folderUrl === (this.#userUrl ?? defaultUrl)) return false;
    return storedToken(this.user, folderUrl) === undefined;
  }

  /** The token in the file that --token-file names. */
  get flagToken(): TokenSource | undefined {
    const { tokenFile } = this.#flags;
    return tokenFile === undefined ? undefined : new TokenFile(tokenFile, '--token-file');
  }

  /**
   * The token from --token-file or the variables; undefined if none is set. Both forms of a pipeline may be set: that of GitHub
   * is used without another one, because a job of GitLab may name its audience by the same variable.
   */
  get givenToken(): TokenSource | undefined {
    const { flagToken } = this;
    const { token, tokenFile, audience } = this.#environment;
    if (flagToken !== undefined) return flagToken;
    if (token !== undefined && tokenFile !== undefined) {
      throw usageError('KEYFRAME_TOKEN is set and so is KEYFRAME_TOKEN_FILE; keep one of them');
    }
    if (token !== undefined) return fixedToken(tokenOf(token, 'KEYFRAME_TOKEN'));
    if (tokenFile !== undefined) return new TokenFile(tokenFile, 'KEYFRAME_TOKEN_FILE');
    if (audience === undefined) return undefined;
    const { timeout } = this.#flags;
    const timeoutMs = timeout === undefined ? undefined : timeout * 1000;
    return new RunnerToken({ audience, environment: this.#environment, timeoutMs });
  }

  /**
   * The token for `url`. A stored one goes to the server it was stored for and to no other, and one of a flag or variable to no
   * server that only a folder's file names: otherwise that file, which came with a repository, could have it sent
   * anywhere.
   *
   * @throws CliError 3 if there is none.
   */
  get token(): TokenSource {
    return (this.#token ??= this.#chosenToken());
  }

  #chosenToken(): TokenSource {
    const { profile: flagProfile } = this.#flags;
    const given = flagProfile === undefined ? this.givenToken : this.flagToken;
    const { url } = this;
    this.requireProtectedTransport(url);
    if (given !== undefined) {
      if (this.isUrlFromFolder) throw this.#urlOfFolderAlone(url);
      return given;
    }
    const { profile } = this;
    return fixedToken(profile === undefined ? this.#storedToken(url) : this.#profileToken(profile, url));
  }

  #storedToken(url: string): string {
    const { token, tokens } = this.user;
    const found = this.#isStoredTokenFor(url) ? token : tokens?.[url];
    if (found !== undefined) return tokenOf(found, this.#environment.userFile);
    const signIn = `keyframe login --url ${url}`;
    if (token === undefined && tokens === undefined) {
      throw new CliError(exitCodes.unauthenticated, `there is no token for ${url}`, {
        next: [`Sign in: ${signIn}`, 'or set KEYFRAME_TOKEN, in automation for example to a service token'],
      });
    }
    throw new CliError(exitCodes.unauthenticated, `the stored token is not for ${url}, and is not sent there`, {
      next: [`If you trust that server, sign in there: ${signIn}`, 'See the stored sign-ins: keyframe login --list'],
    });
  }

  #profileToken(name: string, url: string): string {
    const profile = this.#findProfile(name);
    const list = 'See the stored sign-ins: keyframe login --list';
    if (profile === undefined) {
      const create = `Create it: keyframe login --profile ${name} --url ${url}`;
      throw new CliError(exitCodes.unauthenticated, `there is no profile ${name}`, { next: [create, list] });
    }
    const own = this.#profileUrl(name);
    if (own === url) return tokenOf(profile.token, this.#environment.userFile);
    const message = `profile ${name} is for ${own ?? ''}, and its token is not sent to ${url}`;
    throw new CliError(exitCodes.unauthenticated, message, { next: [list] });
  }

  get #folderUrl(): string | undefined {
    const { foundFolder } = this;
    if (foundFolder?.file.url === undefined) return undefined;
    const url = serverUrl(foundFolder.file.url, `url in ${foundFolder.file.path}`);
    // An address that holds without the file needs no trust in it.
    if (url !== (this.#userUrl ?? defaultUrl)) this.#requireTrust(foundFolder);
    return url;
  }

  get #userUrl(): string | undefined {
    const { url } = this.user;
    return url === undefined ? undefined : serverUrl(url, `url in ${this.#environment.userFile}`);
  }

  #requireTrust(found: FoundFolderFile): void {
    const trust = this.trustOf(found);
    if (trust !== 'trusted') throw untrustedFolder(found.file, trust === 'changed');
  }

  #urlOfFolderAlone(url: string): CliError {
    const message = `only ${this.foundFolder?.file.path ?? 'a file'} names the server ${url}, and a token is not sent there`;
    return new CliError(exitCodes.unauthenticated, message, {
      next: [`If you trust that server, name it: --url ${url}, or KEYFRAME_URL=${url}`],
    });
  }

  #isStoredTokenFor(url: string): boolean {
    const own = this.#userUrl;
    if (own !== undefined) return own === url;
    // Stored without an address, it goes wherever its user says, and a folder's file is not its user.
    return this.givenUrl !== undefined || this.#folderUrl === undefined;
  }
}

/** The content of a folder's file, on one line. */
export function shownFolder(file: FolderFile): string {
  const { url, organization = '-', project = '-', environment = '-', variables } = file;
  const server = url === undefined ? '' : `, server ${url}`;
  const list = variables === undefined ? '' : `, variables ${variables.join(' ')}`;
  return `environment ${organization}/${project}/${environment}${server}${list}`;
}

function untrustedFolder(file: FolderFile, hasChanged: boolean): CliError {
  const state = hasChanged ? 'has changed since you trusted it' : 'is not trusted yet';
  return new CliError(exitCodes.refused, `${file.path} ${state}. It says: ${shownFolder(file)}`, {
    next: [
      'If you expect that, trust it: keyframe trust (in CI: KEYFRAME_TRUST_FOLDER=1)',
      'Or name environment and server yourself: -o, -p, -e and --url, or their variables KEYFRAME_ORG, KEYFRAME_PROJECT, KEYFRAME_ENV and KEYFRAME_URL',
    ],
  });
}

/** Whether a variable of CI is on. */
function isSet(text: string | undefined, name: string): boolean {
  if (text === undefined || text === '0' || text === 'false') return false;
  if (text === '1' || text === 'true') return true;
  throw usageError(`${name} must be 1 or 0`);
}

function serverUrl(text: string, source: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain = url?.username === '' && url.password === '' && url.search === '' && url.hash === '';
  if (url === undefined || !isPlain || !/^https?:$/.test(url.protocol)) {
    throw usageError(`${source} must be an address such as https://keyframe.example.com`);
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}
