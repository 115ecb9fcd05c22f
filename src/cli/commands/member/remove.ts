import { call } from '../../../client/call.ts';
import { defineCommand } from '../../core/command.ts';
import { argument, completing, organizationOption } from '../../core/options.ts';
import type { DeletionOutput } from '../../output/shapes.ts';

/** `member remove <user>`. */
export const memberRemoveCommand = defineCommand({
  summary: 'Remove a member',
  description:
    'Ends the membership and withdraws all roles of the user in projects and environments of the organization. Invitations of the user are withdrawn. The roles that groups give the user stay: see `keyframe role list`. A user without a membership loses the roles as well, also those in deleted projects and environments.',
  arguments: { user: completing('member', argument('<user>', 'E-mail address or id of the user')) },
  options: organizationOption,
  examples: [{ line: 'member remove ann@example.com -o acme', note: 'Asks for confirmation' }],
  async run(context, { args: { user }, options }) {
    const organization = await context.organization(options);
    await context.confirm(
      `Remove ${user} from ${organization}, with all roles of this user in its projects and environments?`,
    );
    await call(context.api(), 'DELETE /members/{org}/{user}', { params: { org: organization, user } });
    const value = { kind: 'member', action: 'removed', id: null, name: user } satisfies DeletionOutput;
    const sentence =
      `${user} is no longer a member of ${organization}, and has no role of their own in its projects and environments. ` +
      'The roles that groups give stay.';
    await context.printer.done({ value, sentence, name: user });
  },
});
