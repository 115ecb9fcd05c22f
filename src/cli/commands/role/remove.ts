import { call } from '../../../client/call.ts';
import { defineCommand } from '../../core/command.ts';
import type { DeletionOutput } from '../../output/shapes.ts';
import { requiredPlace, rolePlaceOptions, subjectArgument, subjectTitle } from './role-place.ts';

/** `role remove <subject>`: docs/interface.md 4.16. */
export const roleRemoveCommand = defineCommand({
  summary: 'Withdraw the role of a user or a group at a place',
  description:
    'The place is the deepest of -o, -p and -e, one of which is required. Withdraws the role at exactly this place, or an invitation to it. Roles at other places, the membership in the organization, and what groups give stay. Requires the role admin or owner at the place; you may also give up a role of your own.',
  arguments: { subject: subjectArgument },
  options: rolePlaceOptions,
  examples: [
    { line: 'role remove ann@example.com -o acme -p shop', note: 'Asks for confirmation' },
    { line: 'role remove group:platform -o acme', note: 'The role of a group in the whole organization' },
  ],
  async run(context, { args: { subject }, options }) {
    const place = await requiredPlace(context, options);
    const title = subjectTitle(subject);
    await context.confirm(`Withdraw the role of ${title} on ${place.title}?`);
    await call(context.api(), place.endpoints.remove, { params: { ...place.params, subject } });
    const value = { kind: 'role', action: 'removed', id: null, name: subject } satisfies DeletionOutput;
    await context.printer.done({ value, sentence: `Withdrew the role of ${title} on ${place.title}.`, name: subject });
  },
});
