import { call } from '../../../client/call.ts';
import type { InvitationView } from '../../../wire/invitations.ts';
import { CliError } from '../../core/cli-error.ts';
import type { CommandContext } from '../../core/command.ts';
import { exitCodes } from '../../core/exit-codes.ts';
import { completing, requiredText } from '../../core/options.ts';
import { placeText } from '../../settings/scope.ts';

/**
 * The organization that invited the user. The folder's is not a default: a role there lets others change the secrets that
 * the user's commands read.
 */
export const invitingOrganizationOption = {
  organization: completing('invitation', requiredText('-o, --org <slug>', 'Organization that invited you')),
};

/** `developer on acme/shop` */
function invitationTitle(invitation: InvitationView): string {
  return `${invitation.role} on ${placeText(invitation)}`;
}

/** The result of a change of roles for a user who has to accept it: what was stored, and how the user accepts. */
export async function printInvited({ printer }: CommandContext, invitation: InvitationView): Promise<void> {
  const { organization, user, expiresAt } = invitation;
  const sentence =
    `Invited ${user.email} to be ${invitationTitle(invitation)}. The user has this role after accepting, ` +
    `until ${expiresAt.slice(0, 10)}: keyframe invitation accept -o ${organization}`;
  await printer.done({ value: invitation, sentence, name: user.email });
}

/** The invitations of the user to an organization. Throws CliError notFound if none waits. */
export async function invitationsTo(
  { api }: CommandContext,
  organization: string,
): Promise<readonly [InvitationView, ...InvitationView[]]> {
  const { body } = await call(api(), 'GET /invitations');
  const [first, ...others] = body.invitations.filter((invitation) => invitation.organization === organization);
  if (first !== undefined) return [first, ...others];
  throw new CliError(exitCodes.notFound, `no invitation to organization ${organization} waits for you`, {
    next: ['See which do: keyframe invitation list'],
  });
}

/** Several invitations in a sentence. */
export function invitationTitles(invitations: readonly InvitationView[]): string {
  return invitations.map(invitationTitle).join(', ');
}
