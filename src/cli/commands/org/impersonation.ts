import { call } from '../../../client/call.ts';
import type { CommandContext } from '../../core/command.ts';

/** Forbids or allows impersonation in an organization, and prints the result. */
export async function setImpersonation(context: CommandContext, slug: string, forbidden: boolean): Promise<void> {
  const request = { params: { org: slug }, body: { forbidden } };
  const { body: organization } = await call(context.api(), 'PUT /organizations/{org}/impersonation', request);
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
