import { isDeepStrictEqual } from 'node:util';
import type { ErrorCode } from '../../../../domain/error-catalogue.ts';
import type { ServiceToken } from '../../../generated/service-token.ts';
import type { TokenFacts } from './service-token.ts';
import type { SyncTokens } from './token-source.ts';

/** What a SecretSync saw of the ServiceTokens that concern it. */
export interface TokenView {
  /** What it acts upon. */
  readonly shape: readonly unknown[];
  /** What it tells of, but only while it has no token. */
  readonly word: readonly unknown[];
}

// Trouble that a ServiceToken's word may explain or end.
const troubles: ReadonlySet<ErrorCode> = new Set([
  'unauthenticated',
  'token_secret_not_found',
  'service_token_not_found',
  'service_token_not_ready',
  'service_token_denied',
  'service_token_place_not_found',
  'service_token_revoked',
  'service_token_not_owned',
]);

type Seen = Pick<TokenFacts, 'named' | 'beside'>;

/** What there is to see now. */
export function viewOf({ sources, made }: Pick<SyncTokens, 'made'> & { readonly sources: readonly Seen[] }): TokenView {
  const tokens = [...sources.flatMap(({ named, beside }) => [named, beside]), ...made];
  return { shape: tokens.map(shapeOf), word: tokens.map(wordOf) };
}

/** Whether another look is due: a ServiceToken's status alone is no news to who has a token that works. */
export function isNews(before: TokenView | undefined, now: TokenView, failure: ErrorCode | undefined): boolean {
  // Nothing was looked at: the SecretSync is suspended, or waits to be reconciled.
  if (before === undefined) return false;
  if (!isDeepStrictEqual(before.shape, now.shape)) return true;
  return failure !== undefined && troubles.has(failure) && !isDeepStrictEqual(before.word, now.word);
}

function shapeOf(token: ServiceToken | undefined): unknown {
  if (token === undefined) return undefined;
  const { uid, generation, deletionTimestamp, ownerReferences = [] } = token.metadata;
  const controller = ownerReferences.find((owner) => owner.controller === true);
  return [uid, generation, deletionTimestamp !== undefined, controller?.uid, controller?.name];
}

function wordOf(token: ServiceToken | undefined): unknown {
  const ready = token?.status?.conditions?.find(({ type }) => type === 'Ready');
  return [token?.status?.serial, ready?.status, ready?.reason, ready?.message, ready?.observedGeneration];
}
