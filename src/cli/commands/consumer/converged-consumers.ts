import { setTimeout as pause } from 'node:timers/promises';
import { ClientError } from '../../../client/client-error.ts';
import type { ConsumerView } from '../../../wire/consumers.ts';
import { CliError } from '../../core/cli-error.ts';
import type { CommandContext } from '../../core/command.ts';
import { exitCodes } from '../../core/exit-codes.ts';
import type { Scope } from '../../settings/scope.ts';
import { noteOutage } from '../change/outage-note.ts';
import { scopeFlags, shownScope } from '../secret/secrets-api.ts';
import { allConsumers } from './consumers-api.ts';
import { type Convergence, convergenceOf, exemptText, missingText, placeText, staleClusters } from './convergence.ts';
import { type ConsumerSelection, selectConsumers } from './selection.ts';

export interface AwaitedRevision {
  readonly scope: Scope;
  /** The number. */
  readonly revision: number;
  /** Only consumers in this cluster. */
  readonly cluster: string | undefined;
  readonly selection: ConsumerSelection;
  /** The end of the wait. */
  readonly limit: AbortSignal;
}

// Controllers report within a second or two. Each poll with a service token is an entry of the audit.
const eagerMs = 10_000;
const eagerPollMs = 1000;
const pollMs = 3000;
// What was repaired a moment ago may not have been reported yet.
const stuckMs = 5000;
const maxNamed = 20;
const maxNamedInProgress = 3;

/**
 * Waits until all consumers of an environment have a revision. Throws CliError late at the limit, and conflict for a
 * consumer that is stuck for 5 seconds; both name the consumers. An outage after the first answer is waited out.
 */
export async function untilConverged(context: CommandContext, awaited: AwaitedRevision): Promise<Convergence> {
  const began = Date.now();
  const reader = new ConsumerReader(context, awaited);
  const stuckSince = new Map<string, number>();
  let last: Convergence | undefined;
  let shown: string | undefined;
  for (;;) {
    last = (await reader.read()) ?? last;
    if (last?.missing.length === 0 && last.absent.length === 0) return last;
    const now = Date.now();
    if (last !== undefined) {
      checkStuck(awaited, last, { stuckSince, now });
      const progress = `${countText(last)} have reached revision ${awaited.revision}; waiting for ${awaitedText(last)}`;
      if (progress !== shown) context.io.note(progress);
      shown = progress;
    }
    const { limit: signal } = awaited;
    if (signal.aborted) throw lateError(awaited, last);
    await pause(now - began < eagerMs ? eagerPollMs : pollMs, undefined, { signal }).catch(() => undefined);
  }
}

class ConsumerReader {
  readonly #context: CommandContext;
  readonly #awaited: AwaitedRevision;
  readonly #note: (error: Error | undefined) => void;
  #wasRead = false;

  constructor(context: CommandContext, awaited: AwaitedRevision) {
    this.#context = context;
    this.#awaited = awaited;
    this.#note = noteOutage(context);
  }

  /** Undefined during an outage, and after the limit. Throws ClientError. */
  async read(): Promise<Convergence | undefined> {
    const { scope, revision, cluster, selection, limit } = this.#awaited;
    try {
      const consumers = await allConsumers(this.#context.api(limit), scope, { cluster });
      this.#wasRead = true;
      const { selected, absent } = selectConsumers(consumers, selection);
      return convergenceOf(selected, revision, absent);
    } catch (error) {
      if (!(error instanceof ClientError) || !error.isOutage) throw error;
      if (limit.aborted) return undefined;
      if (!this.#wasRead) throw error;
      this.#note(error);
      return undefined;
    }
  }
}

/** Throws CliError conflict if consumers have been stuck for long enough. */
function checkStuck(
  { scope, revision, selection }: AwaitedRevision,
  { stuck }: Convergence,
  { stuckSince, now }: { readonly stuckSince: Map<string, number>; readonly now: number },
): void {
  const keys = new Set(stuck.map(keyOf));
  for (const key of stuckSince.keys()) if (!keys.has(key)) stuckSince.delete(key);
  for (const key of keys) if (!stuckSince.has(key)) stuckSince.set(key, now);
  const lasting = stuck.filter((consumer) => now - (stuckSince.get(keyOf(consumer)) ?? now) >= stuckMs);
  if (lasting.length === 0) return;
  const what = lasting.length === 1 ? '1 consumer does' : `${lasting.length} consumers do`;
  const message = `${what} not reach revision ${revision} of ${shownScope(scope)} before a person acts`;
  const see = lasting.slice(0, 1).map((consumer) => `See its condition: ${describeCommand(consumer)}`);
  throw new CliError(exitCodes.conflict, message, {
    next: [...namedTexts(lasting, scope), ...see, ...selectionHint(selection)],
  });
}

/** A SecretSync of other users must not decide about the caller's own. */
function selectionHint({ namespaces, secretSyncs }: ConsumerSelection): string[] {
  if (namespaces.length + secretSyncs.length > 0) return [];
  return ['To wait only for your own: --namespace <namespace>, or --secret-sync <namespace>/<name>'];
}

/** The first of those that are waited for. */
function awaitedText({ missing, absent }: Convergence): string {
  const names = [...missing.map(placeText), ...absent];
  const rest = names.length - maxNamedInProgress;
  return `${names.slice(0, maxNamedInProgress).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}

function keyOf({ cluster, uid, source }: ConsumerView): string {
  return [cluster, uid, source].join(' ');
}

function describeCommand(consumer: ConsumerView): string {
  const namespace = consumer.namespace === null ? '' : ` -n ${consumer.namespace}`;
  return `kubectl describe secretsyncs.keyframe.dev${namespace} ${consumer.name}`;
}

function lateError({ scope, revision }: AwaitedRevision, last: Convergence | undefined): CliError {
  const longer = 'To wait longer, add --within <duration>';
  if (last === undefined)
    return new CliError(exitCodes.late, 'The consumers could not be read in time', { next: [longer] });
  const message = `${countText(last)} have reached revision ${revision} of ${shownScope(scope)} in time`;
  const absent = last.absent.map((title) => `${title}: does not read the environment, or was not reported yet`);
  const next = [...namedTexts(last.missing, scope), ...absent, ...staleClusters(last.missing), longer];
  return new CliError(exitCodes.late, `Only ${message}`, { next });
}

function namedTexts(consumers: readonly ConsumerView[], scope: Scope): string[] {
  const rest = consumers.length - maxNamed;
  const more = rest > 0 ? [`and ${rest} more: keyframe consumers ${scopeFlags(scope)}`] : [];
  return [...consumers.slice(0, maxNamed).map(missingText), ...more];
}

function countText({ reached, missing }: Convergence): string {
  return `${reached.length} of ${reached.length + missing.length} consumers`;
}

/** Names the consumers that were not waited for. */
export function noteExempt({ io }: CommandContext, { exempt }: Convergence): void {
  for (const consumer of exempt.slice(0, maxNamed)) io.note(`Not waited for: ${exemptText(consumer)}`);
  if (exempt.length > maxNamed) io.note(`and ${exempt.length - maxNamed} more`);
}
