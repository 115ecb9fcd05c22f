import { call } from '../../../client/call.ts';
import { tokenEndpoints } from '../../../client/endpoint-sets.ts';
import type { CommandContext } from '../../core/command.ts';
import { argument, completing, requiredText } from '../../core/options.ts';
import { isId, thingOf } from '../named-thing.ts';
import { homeParams, shownHome, type TokenHome } from './token-home.ts';

/** A token in a sentence. */
export interface FoundToken {
  readonly id: string;
  /** Undefined for an id that was not looked up. */
  readonly name?: string;
  readonly revokedAt?: string | null;
}

const idOption = requiredText('--id <id>', 'Id, unique name, or latest for the newest one');

/** The option that names a service token: for `findServiceToken`. */
export const serviceTokenIdOption = { id: completing('serviceToken', idOption) };

/** The option that names a revoked service token. Only a keyless one can be reinstated. */
export const revokedTokenIdOption = { id: completing('revokedKeylessToken', idOption) };

/** The argument that names a service token: for `findServiceToken`. */
export const serviceTokenArgument = completing(
  'serviceToken',
  argument('<id>', 'Id, unique name, or latest for the newest one'),
);

/** The argument that names a personal token: for `findPersonalToken`. */
export const personalTokenArgument = completing(
  'personalToken',
  argument('<id>', 'Id, unique name, or latest for the newest one'),
);

/** A name means only tokens of one of these states. */
interface GivenToken {
  readonly given: string;
  readonly isRevoked: boolean;
  /** If no other token has the name, the newest revoked one is found. */
  readonly orRevoked?: boolean;
}

/** The service token with an id or name. An id is looked up only if the user is asked, who then sees the name. */
export async function findServiceToken(
  context: CommandContext,
  home: TokenHome,
  { given, isRevoked, orRevoked = false }: GivenToken,
): Promise<FoundToken> {
  const { list, get } = tokenEndpoints(home);
  const params = homeParams(home);
  const flags = home.project === undefined ? '' : ` --project ${home.project}`;
  if (isId(given)) {
    if (context.isConfirmed) return { id: given };
    return (await call(context.api(), get, { params: { ...params, id: given } })).body;
  }
  const { body } = await call(context.api(), list, { params });
  const { revoked, others } = byRevocation(body.serviceTokens);
  const ended = orRevoked ? onlyRevoked(given, revoked, others) : undefined;
  if (ended !== undefined) return ended;
  return thingOf(given, {
    things: isRevoked ? revoked : others,
    word: isRevoked ? 'revoked service token' : 'service token',
    place: `of ${shownHome(home)}`,
    listedBy: `keyframe token list-service -o ${home.organization}${flags}`,
    ...(isRevoked ? {} : { excluded: { things: revoked, because: 'is revoked already' } }),
  });
}

/** A personal token of the user by id or name; a revoked one if no other has the name. */
export async function findPersonalToken(context: CommandContext, given: string): Promise<FoundToken> {
  if (isId(given) && context.isConfirmed) return { id: given };
  const { personalTokens } = (await call(context.api(), 'GET /personal-tokens')).body;
  // The server reports an id that is not in the list.
  if (isId(given)) return personalTokens.find(({ id }) => id === given.toLowerCase()) ?? { id: given };
  const { revoked, others } = byRevocation(personalTokens);
  const ended = onlyRevoked(given, revoked, others);
  if (ended !== undefined) return ended;
  return thingOf(given, {
    things: others,
    word: 'personal token',
    place: 'of yours',
    listedBy: 'keyframe token list',
    excluded: { things: revoked, because: 'is revoked already' },
  });
}

/** The newest revoked token with a name that no other token has. The lists begin with the newest. */
function onlyRevoked<Token extends { readonly name: string }>(
  given: string,
  revoked: readonly Token[],
  others: readonly Token[],
): Token | undefined {
  return others.some(({ name }) => name === given) ? undefined : revoked.find(({ name }) => name === given);
}

/** Whether a token was revoked before, so that there is nothing to ask or to do: a script may run twice. */
export function isAlreadyRevoked({ revokedAt = null }: FoundToken): boolean {
  return revokedAt !== null;
}

function byRevocation<Token extends { readonly revokedAt: string | null }>(
  tokens: readonly Token[],
): { readonly revoked: Token[]; readonly others: Token[] } {
  return {
    revoked: tokens.filter(({ revokedAt }) => revokedAt !== null),
    others: tokens.filter(({ revokedAt }) => revokedAt === null),
  };
}

/** A token in a sentence: its name and id. */
export function tokenTitle({ id, name }: FoundToken): string {
  return name === undefined ? id : `"${name}" (${id})`;
}
