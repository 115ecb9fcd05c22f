import type { OrganizationView } from '../../wire/tenancy.ts';
import { apiPath } from '../../client/api-client.ts';
import { type CommandContext, type CommandDefinition, defineCommand } from '../command.ts';
import { argument } from '../options.ts';

const slugArgument = argument('<slug>', 'Slug of the organization');

/** `org forbid-impersonation <slug>`, for owners. */
export const orgForbidImpersonationCommand: CommandDefinition = defineCommand({
  description:
    'An administrator of the server can create a token for another person and act as that person. From now on such ' +
    'tokens are refused in this organization, and so are tokens that are created with them. Tokens that the members ' +
    'created for themselves until now keep working.',
  arguments: { slug: slugArgument },
  examples: [{ line: 'org forbid-impersonation acme', note: 'Accept only tokens that their users created' }],
  run: (context, { args }) => setImpersonation(context, args.slug, true),
});

/** `org allow-impersonation <slug>`, for owners. */
export const orgAllowImpersonationCommand: CommandDefinition = defineCommand({
  description: 'Tokens that an administrator of the server created for a member work again in this organization.',
  arguments: { slug: slugArgument },
  examples: [{ line: 'org allow-impersonation acme', note: 'Take org forbid-impersonation back' }],
  run: (context, { args }) => setImpersonation(context, args.slug, false),
});

async function setImpersonation(context: CommandContext, slug: string, forbidden: boolean): Promise<void> {
  const path = apiPath`/organizations/${slug}/impersonation`;
  const organization = await context.api().put<OrganizationView>(path, { forbidden });
  await context.printer.object({
    value: organization,
    fields: [
      ['Slug', organization.slug],
      ['Name', organization.displayName],
      ['Impersonation', organization.impersonationForbidden ? 'forbidden' : 'allowed'],
    ],
    name: organization.slug,
  });
}
