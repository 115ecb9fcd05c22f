import type { RoleBindingView } from '../../../wire/role-bindings.ts';
import { defineCommand } from '../../core/command.ts';
import { placeText } from '../../settings/scope.ts';
import { time } from '../../terminal/time.ts';
import { allRoles, namedPlace, rolePlaceOptions, subjectOf, wholeOrganization } from './role-place.ts';

/** `role list`: docs/interface.md 4.16. */
export const roleListCommand = defineCommand({
  summary: 'List the roles of users and groups by place',
  description:
    'Those at the place and at everything within it. The place is the deepest of -o, -p and -e; without any of them it is the organization of .keyframe.json. A role counts at its place and at everything within it. The roles of users in the organization are in `keyframe member list`.',
  options: rolePlaceOptions,
  examples: [
    { line: 'role list -o acme', note: 'All roles by place in an organization' },
    { line: 'role list -o acme -p shop', note: 'Those in a project and its environments' },
  ],
  async run(context, { options }) {
    const place = (await namedPlace(context, options)) ?? wholeOrganization(await context.organization(options));
    const [organization = ''] = place.slugs;
    const roles = await allRoles(context.api(), place);
    await context.printer.list<RoleBindingView>({
      value: { roles, nextCursor: null },
      rows: roles,
      columns: [
        { title: 'PLACE', cell: (role) => placeText({ organization, ...role }) },
        { title: 'SUBJECT', cell: subjectOf },
        { title: 'ROLE', cell: ({ role }) => role },
        { title: 'SINCE', cell: ({ createdAt }) => time(createdAt) },
      ],
      name: subjectOf,
      whenEmpty: `There are no roles by place in ${place.title}.`,
    });
  },
});
