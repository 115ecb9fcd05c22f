import { z } from 'zod';

/** How users sign in. A client ignores methods that it does not know. */

const methods = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('personal_token') }),
  /** OpenID Connect; it begins at /sign-in/oidc. `name` is that of the issuer for users. */
  z.strictObject({ type: z.literal('oidc'), name: z.string() }),
  /** A passkey. `origin` is the address at which browsers offer it. */
  z.strictObject({ type: z.literal('passkey'), origin: z.string() }),
]);

export const signInView = z
  .strictObject({
    /** Whether users can sign in with more than a personal token. */
    open: z.boolean(),
    methods: z.array(methods),
    /** Whether users may approve a command on another machine. */
    deviceLogin: z.boolean(),
    /** Why this server has no passkeys: its public address is not configured, or is an IP address. Null if it has them. */
    passkeysOff: z.enum(['no_public_url', 'ip_address']).nullable(),
  })
  .meta({ id: 'SignIn' });

export type SignInView = z.infer<typeof signInView>;

export const updateSignInBody = z.strictObject({ open: z.boolean() });

/** The query of GET /sign-in/oidc. */
export const oidcStartQuery = z.strictObject({
  /** A path on this server. */
  returnTo: z.string().exactOptional(),
  /** The issuer must ask the user again, for what needs a recent sign-in. */
  fresh: z.literal('1').exactOptional(),
  /** Links the identity to the user of the session. */
  link: z.literal('1').exactOptional(),
});
