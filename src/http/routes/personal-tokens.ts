import { shownTokenCreator } from '../../domain/impersonation.ts';
import type { PersonalTokenRecord } from '../../services/tokens/personal-tokens.ts';
import { createPersonalToken, listPersonalTokens, revokePersonalToken } from '../../wire/contract/personal-tokens.ts';
import type { PersonalTokenView } from '../../wire/personal-tokens.ts';
import { type Route, personRoute } from '../route.ts';

/** docs/interface.md 4, "Further routes" */
export const personalTokenRoutes: readonly Route[] = [
  personRoute({
    ...listPersonalTokens,
    action: 'personal_token.list',
    async handle({ personalTokens }, access, { query }) {
      const list = await personalTokens.list(access, query);
      const views = list.personalTokens.map(personalTokenViewOf);
      return { status: 200, body: { personalTokens: views, nextCursor: list.nextCursor } };
    },
  }),
  personRoute({
    ...createPersonalToken,
    action: 'personal_token.create',
    async handle({ personalTokens }, access, { body }) {
      const { record, token } = await personalTokens.create(access, body);
      return { status: 201, body: { ...personalTokenViewOf(record), token: token.reveal() } };
    },
  }),
  personRoute({
    ...revokePersonalToken,
    action: 'personal_token.revoke',
    async handle({ personalTokens }, access, { params }) {
      await personalTokens.revoke(access, params.id);
      return { status: 204 };
    },
  }),
];

export function personalTokenViewOf(record: PersonalTokenRecord): PersonalTokenView {
  return {
    id: record.id,
    name: record.name,
    createdAt: record.createdAt.toISOString(),
    expiresAt: record.expiresAt?.toISOString() ?? null,
    revokedAt: record.revokedAt?.toISOString() ?? null,
    lastUsedAt: record.lastUsedAt?.toISOString() ?? null,
    createdBy: shownTokenCreator(record.creator),
  };
}
