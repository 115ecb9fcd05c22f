import type { UserView } from '../../../wire/users.ts';
import type { ApiClient } from '../../../client/api-client.ts';
import { call } from '../../../client/call.ts';
import { CliError } from '../../core/cli-error.ts';
import type { CommandContext } from '../../core/command.ts';
import { exitCodes } from '../../core/exit-codes.ts';
import type { ObjectView } from '../../terminal/printer.ts';
import { time } from '../../terminal/time.ts';

/** The lines of a user. */
export function userFields({ email, displayName, id, instanceAdmin, disabledAt }: UserView): ObjectView['fields'] {
  return [
    ['Email', email],
    ['Name', displayName],
    ['Id', id],
    ['Administrator', instanceAdmin ? 'yes' : 'no'],
    ['Disabled', time(disabledAt) ?? 'no'],
  ];
}

/** Grants or revokes the administration of the server, after a confirmation, and prints the user. */
export async function setInstanceAdmin(context: CommandContext, user: string, instanceAdmin: boolean): Promise<void> {
  const api = context.api();
  const { id, email } = await findUser(api, user);
  const question = instanceAdmin
    ? `Make ${email} an administrator of the whole server?`
    : `Revoke the administration of the server from ${email}?`;
  await context.confirm(question);
  const { body: changed } = await call(api, 'PATCH /users/{id}', { params: { id }, body: { instanceAdmin } });
  await context.printer.object({ value: changed, fields: userFields(changed), name: changed.email });
}

/** A user by id or e-mail address. The address is looked up in the list, because the server finds users by id. */
export async function findUser(api: ApiClient, user: string): Promise<UserView> {
  if (!user.includes('@')) return (await call(api, 'GET /users/{id}', { params: { id: user } })).body;
  const { body } = await call(api, 'GET /users');
  const found = body.users.find(({ email }) => email.toLowerCase() === user.toLowerCase());
  if (found !== undefined) return found;
  throw new CliError(exitCodes.notFound, `there is no user ${user}`, {
    next: ['See all users: keyframe user list'],
  });
}
