import type { ApiClient } from '../../../client/api-client.ts';
import { call } from '../../../client/call.ts';
import type { PasskeyListView, PasskeyView } from '../../../wire/passkeys.ts';
import { argument, text } from '../../core/options.ts';
import { isId, thingOf } from '../named-thing.ts';
import { findUser } from '../user/user-view.ts';

/** The option of every command of passkeys. */
export const passkeyUserOption = {
  user: text('--user <user>', 'E-mail address or id of another user (for administrators)'),
};

/** The argument that names a passkey: for `findPasskey`. */
export const passkeyArgument = argument('<passkey>', 'Id, unique name, or latest for the newest one');

/** A passkey, and whose it is. */
export interface FoundPasskey extends PasskeyOwner {
  readonly id: string;
  /** Undefined for an id that the list lacks; the server then reports that. */
  readonly passkey: PasskeyView | undefined;
}

interface PasskeyOwner {
  /** Undefined for the caller. */
  readonly userId: string | undefined;
  /** `yours`, or `ann@example.com`. */
  readonly whose: string;
}

async function passkeyOwner(api: ApiClient, user: string | undefined): Promise<PasskeyOwner> {
  if (user === undefined) return { userId: undefined, whose: 'yours' };
  const { id, email } = await findUser(api, user);
  return { userId: id, whose: email };
}

/** The passkeys of the caller or of another user. */
export async function listPasskeys(
  api: ApiClient,
  user: string | undefined,
): Promise<{ readonly owner: PasskeyOwner; readonly list: PasskeyListView }> {
  const owner = await passkeyOwner(api, user);
  const { userId } = owner;
  if (userId === undefined) return { owner, list: (await call(api, 'GET /passkeys')).body };
  return { owner, list: (await call(api, 'GET /users/{id}/passkeys', { params: { id: userId } })).body };
}

/** A passkey by id or name. Throws CliError if none or several fit. */
export async function findPasskey(api: ApiClient, given: string, user: string | undefined): Promise<FoundPasskey> {
  const { owner, list } = await listPasskeys(api, user);
  const { passkeys } = list;
  if (isId(given)) {
    const id = given.toLowerCase();
    return { ...owner, id, passkey: passkeys.find((one) => one.id === id) };
  }
  const flag = user === undefined ? '' : ` --user ${owner.whose}`;
  const about = {
    things: passkeys,
    word: 'passkey',
    place: `of ${owner.whose}`,
    listedBy: `keyframe passkey list${flag}`,
  };
  const passkey = thingOf(given, about);
  return { ...owner, id: passkey.id, passkey };
}

/** A passkey in a sentence: its name and id. */
export function passkeyTitle({ id, passkey }: Pick<FoundPasskey, 'id' | 'passkey'>): string {
  return passkey === undefined ? id : `"${passkey.name}" (${id})`;
}

export function passkeyState({ unusableSince }: PasskeyView): string {
  return unusableSince === null ? 'usable' : 'needs confirmation';
}
