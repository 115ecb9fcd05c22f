import { z } from 'zod';
import { limits } from '../domain/limits.ts';
import { validateName } from '../domain/names.ts';
import { userRef } from './fields.ts';
import { pageQuery } from './page.ts';

/** docs/interface.md 4.16: roles of users in projects and environments, and of groups at any place. */

export const boundRole = z.enum(['admin', 'developer', 'viewer'], {
  error: 'must be admin, developer or viewer; owner is a role of the organization alone',
});

const groupPrefix = 'group:';

/** A user by id or e-mail address, or `group:NAME`. */
const subject = z.string().transform((text, context) => {
  if (text.startsWith(groupPrefix)) {
    const group = text.slice(groupPrefix.length);
    const message = validateName(group);
    if (message === undefined) return { group };
    context.addIssue({ code: 'custom', message: `group: ${message}` });
    return z.NEVER;
  }
  const user = userRef.safeParse(text);
  if (user.success) return user.data;
  context.addIssue({ code: 'custom', message: "must be a user's UUID or e-mail address, or group:NAME" });
  return z.NEVER;
});

/** A list of roles is never complete: without a limit, a page has the most entries. */
export const roleBindingListQuery = pageQuery.extend({
  limit: pageQuery.shape.limit.meta({ description: `Maximum entries of a page; default ${limits.pageSize}.` }),
});
export const roleBindingParams = z.strictObject({ subject });
export const roleBindingBody = z.strictObject({ role: boundRole });

export const roleBindingView = z
  .strictObject({
    /** Slugs; null for a role in the whole organization, or in a whole project. */
    project: z.string().nullable(),
    environment: z.string().nullable(),
    /** Null for a group. */
    user: z.strictObject({ id: z.guid(), email: z.string(), displayName: z.string().nullable() }).nullable(),
    /** The name of the group at the identity provider; null for a user. */
    group: z.string().nullable(),
    role: boundRole,
    createdAt: z.iso.datetime(),
  })
  .meta({ id: 'RoleBinding' });
export const roleBindingListView = z
  .strictObject({
    roles: z.array(roleBindingView),
    nextCursor: z.string().nullable(),
  })
  .meta({ id: 'RoleBindingList' });

export type RoleBindingView = z.infer<typeof roleBindingView>;
export type RoleBindingListView = z.infer<typeof roleBindingListView>;
