import type { CommandContext } from '../../core/command.ts';
import { completing, organizationOption, text } from '../../core/options.ts';

/** Where service tokens are: for admins of an organization, or of one of its projects. */
export interface TokenHome {
  readonly organization: string;
  readonly project: string | undefined;
}

/** The options that name the home of service tokens. The folder's project is not a default: that would hide tokens. */
export const tokenHomeOptions = {
  ...organizationOption,
  project: completing('project', text('-p, --project <slug>', 'Only tokens for this project; enough for its admins')),
};

export async function tokenHomeOf(
  context: CommandContext,
  { project, ...options }: { readonly organization: string | undefined; readonly project: string | undefined },
): Promise<TokenHome> {
  return { organization: await context.organization(options), project };
}

/** The names in the paths of `tokenEndpoints`. */
export function homeParams({ organization, project = '' }: TokenHome): {
  readonly org: string;
  readonly project: string;
} {
  return { org: organization, project };
}

/** The home as users write it: `acme`, `acme/shop`. */
export function shownHome({ organization, project }: TokenHome): string {
  return project === undefined ? organization : `${organization}/${project}`;
}
