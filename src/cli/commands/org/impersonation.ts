import type { OrganizationView } from '../../../wire/tenancy.ts';
import { apiPath } from '../../../client/api-client.ts';
import type { CommandContext } from '../../core/command.ts';

/** Forbids or allows impersonation in an organization, and prints the result. */
export async function setImpersonation(context: CommandContext, slug: string, forbidden: boolean): Promise<void> {
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
