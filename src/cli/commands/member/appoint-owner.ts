import { call } from '../../../client/call.ts';
import { defineCommand } from '../../core/command.ts';
import { argument, organizationOption } from '../../core/options.ts';
import { memberFields } from './member-fields.ts';

/** `member appoint-owner <user>`. */
export const memberAppointOwnerCommand = defineCommand({
  summary: 'Appoint the first owner of an organization (for administrators)',
  description:
    'An organization that a SecretEnvironment created has no owner yet. An administrator of the server appoints the first owner, who then manages the members.',
  arguments: { user: argument('<user>', 'E-mail address or id of the user') },
  options: organizationOption,
  examples: [{ line: 'member appoint-owner ann@example.com -o acme', note: 'Asks for confirmation' }],
  async run(context, { args: { user }, options }) {
    const organization = await context.organization(options);
    await context.confirm(`Make ${user} an owner of ${organization}? Only an owner can take that back.`);
    const request = { params: { org: organization }, body: { user } };
    const { body: member } = await call(context.api(), 'PUT /organizations/{org}/owner', request);
    await context.printer.object({ value: member, fields: memberFields(member), name: member.email });
  },
});
