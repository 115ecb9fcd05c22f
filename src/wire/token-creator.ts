import { z } from 'zod';

export const actorType = z.enum(['user', 'service_token', 'resource', 'system']);

/**
 * The other creator of a personal token; `derived` if its user created it with a token of that creator. Null for tokens
 * that only their users created.
 */
export const tokenCreatorView = z
  .strictObject({ type: actorType, id: z.guid(), name: z.string(), derived: z.boolean() })
  .nullable();
