import type { SeenRules } from '../../domain/cluster-ceiling.ts';
import { errorCatalogue } from '../../domain/errors/catalogue.ts';
import type { Seen } from './dependencies.ts';

/** What a result depends on that this cluster may do. */

/** The result rests on rules that left room for its requests, and on a cluster that is enabled. */
export function noteRules(seen: Seen, { organizationId, version }: SeenRules): void {
  seen.note('cluster', '', 'enabled');
  seen.note('cluster rules', organizationId, String(version));
}

/**
 * A refusal may end with the next change of any rules for this cluster, or of its state: it does not say of which
 * organization, because it says nothing of what exists.
 */
export function noteRefusal(seen: Seen): void {
  seen.note('cluster', '');
  seen.note('cluster rules', '');
}

/** The reasons of results that may be refusals. What the cluster may not know is not found. */
export const refusedReasons: ReadonlySet<string> = new Set([
  errorCatalogue.cluster_not_allowed.reason,
  errorCatalogue.cluster_disabled.reason,
  errorCatalogue.cluster_unknown.reason,
  // The hello that brings the issuer reports the state of the cluster.
  errorCatalogue.issuer_unknown.reason,
  errorCatalogue.not_found.reason,
]);
