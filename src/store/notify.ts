import type { Transaction } from './transaction.ts';

/** What is reported of a commit: only ids. */
export type StoreMessage =
  | {
      readonly kind: 'environment';
      readonly environmentId: string;
      readonly revisionId: string;
      /** It, or something above it, was deleted or purged; absent at every other commit. */
      readonly ended?: true;
      /** The value of a version of its past was destroyed; the present is the same. */
      readonly destroyed?: true;
      /** It did not exist before; absent at every other commit. */
      readonly appeared?: true;
    }
  | { readonly kind: 'service_token'; readonly serviceTokenId: string }
  | { readonly kind: 'user'; readonly userId: string }
  | { readonly kind: 'snapshot'; readonly snapshotId: string };

export const notifyChannel = 'keyframe';

/** Notifies every listener, at the commit, that an environment is at a new revision. */
export async function notifyEnvironment(tx: Transaction, environmentId: string, revisionId: string): Promise<void> {
  await notify(tx, { e: environmentId, r: revisionId });
}

/**
 * Notifies every listener, at the commit, that an environment was created. A server of an earlier release takes it for
 * any other commit.
 */
export async function notifyAppearance(tx: Transaction, environmentId: string, revisionId: string): Promise<void> {
  await notify(tx, { e: environmentId, r: revisionId, a: true });
}

/**
 * Notifies every listener, at the commit, that the value of a past version was destroyed. A server of an earlier
 * release takes it for a change.
 */
export async function notifyDestruction(tx: Transaction, environmentId: string, revisionId: string): Promise<void> {
  await notify(tx, { e: environmentId, r: revisionId, x: true });
}

/** Notifies every listener, at the commit, that a service token was created, revoked or changed. */
export async function notifyServiceToken(tx: Transaction, serviceTokenId: string): Promise<void> {
  await notify(tx, { t: serviceTokenId });
}

/** Notifies every listener, at the commit, that what a user may do has changed: state, roles or personal tokens. */
export async function notifyUser(tx: Transaction, userId: string): Promise<void> {
  await notify(tx, { u: userId });
}

/** Notifies every listener, at the commit, that snapshots were deleted. */
export async function notifySnapshots(tx: Transaction, snapshotIds: readonly string[]): Promise<void> {
  await notifyEach(tx, 's', snapshotIds);
}

/** Notifies every listener, at the commit, that many service tokens and users were changed at once. */
export async function notifyTokensAndUsers(
  tx: Transaction,
  { serviceTokenIds, userIds }: { readonly serviceTokenIds: readonly string[]; readonly userIds: readonly string[] },
): Promise<void> {
  await notifyEach(tx, 't', serviceTokenIds);
  await notifyEach(tx, 'u', userIds);
}

/** Reads a notification's payload; undefined for one that this version does not know. */
export function parseMessage(payload: string): StoreMessage | undefined {
  const fields = parseObject(payload);
  if (typeof fields['e'] === 'string' && typeof fields['r'] === 'string') {
    const ended = fields['d'] === true ? { ended: true as const } : {};
    const destroyed = fields['x'] === true ? { destroyed: true as const } : {};
    const appeared = fields['a'] === true ? { appeared: true as const } : {};
    const known = { environmentId: fields['e'], revisionId: fields['r'] };
    return { kind: 'environment', ...known, ...ended, ...destroyed, ...appeared };
  }
  if (typeof fields['t'] === 'string') return { kind: 'service_token', serviceTokenId: fields['t'] };
  if (typeof fields['u'] === 'string') return { kind: 'user', userId: fields['u'] };
  return typeof fields['s'] === 'string' ? { kind: 'snapshot', snapshotId: fields['s'] } : undefined;
}

async function notify(tx: Transaction, fields: Readonly<Record<string, string | true>>): Promise<void> {
  await tx.run`SELECT pg_notify(${notifyChannel}, ${JSON.stringify(fields)})`;
}

/** Sends each id in a separate message, under the field that says what it is of. */
async function notifyEach(tx: Transaction, field: 's' | 't' | 'u', ids: readonly string[]): Promise<void> {
  await tx.run`
    SELECT pg_notify(${notifyChannel}, json_build_object(${field}::text, id)::text) FROM unnest(${[...ids]}::uuid[]) AS id`;
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
