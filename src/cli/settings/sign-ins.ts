import type { Profile, UserFile } from './user-file.ts';

/** Which stored sign-in is meant: that of a profile, or else that of a server. */
export interface SignInKey {
  readonly profile: string | undefined;
  /** Undefined for a token that was stored without an address. */
  readonly url: string | undefined;
}

/** The stored token for a server, without those of profiles. */
export function storedToken(user: UserFile, url: string): string | undefined {
  return user.url === url ? user.token : user.tokens?.[url];
}

/** The file with one more token. Without a profile, its server becomes the default and the tokens of other servers stay. */
export function withToken(user: UserFile, { profile, url }: SignInKey, token: string): UserFile {
  if (profile !== undefined && url !== undefined) {
    return compact({ ...user, profiles: { ...user.profiles, [profile]: { url, token } } });
  }
  const tokens = new Map(Object.entries(user.tokens ?? {}));
  if (user.url !== undefined && user.token !== undefined) tokens.set(user.url, user.token);
  if (url !== undefined) tokens.delete(url);
  const { profiles } = user;
  return compact({ url: url ?? user.url, token, tokens: Object.fromEntries(tokens), profiles });
}

/** The file without the token of a sign-in. The default server stays. */
export function withoutToken(user: UserFile, { profile, url }: SignInKey): UserFile {
  if (profile !== undefined) return compact({ ...user, profiles: without(user.profiles, profile) });
  if (url === undefined || url === user.url) return compact({ ...user, token: undefined });
  return compact({ ...user, tokens: without(user.tokens, url) });
}

/** One line for each stored sign-in, without its token. */
export function signInsOf({ url, token, tokens = {}, profiles = {} }: UserFile): SignIn[] {
  const ofServer = (server: string | null, isDefault: boolean): SignIn => ({ profile: null, url: server, isDefault });
  return [
    ...(token === undefined ? [] : [ofServer(url ?? null, true)]),
    ...Object.keys(tokens).map((server) => ofServer(server, false)),
    ...Object.entries(profiles).map(([profile, one]) => ({ profile, url: one.url, isDefault: false })),
  ];
}

export interface SignIn {
  readonly profile: string | null;
  readonly url: string | null;
  /** Used if nothing names a server or profile. */
  readonly isDefault: boolean;
}

function without<T>(record: Readonly<Record<string, T>> = {}, name: string): Record<string, T> {
  return Object.fromEntries(Object.entries(record).filter(([key]) => key !== name));
}

interface Parts {
  readonly url?: string | undefined;
  readonly token?: string | undefined;
  readonly tokens?: Readonly<Record<string, string>> | undefined;
  readonly profiles?: Readonly<Record<string, Profile>> | undefined;
}

/** Leaves out what is empty. */
function compact({ url, token, tokens = {}, profiles = {} }: Parts): UserFile {
  return {
    ...(url === undefined ? {} : { url }),
    ...(token === undefined ? {} : { token }),
    ...(Object.keys(tokens).length === 0 ? {} : { tokens }),
    ...(Object.keys(profiles).length === 0 ? {} : { profiles }),
  };
}
