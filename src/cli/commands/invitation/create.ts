import { call } from '../../../client/call.ts';
import { defineCommand } from '../../core/command.ts';
import { argument, choice, organizationOption, scopeOptions } from '../../core/options.ts';
import { placeText } from '../../settings/scope.ts';
import { printLink } from '../user/sign-in-link.ts';

/** `invitation create <email> --role <role>`. */
export const invitationCreateCommand = defineCommand({
  summary: 'Invite an e-mail address that no user has; its sign-in link is shown once',
  description:
    'Prints a link, which you send to the person yourself. It works once, for 72 hours: with it the person becomes a user who has the role, and sets up a way to sign in. Anyone who has the link can use it. Run the command again for another link; the former one then ends. Requires the role admin or owner in the organization. Users are invited with `keyframe member set` or `keyframe role set`.',
  arguments: { email: argument('<email>', 'E-mail address of the person') },
  options: {
    ...organizationOption,
    project: { ...scopeOptions.project, description: 'Project in which the role counts, instead of the organization' },
    environment: {
      ...scopeOptions.environment,
      description: 'Environment of the project in which the role counts',
    },
    role: choice(
      '-r, --role <role>',
      'Role at the place; owner only in the organization',
      ['owner', 'admin', 'developer', 'viewer'],
      { isRequired: true },
    ),
  },
  examples: [
    {
      line: 'invitation create ann@example.com -o acme --role viewer',
      note: 'Ann reads everything in the organization',
    },
    {
      line: 'invitation create ann@example.com -o acme -p shop --role developer',
      note: 'Ann writes the secrets of one project',
    },
  ],
  async run(context, { args: { email }, options: { role, project, environment, ...options } }) {
    const { body: created } = await call(context.api(), 'POST /organizations/{org}/invitations', {
      params: { org: await context.organization(options) },
      body: { email, role, project, environment },
    });
    const place = placeText(created.invitation);
    const who = created.invitation.user.email;
    await printLink(context, created, `With it, ${who} becomes a user and ${created.invitation.role} on ${place}.`);
  },
});
