import type { AnyCaller } from '../../domain/principal.ts';
import { appendAudits } from '../../store/audit.ts';
import { type EndedToken, revokeTokens, suspendTokens } from '../../store/cluster-tokens.ts';
import { notifyServiceTokens } from '../../store/notify.ts';
import type { Transaction } from '../../store/transaction.ts';
import type { AnyAccess } from '../access/access.ts';
import { auditRecord, type AuditTarget } from '../audit/audit-log.ts';
import { type ChangeDeps, makeChange } from './change.ts';

/** The end of many service tokens, in batches: with each token of a batch come its locks and its audit row. */
export const tokensAtOnce = 1_000;

export interface EndedBatch {
  readonly ended: number;
  /** Where the next batch begins; null if there is none. */
  readonly next: string | null;
}

/**
 * Runs batches, each in its own transaction, and returns how many tokens they ended. The right is not judged again: commit
 * before what the end of the tokens follows from, so that a change that comes between is judged by it.
 */
export async function inBatches(
  deps: ChangeDeps,
  access: AnyAccess,
  batch: (tx: Transaction, after: string | null) => Promise<EndedBatch>,
): Promise<number> {
  let count = 0;
  for (let after: string | null = null; ;) {
    const { ended, next }: EndedBatch = await makeChange(deps, access, async (tx) => ({
      result: await batch(tx, after),
      audit: null,
    }));
    count += ended;
    if (next === null) return count;
    after = next;
  }
}

/** Where the batch after these tokens begins, by the key in whose order they were listed; null if they are the last. */
export function nextBatch<Token>(tokens: readonly Token[], keyOf: (token: Token) => string): string | null {
  const last = tokens.at(-1);
  return last === undefined || tokens.length < tokensAtOnce ? null : keyOf(last);
}

export interface TokenEnd {
  readonly action: 'service_token.suspend' | 'service_token.revoke';
  /** Why, for the audit of each token. */
  readonly why: AuditTarget;
}

/** Ends the tokens of a batch that have not ended, with an audit entry in the organization of each. Returns how many. */
export async function endTokens(
  tx: Transaction,
  caller: AnyCaller,
  tokens: readonly EndedToken[],
  { action, why }: TokenEnd,
): Promise<number> {
  if (tokens.length === 0) return 0;
  const ids = tokens.map(({ id }) => id);
  const ended = action === 'service_token.suspend' ? await suspendTokens(tx, ids) : await revokeTokens(tx, ids);
  const changed = tokens.filter(({ id }) => ended.has(id));
  await notifyServiceTokens(
    tx,
    changed.map(({ organizationId, id }) => ({ organizationId, serviceTokenId: id })),
  );
  await appendAudits(
    tx,
    changed.map(({ organizationId, id, name }) =>
      auditRecord(caller, { organizationId, action, target: { serviceTokenId: id, name, ...why } }),
    ),
  );
  return changed.length;
}
