import type { MemberView } from '../../../wire/members.ts';

/** What a member is shown as, for people. */
export function memberFields({ email, role, userId }: MemberView): [label: string, value: string][] {
  return [
    ['Email', email],
    ['Role', role],
    ['Id', userId],
  ];
}
