import { call } from '../../../client/call.ts';
import type { InvitationListView, InvitationView } from '../../../wire/invitations.ts';
import { defineCommand } from '../../core/command.ts';
import { invitationsTo, invitationTitles, invitingOrganizationOption } from './invitation-view.ts';

/** `invitation accept -o <org>`. */
export const invitationAcceptCommand = defineCommand({
  summary: 'Accept the invitations to an organization',
  description:
    'Shows the places, the roles and who invited you, and asks. Then you have these roles, and admins of the organization can give you others without asking you. Accept only if you know who invited you: other members can change the secrets that commands such as `keyframe run` read there.',
  options: invitingOrganizationOption,
  examples: [{ line: 'invitation accept -o acme', note: 'Asks for confirmation' }],
  async run(context, { options: { organization } }) {
    const invitations = await invitationsTo(context, organization);
    const by = [...new Set(invitations.map(({ invitedBy }) => invitedBy.email))].join(', ');
    const titles = invitationTitles(invitations);
    await context.confirm(`Accept to be ${titles}, as ${by} invited you?`);
    const accepted: InvitationView[] = [];
    for (const { id } of invitations) {
      accepted.push((await call(context.api(), 'POST /invitations/{id}/accept', { params: { id } })).body);
    }
    const value = { invitations: accepted, nextCursor: null } satisfies InvitationListView;
    await context.printer.done({ value, sentence: `You are ${titles}.`, name: organization });
  },
});
