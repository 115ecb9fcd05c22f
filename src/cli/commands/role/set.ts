import { call } from '../../../client/call.ts';
import { defineCommand } from '../../core/command.ts';
import { choice } from '../../core/options.ts';
import { printInvited } from '../invitation/invitation-view.ts';
import { isOwnRole } from './own-role.ts';
import { requiredPlace, rolePlaceOptions, subjectArgument, subjectOf, subjectTitle } from './role-place.ts';

/** `role set <subject> --role <role>`: docs/interface.md 4.16. */
export const roleSetCommand = defineCommand({
  summary: 'Give a user or a group a role in an environment, a project or an organization',
  description:
    'The place is the deepest of -o, -p and -e, one of which is required: with -e an environment, with -p alone a project, with -o alone the organization, for groups only (for a user: `keyframe member set`). The role counts at the place and at everything within it, beside the other roles of the user: the highest counts. A viewer reads secrets, a developer writes them, and an admin also manages what is at the place. A user who has no role of their own in the organization is invited, and gets the role with `keyframe invitation accept`. Requires the role admin or owner at the place. Users cannot give a role to themselves or to a group that they are in. Asks before it changes a role that is yours, because you may be unable to undo that.',
  arguments: { subject: subjectArgument },
  options: {
    ...rolePlaceOptions,
    role: choice('-r, --role <role>', 'Role at the place', ['admin', 'developer', 'viewer'], { isRequired: true }),
  },
  examples: [
    { line: 'role set ann@example.com -o acme -p shop --role developer', note: 'Ann writes secrets in one project' },
    {
      line: 'role set group:platform -o acme -p shop -e production --role viewer',
      note: 'A group reads the secrets of one environment',
    },
  ],
  async run(context, { args: { subject }, options }) {
    const place = await requiredPlace(context, options);
    const { role } = options;
    if (!context.isConfirmed && (await isOwnRole(context, place, subject))) {
      const own = `Give ${subjectTitle(subject)} the role ${role} on ${place.title}?`;
      await context.confirm(`${own} This role is yours, and you may be unable to undo that.`);
    }
    const request = { params: { ...place.params, subject }, body: { role } };
    const set = await call(context.api(), place.endpoints.set, request);
    if (set.status === 202) return await printInvited(context, set.body);
    const value = set.body;
    const name = subjectOf(value);
    const sentence = `Gave ${subjectTitle(name)} the role ${value.role} on ${place.title}.`;
    await context.printer.done({ value, sentence, name });
  },
});
