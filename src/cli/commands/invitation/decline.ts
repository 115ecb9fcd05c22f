import { apiPath } from '../../../client/api-client.ts';
import { defineCommand } from '../../core/command.ts';
import { argument, completing } from '../../core/options.ts';
import type { DeletionOutput } from '../../output/shapes.ts';
import { invitationsTo, invitationTitles } from './invitation-view.ts';

/** `invitation decline <org>`. */
export const invitationDeclineCommand = defineCommand({
  summary: 'Decline the invitations to an organization',
  description: 'Only the organization can undo that, by inviting you again.',
  arguments: { org: completing('invitation', argument('<org>', 'Organization')) },
  examples: [{ line: 'invitation decline acme', note: 'Asks for confirmation' }],
  async run(context, { args: { org } }) {
    const invitations = await invitationsTo(context, org);
    const titles = invitationTitles(invitations);
    await context.confirm(`Decline to be ${titles}?`);
    for (const { id } of invitations) await context.api().post(apiPath`/invitations/${id}/decline`);
    const value = { kind: 'invitation', action: 'declined', id: null, name: org } satisfies DeletionOutput;
    await context.printer.done({ value, sentence: `You declined to be ${titles}.`, name: org });
  },
});
