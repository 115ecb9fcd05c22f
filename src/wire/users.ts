import { z } from 'zod';
import { email, name, uuid } from './fields.ts';

/** Users, for instance admins. */

export const userParams = z.strictObject({ id: uuid });

export const createUserBody = z.strictObject({
  email,
  displayName: name.exactOptional(),
  instanceAdmin: z.boolean().exactOptional(),
});

export const updateUserBody = z.strictObject({
  /** Null takes the name away. */
  displayName: name.nullable().exactOptional(),
  instanceAdmin: z.boolean().exactOptional(),
  disabled: z.boolean().exactOptional(),
});

const userFields = {
  id: z.guid(),
  email: z.string(),
  displayName: z.string().nullable(),
  instanceAdmin: z.boolean(),
  createdAt: z.iso.datetime(),
  /** Since when they get in no more; null for a user who does. */
  disabledAt: z.iso.datetime().nullable(),
};

export const userView = z.strictObject(userFields);
/** The first personal token is in this one answer and never again. */
export const createdUserView = z.strictObject({ ...userFields, token: z.string() });
export const userListView = z.strictObject({ users: z.array(userView), nextCursor: z.string().nullable() });

export type UserView = z.infer<typeof userView>;
