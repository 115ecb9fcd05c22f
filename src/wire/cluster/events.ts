import { z } from 'zod';
import type { ChangeEvent } from '../../domain/changes.ts';
import type { SentEvent } from '../event-parser.ts';

/** The stream of changes of `GET /api/v1/cluster/events` (docs/internals/change-feed.md). */

export const clusterEventNames = { ready: 'ready', change: 'change', renew: 'renew' } as const;

/** What a controller reads. */
export type ClusterMessage =
  { readonly kind: 'ready' } | { readonly kind: 'renew' } | { readonly kind: 'change'; readonly change: ChangeEvent };

const id = z.uuid();
const clusterName = z.string();
const flag = z.literal(true).exactOptional();

const kinds = {
  environment: z.object({
    kind: z.literal('environment'),
    organizationId: id,
    environmentId: id,
    revisionId: id,
    ended: flag,
    destroyed: flag,
    appeared: flag,
  }),
  service_token: z.object({ kind: z.literal('service_token'), organizationId: id, serviceTokenId: id }),
  snapshot: z.object({ kind: z.literal('snapshot'), organizationId: id, snapshotId: id }),
  cluster_rules: z.object({
    kind: z.literal('cluster_rules'),
    organizationId: id,
    cluster: clusterName,
    version: z.int(),
    isNothing: z.boolean(),
  }),
  user: z.object({ kind: z.literal('user'), userId: id }),
  cluster: z.object({
    kind: z.literal('cluster'),
    cluster: clusterName,
    state: z.enum(['enabled', 'disabled', 'forgotten']),
    isHome: z.boolean(),
  }),
} as const satisfies { readonly [Kind in ChangeEvent['kind']]: z.ZodType<Extract<ChangeEvent, { kind: Kind }>> };

const named = z.object({ kind: z.string() });

/**
 * Reads an event of the stream. Returns undefined for one of a newer server, and throws SyntaxError for what no server
 * sends. It ignores members that it does not know.
 */
export function readClusterEvent({ event, data }: SentEvent): ClusterMessage | undefined {
  switch (event) {
    case clusterEventNames.ready:
      return { kind: 'ready' };
    case clusterEventNames.renew:
      return { kind: 'renew' };
    case clusterEventNames.change: {
      const change = readChange(data);
      return change && { kind: 'change', change };
    }
    default:
      return undefined;
  }
}

function readChange(data: unknown): ChangeEvent | undefined {
  const { kind } = parsed(named, data);
  return Object.hasOwn(kinds, kind) ? parsed(kinds[kind as ChangeEvent['kind']], data) : undefined;
}

function parsed<Schema extends z.ZodType>(schema: Schema, data: unknown): z.output<Schema> {
  const result = schema.safeParse(data);
  if (result.success) return result.data;
  throw new SyntaxError('an event of the stream of changes has an unknown form');
}
