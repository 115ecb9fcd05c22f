import { z } from 'zod';

/** How users sign in. A client ignores methods that it does not know. */

const methods = z.discriminatedUnion('type', [z.strictObject({ type: z.literal('personal_token') })]);

export const signInView = z.strictObject({
  methods: z.array(methods),
  /** Whether users may approve a command on another machine. */
  deviceLogin: z.boolean(),
});

export type SignInView = z.infer<typeof signInView>;
