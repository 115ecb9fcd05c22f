import type { MemberView } from '../../../wire/members.ts';
import { call } from '../../../client/call.ts';
import { type CommandContext, defineCommand } from '../../core/command.ts';
import { argument, choice, flag, organizationOption } from '../../core/options.ts';
import { printInvited } from '../invitation/invitation-view.ts';
import { memberFields } from './member-fields.ts';

/** `member set <user> --role <role>`. */
export const memberSetCommand = defineCommand({
  summary: 'Invite a user to be a member, or change the role of one',
  description:
    'A viewer reads secrets, a developer writes them, an admin manages projects, environments, tokens and members, and an owner can do everything. A user who has no role of their own in the organization is invited, and becomes a member with `keyframe invitation accept`. Asks before it makes a user an owner or changes your own role, because you may be unable to undo that.',
  arguments: { user: argument('<user>', 'E-mail address or id of the user') },
  options: {
    ...organizationOption,
    role: choice('-r, --role <role>', 'Role in the organization', ['owner', 'admin', 'developer', 'viewer'], {
      isRequired: true,
    }),
    confirmTokens: flag(
      '--confirm-tokens',
      'If the organization forbids impersonation: accept the tokens that the user has created so far (for owners)',
    ),
  },
  examples: [
    {
      line: 'member set ann@example.com -o acme --role developer',
      note: 'Invite a user, or change the role of a member',
    },
  ],
  async run(context, { args: { user }, options }) {
    const organization = await context.organization(options);
    if (!context.isConfirmed) await confirmChange(context, { organization, user, role: options.role });
    const set = await call(context.api(), 'PUT /members/{org}/{user}', {
      params: { org: organization, user },
      body: { role: options.role, ...(options.confirmTokens ? { confirmTokens: true } : {}) },
    });
    if (set.status === 202) return await printInvited(context, set.body);
    const member = set.body;
    await context.printer.object({ value: member, fields: memberFields(member), name: member.email });
  },
});

interface Change {
  readonly organization: string;
  readonly user: string;
  readonly role: MemberView['role'];
}

/** Asks before a change that the user may be unable to undo. */
async function confirmChange(context: CommandContext, { organization, user, role }: Change): Promise<void> {
  if (role === 'owner') {
    return await context.confirm(`Make ${user} an owner of ${organization}? Owners can remove you.`);
  }
  const { body: me } = await call(context.api(), 'GET /me');
  const isSelf = user === me.id || user.toLowerCase() === me.name.toLowerCase();
  if (me.type === 'user' && isSelf) await context.confirm(`Make yourself ${role} of ${organization}?`);
}
