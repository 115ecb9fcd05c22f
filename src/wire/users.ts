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
  /** Null removes the name. */
  displayName: name.nullable().exactOptional(),
  instanceAdmin: z.boolean().exactOptional(),
  disabled: z.boolean().exactOptional(),
  /** Of a user who is disabled. */
  email: email.exactOptional(),
  /** Disables the only owner of organizations too. */
  force: z.boolean().exactOptional(),
});

const userFields = {
  id: z.guid(),
  email: z.string(),
  displayName: z.string().nullable(),
  instanceAdmin: z.boolean(),
  createdAt: z.iso.datetime(),
  /** When the user was disabled; null for an active user. */
  disabledAt: z.iso.datetime().nullable(),
};

export const userView = z.strictObject(userFields).meta({ id: 'User' });
/** Only this response contains the first personal token. */
export const createdUserView = z.strictObject({ ...userFields, token: z.string() }).meta({ id: 'CreatedUser' });
export const userListView = z
  .strictObject({ users: z.array(userView), nextCursor: z.string().nullable() })
  .meta({ id: 'UserList' });

export type UserView = z.infer<typeof userView>;
