import { call } from '../../../client/call.ts';
import type { InvitationView } from '../../../wire/invitations.ts';
import { defineCommand } from '../../core/command.ts';
import { organizationOption } from '../../core/options.ts';
import { placeText } from '../../settings/scope.ts';
import type { Column } from '../../terminal/printer.ts';
import { time } from '../../terminal/time.ts';

/** `invitation list [-o <org>]`. */
export const invitationListCommand = defineCommand({
  summary: 'List the invitations that wait for you, or in an organization',
  description:
    'A user who has no role of their own in an organization gets one only by accepting it. With an organization, lists the invitations of others to it; this requires the role admin or owner there.',
  // The folder's organization is no default: without the option, the list is that of the user.
  options: {
    organization: {
      ...organizationOption.organization,
      description: 'Organization whose invitations are listed; without it, those that wait for you',
    },
  },
  examples: [
    { line: 'invitation list', note: 'Those that wait for you' },
    { line: 'invitation list -o acme', note: 'Those of others to an organization' },
  ],
  async run(context, { options: { organization: org } }) {
    const { body: list } =
      org === undefined
        ? await call(context.api(), 'GET /invitations')
        : await call(context.api(), 'GET /organizations/{org}/invitations', { params: { org } });
    const invited: Column<InvitationView> = { title: 'USER', cell: ({ user }) => user.email };
    await context.printer.list<InvitationView>({
      value: list,
      rows: list.invitations,
      columns: [
        { title: 'PLACE', cell: placeText },
        ...(org === undefined ? [] : [invited]),
        { title: 'ROLE', cell: ({ role }) => role },
        { title: 'INVITED BY', cell: ({ invitedBy }) => invitedBy.email },
        { title: 'EXPIRES', cell: ({ expiresAt }) => time(expiresAt) },
      ],
      name: ({ organization, user }) => (org === undefined ? organization : user.email),
      whenEmpty: org === undefined ? 'No invitations wait for you.' : `No invitations wait in ${org}.`,
    });
  },
});
