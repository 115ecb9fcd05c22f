import { shownTokenCreator } from '../../domain/impersonation.ts';
import type { PersonalTokenRecord } from '../../services/tokens/personal-tokens.ts';
import { pageQuery } from '../../wire/page.ts';
import {
  type PersonalTokenView,
  createPersonalTokenBody,
  createdPersonalTokenView,
  personalTokenListView,
  personalTokenParams,
} from '../../wire/personal-tokens.ts';
import { type Route, personRoute } from '../route.ts';

/** docs/interface.md 4, "Further routes" */
export const personalTokenRoutes: readonly Route[] = [
  personRoute({
    method: 'GET',
    path: '/personal-tokens',
    action: 'personal_token.list',
    operation: 'listPersonalTokens',
    summary: 'List your personal tokens, newest first',
    input: { query: pageQuery },
    responses: { 200: personalTokenListView },
    async handle({ personalTokens }, access, { query }) {
      const list = await personalTokens.list(access, query);
      const views = list.personalTokens.map(personalTokenViewOf);
      return { status: 200, body: { personalTokens: views, nextCursor: list.nextCursor } };
    },
  }),
  personRoute({
    method: 'POST',
    path: '/personal-tokens',
    action: 'personal_token.create',
    operation: 'createPersonalToken',
    summary: 'Create a personal token for yourself; its value is returned only once',
    input: { body: createPersonalTokenBody },
    responses: { 201: createdPersonalTokenView },
    async handle({ personalTokens }, access, { body }) {
      const { record, token } = await personalTokens.create(access, body);
      return { status: 201, body: { ...personalTokenViewOf(record), token: token.reveal() } };
    },
  }),
  personRoute({
    method: 'DELETE',
    path: '/personal-tokens/{id}',
    action: 'personal_token.revoke',
    operation: 'revokePersonalToken',
    summary: 'Revoke one of your personal tokens immediately',
    input: { params: personalTokenParams },
    responses: { 204: null },
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
