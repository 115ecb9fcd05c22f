import { call } from '../../../client/call.ts';
import { defineCommand } from '../../core/command.ts';
import type { DeletionOutput } from '../../output/shapes.ts';
import { invitationsTo, invitationTitles, invitingOrganizationOption } from './invitation-view.ts';

/** `invitation decline -o <org>`. */
export const invitationDeclineCommand = defineCommand({
  summary: 'Decline the invitations to an organization',
  description: 'Only the organization can undo that, by inviting you again.',
  options: invitingOrganizationOption,
  examples: [{ line: 'invitation decline -o acme', note: 'Asks for confirmation' }],
  async run(context, { options: { organization } }) {
    const invitations = await invitationsTo(context, organization);
    const titles = invitationTitles(invitations);
    await context.confirm(`Decline to be ${titles}?`);
    for (const { id } of invitations) await call(context.api(), 'POST /invitations/{id}/decline', { params: { id } });
    const value = { kind: 'invitation', action: 'declined', id: null, name: organization } satisfies DeletionOutput;
    await context.printer.done({ value, sentence: `You declined to be ${titles}.`, name: organization });
  },
});
