import { z } from 'zod';
import { userRef } from './fields.ts';

/** Members of an organization and their roles. */

const role = z.enum(['owner', 'admin', 'developer', 'viewer']);

export const memberParams = z.strictObject({ user: userRef });
export const setMemberBody = z.strictObject({
  role,
  /** For owners: the personal tokens that the member has created until now count as the member's. */
  confirmTokens: z.boolean().exactOptional(),
});
export const appointOwnerBody = z.strictObject({ user: userRef });

export const memberView = z
  .strictObject({
    userId: z.guid(),
    email: z.string(),
    displayName: z.string().nullable(),
    role,
    /** When the user became a member. */
    createdAt: z.iso.datetime(),
  })
  .meta({ id: 'Member' });
export const memberListView = z
  .strictObject({ members: z.array(memberView), nextCursor: z.string().nullable() })
  .meta({ id: 'MemberList' });

export type MemberView = z.infer<typeof memberView>;
