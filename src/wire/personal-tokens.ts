import { z } from 'zod';
import { limits } from '../domain/limits.ts';
import { name, timestamp, uuid } from './fields.ts';
import { tokenCreatorView } from './token-creator.ts';

/** Personal tokens of users. */

export const personalTokenParams = z.strictObject({ id: uuid });

export const createPersonalTokenBody = z.strictObject({
  name,
  expiresInDays: z.int().min(1).max(limits.tokenLifetimeDays).exactOptional(),
  expiresAt: timestamp.exactOptional(),
});

const personalTokenFields = {
  id: z.guid(),
  name: z.string(),
  createdAt: z.iso.datetime(),
  expiresAt: z.iso.datetime().nullable(),
  revokedAt: z.iso.datetime().nullable(),
  lastUsedAt: z.iso.datetime().nullable(),
  createdBy: tokenCreatorView,
};

export const personalTokenView = z.strictObject(personalTokenFields).meta({ id: 'PersonalToken' });
/** Only this response contains the token. */
export const createdPersonalTokenView = z
  .strictObject({ ...personalTokenFields, token: z.string() })
  .meta({ id: 'CreatedPersonalToken' });
export const personalTokenListView = z
  .strictObject({
    personalTokens: z.array(personalTokenView),
    nextCursor: z.string().nullable(),
  })
  .meta({ id: 'PersonalTokenList' });

export type PersonalTokenView = z.infer<typeof personalTokenView>;
