import { z } from 'zod';
import type { DomainError } from '../../domain/errors/domain-error.ts';
import { limits } from '../../domain/limits.ts';
import type { AskedSource, SourcesAnswer, ValueSelection } from '../../domain/source-reads.ts';
import { namedSync, namespaceGrants, type NamespaceGrants, type SyncAsker } from './asker.ts';
import { codecOf, strict } from './codec.ts';
import { domainError } from './error.ts';
import { askedSource, maxReadKeys, sourcesAnswer, valueSelection } from './sources.ts';

/** Reads of many SecretSyncs in one request. */

/** How many SecretSyncs one request has. */
export const maxReadItems = 250;

/** One SecretSync. The grants of its namespace are in the request once. */
export interface ReadItem {
  readonly asker: Pick<SyncAsker, 'name' | 'uid' | 'requestId'> & { readonly namespace: string };
  readonly sources: readonly AskedSource[];
  readonly maxKeys: number;
  readonly selection?: ValueSelection | undefined;
}

export interface ReadsQuestion {
  /** What the namespaces are granted whose SecretSyncs need it. */
  readonly namespaces: readonly (NamespaceGrants & { readonly namespace: string })[];
  readonly items: readonly ReadItem[];
}

/** `again`: there was no time or no room for the item. Nothing failed. */
export type ReadOutcome =
  | { readonly outcome: 'read'; readonly answer: SourcesAnswer }
  | { readonly outcome: 'failed'; readonly error: DomainError }
  | { readonly outcome: 'again' };

export interface ReadsAnswer {
  /** In the order of the question. */
  readonly items: readonly ReadOutcome[];
}

export const readItem = codecOf<ReadItem>()(
  strict({
    asker: namedSync,
    sources: z.array(askedSource).min(1).max(limits.sourcesPerSecretSync),
    maxKeys: maxReadKeys,
    selection: valueSelection.optional(),
  }),
);

export const readsQuestion = codecOf<ReadsQuestion>()(
  strict({
    namespaces: z.array(namespaceGrants).max(maxReadItems),
    items: z.array(readItem).min(1).max(maxReadItems),
  }),
);

export const readsAnswer = codecOf<ReadsAnswer>()(
  z.object({
    items: z.array(
      z.discriminatedUnion('outcome', [
        z.object({ outcome: z.literal('read'), answer: sourcesAnswer }),
        z.object({ outcome: z.literal('failed'), error: domainError }),
        z.object({ outcome: z.literal('again') }),
      ]),
    ),
  }),
);
