import type { MeView } from '../../../wire/me.ts';
import type { MemberView } from '../../../wire/members.ts';
import { apiPath } from '../../../client/api-client.ts';
import { type CommandContext, defineCommand } from '../../command.ts';
import { argument, choice, flag, organizationOption } from '../../options.ts';
import { memberFields } from './member-fields.ts';

/** `member set <user> --role <role>`. */
export const memberSetCommand = defineCommand({
  summary: 'Add a member, or change the role of one',
  description:
    'A viewer reads secrets, a developer writes them, an admin manages projects, environments, tokens and members, and an owner can do everything. Asks before it makes a user an owner or changes your own role, because you may be unable to undo that.',
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
    { line: 'member set ann@example.com -o acme --role developer', note: 'Add a member, or change the role of one' },
  ],
  async run(context, { args: { user }, options }) {
    const organization = context.organization(options);
    if (!context.isConfirmed) await confirmChange(context, { organization, user, role: options.role });
    const path = apiPath`/members/${organization}/${user}`;
    const confirmed = options.confirmTokens ? { confirmTokens: true } : {};
    const member = await context.api().put<MemberView>(path, { role: options.role, ...confirmed });
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
  const me = await context.api().get<MeView>('/me');
  const isSelf = user === me.id || user.toLowerCase() === me.name.toLowerCase();
  if (me.type === 'user' && isSelf) await context.confirm(`Make yourself ${role} of ${organization}?`);
}
