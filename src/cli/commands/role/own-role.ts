import { call } from '../../../client/call.ts';
import type { CommandContext } from '../../core/command.ts';
import { placeText } from '../../settings/scope.ts';
import { groupOf, type RolePlace } from './role-place.ts';

/** Whether a subject is the caller, or a group that gives the caller a role at this place now. Throws ClientError. */
export async function isOwnRole(context: CommandContext, { slugs }: RolePlace, subject: string): Promise<boolean> {
  const { body: me } = await call(context.api(), 'GET /me');
  if (me.type !== 'user') return false;
  const group = groupOf(subject);
  if (group === undefined) return subject.toLowerCase() === me.id || subject.toLowerCase() === me.name.toLowerCase();
  const place = slugs.join('/');
  return me.rolesByPlace.some((held) => held.group === group && placeText(held) === place);
}
