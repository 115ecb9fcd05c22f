import type { UserView } from '../../../wire/users.ts';
import { type ApiClient, apiPath } from '../../../client/api-client.ts';
import { CliError } from '../../cli-error.ts';
import { exitCodes } from '../../exit-codes.ts';
import type { ObjectView } from '../../terminal/printer.ts';

/** The lines of a user. */
export function userFields({ email, displayName, id, instanceAdmin, disabledAt }: UserView): ObjectView['fields'] {
  return [
    ['Email', email],
    ['Name', displayName],
    ['Id', id],
    ['Administrator', instanceAdmin ? 'yes' : 'no'],
    ['Disabled', disabledAt ?? 'no'],
  ];
}

/** A user by id or e-mail address. The address is looked up in the list, because the server finds users by id. */
export async function findUser(api: ApiClient, user: string): Promise<UserView> {
  if (!user.includes('@')) return await api.get<UserView>(apiPath`/users/${user}`);
  const { users } = await api.get<{ users: UserView[] }>('/users');
  const found = users.find(({ email }) => email.toLowerCase() === user.toLowerCase());
  if (found !== undefined) return found;
  throw new CliError(exitCodes.notFound, 'no user has this e-mail address', {
    next: ['See all users: keyframe user list'],
  });
}
