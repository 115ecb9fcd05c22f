import type { MemberView } from '../../../wire/members.ts';
import { apiPath } from '../../../client/api-client.ts';
import { defineCommand } from '../../command.ts';
import { argument, choice, flag, organizationOption } from '../../options.ts';
import { memberFields } from './member-fields.ts';

/** `member set <user> --role <role>`. */
export const memberSetCommand = defineCommand({
  summary: 'Add a member, or change the role of one',
  description:
    'A viewer reads secrets, a developer writes them, an admin manages projects, environments, tokens and members, and an owner can do everything.',
  arguments: { user: argument('<user>', 'E-mail address or id of the user') },
  options: {
    ...organizationOption,
    role: choice('-r, --role <role>', 'Role in the organization', ['owner', 'admin', 'developer', 'viewer'], {
      isRequired: true,
    }),
    confirmTokens: flag(
      '--confirm-tokens',
      'Accept the tokens that the user has created so far, if impersonation is forbidden (for owners)',
    ),
  },
  examples: [
    { line: 'member set ann@example.com -o acme --role developer', note: 'Add a member, or change the role of one' },
  ],
  async run(context, { args: { user }, options }) {
    const path = apiPath`/members/${context.organization(options)}/${user}`;
    const confirmed = options.confirmTokens ? { confirmTokens: true } : {};
    const member = await context.api().put<MemberView>(path, { role: options.role, ...confirmed });
    await context.printer.object({ value: member, fields: memberFields(member), name: member.email });
  },
});
