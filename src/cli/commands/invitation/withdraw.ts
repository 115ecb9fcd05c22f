import { call } from '../../../client/call.ts';
import { CliError } from '../../core/cli-error.ts';
import { defineCommand } from '../../core/command.ts';
import { exitCodes } from '../../core/exit-codes.ts';
import { argument, organizationOption } from '../../core/options.ts';
import type { DeletionOutput } from '../../output/shapes.ts';
import { invitationTitles } from './invitation-view.ts';

/** `invitation withdraw <user>`. */
export const invitationWithdrawCommand = defineCommand({
  summary: 'Withdraw the invitations of a user to an organization',
  description:
    'Requires the role admin or owner in the organization. Admins of a project or an environment withdraw an invitation to it with `keyframe role remove`.',
  arguments: { user: argument('<user>', 'E-mail address or id of the user') },
  options: organizationOption,
  examples: [{ line: 'invitation withdraw ann@example.com -o acme', note: 'Asks for confirmation' }],
  async run(context, { args: { user: given }, options }) {
    const organization = await context.organization(options);
    const request = { params: { org: organization } };
    const { body: list } = await call(context.api(), 'GET /organizations/{org}/invitations', request);
    const named = given.toLowerCase();
    const invitations = list.invitations.filter(({ user }) => [user.id, user.email].includes(named));
    if (invitations.length === 0) {
      throw new CliError(exitCodes.notFound, `no invitation of ${given} waits in organization ${organization}`, {
        next: [`See which do: keyframe invitation list -o ${organization}`],
      });
    }
    await context.confirm(`Withdraw the invitation of ${given} to be ${invitationTitles(invitations)}?`);
    for (const { id } of invitations) {
      await call(context.api(), 'DELETE /organizations/{org}/invitations/{id}', { params: { org: organization, id } });
    }
    const value = { kind: 'invitation', action: 'withdrawn', id: null, name: given } satisfies DeletionOutput;
    await context.printer.done({
      value,
      sentence: `The invitation of ${given} to ${organization} is withdrawn.`,
      name: given,
    });
  },
});
