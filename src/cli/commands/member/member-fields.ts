import type { MemberView } from '../../../wire/members.ts';

/** The lines of a member. */
export function memberFields({ email, role, userId }: MemberView): [label: string, value: string][] {
  return [
    ['Email', email],
    ['Role', role],
    ['Id', userId],
  ];
}
