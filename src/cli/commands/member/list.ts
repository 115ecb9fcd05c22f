import { call } from '../../../client/call.ts';
import { defineCommand } from '../../core/command.ts';
import { organizationOption } from '../../core/options.ts';
import { time } from '../../terminal/time.ts';

/** `member list`. */
export const memberListCommand = defineCommand({
  summary: 'List the members and their roles',
  options: organizationOption,
  examples: [{ line: 'member list -o acme', note: 'The members of an organization' }],
  async run(context, { options }) {
    const org = await context.organization(options);
    const { body: list } = await call(context.api(), 'GET /members/{org}', { params: { org } });
    await context.printer.list({
      value: list,
      rows: list.members,
      columns: [
        { title: 'EMAIL', cell: ({ email }) => email },
        { title: 'NAME', cell: ({ displayName }) => displayName, isCut: true },
        { title: 'ROLE', cell: ({ role }) => role },
        { title: 'ID', cell: ({ userId }) => userId },
        { title: 'SINCE', cell: ({ createdAt }) => time(createdAt) },
      ],
      name: ({ email }) => email,
      whenEmpty: 'There are no members.',
    });
  },
});
