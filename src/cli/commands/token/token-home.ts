import { apiPath } from '../../../client/api-client.ts';
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

export function tokenHomeOf(
  context: CommandContext,
  { project, ...options }: { readonly organization: string | undefined; readonly project: string | undefined },
): TokenHome {
  return { organization: context.organization(options), project };
}

export function tokensPath({ organization, project }: TokenHome): string {
  if (project === undefined) return apiPath`/service-tokens/${organization}`;
  return apiPath`/projects/${organization}/${project}/service-tokens`;
}

/** The home as users write it: `acme`, `acme/shop`. */
export function shownHome({ organization, project }: TokenHome): string {
  return project === undefined ? organization : `${organization}/${project}`;
}
