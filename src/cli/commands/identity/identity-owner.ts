import type { ApiClient } from '../../../client/api-client.ts';
import { text } from '../../core/options.ts';
import { findUser } from '../user/user-view.ts';

/** The option of every command of linked accounts. */
export const identityUserOption = {
  user: text('--user <user>', 'E-mail address or id of another user (for administrators)'),
};

/** The id of another user; undefined for the caller. And whose the linked accounts are in a sentence. */
export async function identityOwner(
  api: ApiClient,
  user: string | undefined,
): Promise<{ readonly userId: string | undefined; readonly whose: string }> {
  if (user === undefined) return { userId: undefined, whose: 'yours' };
  const { id, email } = await findUser(api, user);
  return { userId: id, whose: email };
}
