import { type ApiClient, apiPath } from '../../../client/api-client.ts';
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

/** A passkey, and the path of the user's. */
export interface FoundPasskey {
  readonly id: string;
  /** Undefined for an id that the list lacks; the server then reports that. */
  readonly passkey: PasskeyView | undefined;
  readonly path: string;
  /** `yours`, or `ann@example.com`. */
  readonly whose: string;
}

interface PasskeyHome {
  readonly path: string;
  readonly whose: string;
}

/** Where the passkeys of the caller or of another user are. */
export async function passkeyHome(api: ApiClient, user: string | undefined): Promise<PasskeyHome> {
  if (user === undefined) return { path: '/passkeys', whose: 'yours' };
  const { id, email } = await findUser(api, user);
  return { path: apiPath`/users/${id}/passkeys`, whose: email };
}

/** A passkey by id or name. Throws CliError if none or several fit. */
export async function findPasskey(api: ApiClient, given: string, user: string | undefined): Promise<FoundPasskey> {
  const home = await passkeyHome(api, user);
  const { passkeys } = await api.get<PasskeyListView>(home.path);
  if (isId(given)) {
    const id = given.toLowerCase();
    return { ...home, id, passkey: passkeys.find((one) => one.id === id) };
  }
  const flag = user === undefined ? '' : ` --user ${home.whose}`;
  const about = {
    things: passkeys,
    word: 'passkey',
    place: `of ${home.whose}`,
    listedBy: `keyframe passkey list${flag}`,
  };
  const passkey = thingOf(given, about);
  return { ...home, id: passkey.id, passkey };
}

/** A passkey in a sentence: its name and id. */
export function passkeyTitle({ id, passkey }: Pick<FoundPasskey, 'id' | 'passkey'>): string {
  return passkey === undefined ? id : `"${passkey.name}" (${id})`;
}

export function passkeyState({ unusableSince }: PasskeyView): string {
  return unusableSince === null ? 'usable' : 'needs confirmation';
}
