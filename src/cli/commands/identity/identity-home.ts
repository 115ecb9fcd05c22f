import { type ApiClient, apiPath } from '../../../client/api-client.ts';
import { text } from '../../core/options.ts';
import { findUser } from '../user/user-view.ts';

/** The option of every command of linked accounts. */
export const identityUserOption = {
  user: text('--user <user>', 'E-mail address or id of another user (for administrators)'),
};

/** Where the linked accounts of the caller or of another user are, and whose they are in a sentence. */
export async function identityHome(
  api: ApiClient,
  user: string | undefined,
): Promise<{ readonly path: string; readonly whose: string }> {
  if (user === undefined) return { path: '/identities', whose: 'yours' };
  const { id, email } = await findUser(api, user);
  return { path: apiPath`/users/${id}/identities`, whose: email };
}
