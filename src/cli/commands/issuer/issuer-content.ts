import { resolve } from 'node:path';
import type { RequestOf } from '../../../client/call.ts';
import type { TrustedIssuerView } from '../../../wire/trusted-issuers.ts';
import { usageError } from '../../core/cli-error.ts';
import type { CommandContext } from '../../core/command.ts';
import { readBytes } from '../secret/secret-file.ts';
import { publicKeys } from './jwks-file.ts';

/** What an issuer is to be: from the options, and otherwise as it is, or as the preset says. */

export const presets = ['github', 'gitlab', 'kubernetes', 'none'] as const;
export const algorithms = ['RS256', 'ES256', 'EdDSA'] as const;
type Preset = (typeof presets)[number];

export interface IssuerOptions {
  readonly preset: Preset | undefined;
  readonly iss: string | undefined;
  readonly jwksUrl: string | undefined;
  readonly jwksFile: string | undefined;
  readonly algorithm: readonly string[];
  readonly caFile: string | undefined;
  /** Milliseconds. */
  readonly maxAge: number | undefined;
}

type IssuerBody = RequestOf<'PUT /trusted-issuers/{name}'>['body'];
type Content = { readonly [Name in keyof Omit<IssuerBody, 'expectedVersion'>]: IssuerBody[Name] | null | undefined };

/** The public issuers of presets. */
const publicIssuers: Readonly<Partial<Record<Preset, Pick<IssuerBody, 'iss' | 'jwksUrl'>>>> = {
  github: {
    iss: 'https://token.actions.githubusercontent.com',
    jwksUrl: 'https://token.actions.githubusercontent.com/.well-known/jwks',
  },
  gitlab: { iss: 'https://gitlab.com', jwksUrl: 'https://gitlab.com/oauth/discovery/keys' },
};

/** The body of the request. Throws CliError usage for what is missing, and for files that do not fit. */
export function issuerBody(
  context: CommandContext,
  options: IssuerOptions,
  before: TrustedIssuerView | undefined,
): IssuerBody {
  const given = contentOf(context, options);
  const { preset, iss, ...rest } = merged(before ?? newContent(given), given);
  if (preset === undefined) throw usageError('a new issuer needs --preset', `one of ${presets.join(', ')}`);
  if (iss === undefined) throw usageError('a new issuer needs --iss <text>', 'the claim iss of its JWTs, to the byte');
  if (rest.jwksUrl === undefined && rest.keys === undefined) {
    throw usageError('a new issuer needs its keys: --jwks-url <url>, or --jwks <file> with a JWK Set');
  }
  return { preset, iss, ...rest, expectedVersion: before?.version ?? 0 };
}

/** What the options say. */
function contentOf({ environment }: CommandContext, options: IssuerOptions): Partial<Content> {
  const { preset, iss, jwksUrl, jwksFile, algorithm, caFile, maxAge } = options;
  if (jwksUrl !== undefined && jwksFile !== undefined) throw usageError('give either --jwks-url or --jwks');
  const read = (path: string): string => readBytes(resolve(environment.workingDirectory, path), path).toString('utf8');
  return {
    preset,
    iss,
    jwksUrl,
    keys: jwksFile === undefined ? undefined : publicKeys(read(jwksFile), jwksFile),
    algorithms: algorithm.length === 0 ? undefined : algorithm.map(algorithmOf),
    ca: caFile === undefined ? undefined : read(caFile),
    maxAgeSeconds: maxAge === undefined ? undefined : Math.round(maxAge / 1000),
  };
}

/** An issuer that is no other than the public one of its preset. */
function newContent({ preset, iss, jwksUrl, keys }: Partial<Content>): Partial<Content> {
  const usual = publicIssuers[preset ?? 'none'];
  if (usual === undefined || iss !== undefined || keys !== undefined) return {};
  return jwksUrl === undefined || hostOf(jwksUrl) === hostOf(usual.jwksUrl) ? usual : {};
}

function hostOf(url: string | null | undefined): string | undefined {
  return URL.parse(url ?? '')?.host;
}

/**
 * What was given, and the rest as it was. Other keys replace those from a URL, and the other way round. Unless algorithms are
 * given, they follow the new keys.
 */
function merged(before: Partial<Content>, given: Partial<Content>): Partial<IssuerBody> {
  const { jwksUrl, keys, ca } = before;
  const source = given.keys === undefined ? { jwksUrl, ca } : {};
  const kept = given.jwksUrl === undefined && given.keys === undefined ? { keys: jwksUrl ? undefined : keys } : {};
  const isOtherKind = given.keys !== undefined || (given.jwksUrl !== undefined && !jwksUrl);
  const signs = isOtherKind ? undefined : before.algorithms;
  const { preset, iss, maxAgeSeconds } = before;
  return { ...known({ preset, iss, algorithms: signs, maxAgeSeconds, ...source, ...kept }), ...known(given) };
}

/** Without what is null or undefined. */
function known(content: Partial<Content>): Partial<IssuerBody> {
  return Object.fromEntries(Object.entries(content).filter(([, value]) => value !== undefined && value !== null));
}

/** Throws CliError usage. */
export function algorithmOf(name: string): (typeof algorithms)[number] {
  const found = algorithms.find((one) => one === name);
  if (found !== undefined) return found;
  throw usageError(`--algorithm must be one of ${algorithms.join(', ')}`);
}
