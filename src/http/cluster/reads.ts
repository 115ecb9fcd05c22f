import { DomainError } from '../../domain/errors/domain-error.ts';
import type { SourcesAnswer, SourcesQuestion } from '../../domain/source-reads.ts';
import type { ReadItem, ReadOutcome, ReadsAnswer, ReadsQuestion } from '../../wire/cluster/reads.ts';

export interface ReadItemsDeps {
  readonly read: (question: SourcesQuestion) => Promise<SourcesAnswer>;
  /** Called with an error that is no DomainError. */
  readonly onBug: (error: unknown) => void;
  /** How long the items may take, once one of them has a result. */
  readonly limitMs?: number;
  readonly maxKeys?: number;
}

// A slow item must not delay the others for long.
const defaultLimitMs = 2_000;
// Of the states in one answer: some megabytes of names.
const defaultMaxKeys = 20_000;

/**
 * Reads the sources of many SecretSyncs. It answers once all are read, or after 2 seconds if one is: then the others get
 * `again`. So does what is beyond the size of an answer. The first item that is read is always in it.
 */
export async function readItems(question: ReadsQuestion, deps: ReadItemsDeps): Promise<ReadsAnswer> {
  const { limitMs = defaultLimitMs } = deps;
  const batch = new Batch(question, deps);
  const due = Promise.withResolvers<void>();
  const timer = setTimeout(due.resolve, limitMs);
  await Promise.race([batch.done, Promise.all([due.promise, batch.first])]);
  clearTimeout(timer);
  return { items: batch.close() };
}

/** How many keys the states of these items can have while they are read. */
export function keysToRead(items: readonly ReadItem[]): number {
  const all = items.reduce((sum, item) => sum + maxKeysOf(item), 0);
  return Math.max(Math.min(all, defaultMaxKeys), ...items.map(maxKeysOf));
}

/** The items of one request. They start in their order, as far as there is room for their states. */
class Batch {
  readonly #question: ReadsQuestion;
  readonly #deps: ReadItemsDeps;
  readonly #maxKeys: number;
  readonly #outcomes: (ReadOutcome | undefined)[];
  readonly #first = Promise.withResolvers<void>();
  readonly #done = Promise.withResolvers<void>();
  #next = 0;
  #reading = 0;
  /** Keys that the states have, or can have while they are read. */
  #keys = 0;
  #isClosed = false;

  constructor(question: ReadsQuestion, deps: ReadItemsDeps) {
    this.#question = question;
    this.#deps = deps;
    this.#maxKeys = deps.maxKeys ?? defaultMaxKeys;
    this.#outcomes = question.items.map(() => undefined);
    this.#start();
  }

  /** Resolves once an item has a result. */
  get first(): Promise<void> {
    return this.#first.promise;
  }

  /** Resolves once nothing is read any more. */
  get done(): Promise<void> {
    return this.#done.promise;
  }

  /** Starts nothing more. Returns the outcomes in the order of the question. */
  close(): readonly ReadOutcome[] {
    this.#isClosed = true;
    return this.#outcomes.map((outcome) => outcome ?? { outcome: 'again' });
  }

  #start(): void {
    const { items } = this.#question;
    for (;;) {
      const item = items[this.#next];
      const isRoom = this.#keys === 0 || (item !== undefined && this.#keys + maxKeysOf(item) <= this.#maxKeys);
      if (this.#isClosed || item === undefined || !isRoom) break;
      void this.#read(item, this.#next);
      this.#next += 1;
    }
    if (this.#reading === 0) this.#done.resolve();
  }

  async #read(item: ReadItem, index: number): Promise<void> {
    this.#reading += 1;
    this.#keys += maxKeysOf(item);
    const outcome = await this.#outcomeOf(item);
    this.#reading -= 1;
    this.#keys += keysOf(outcome) - maxKeysOf(item);
    if (!this.#isClosed) this.#outcomes[index] = outcome;
    this.#first.resolve();
    this.#start();
  }

  async #outcomeOf({ asker: named, sources, maxKeys }: ReadItem): Promise<ReadOutcome> {
    const { grants = [], ownGrant } =
      this.#question.namespaces.find(({ namespace }) => namespace === named.namespace) ?? {};
    const asker = { kind: 'SecretSync', ...named, grants, ownGrant } as const;
    try {
      return { outcome: 'read', answer: await this.#deps.read({ asker, sources, maxKeys }) };
    } catch (error) {
      if (error instanceof DomainError) return { outcome: 'failed', error };
      this.#deps.onBug(error);
      return {
        outcome: 'failed',
        error: new DomainError('internal', 'unexpected error in the server; search its log'),
      };
    }
  }
}

function maxKeysOf({ sources, maxKeys }: ReadItem): number {
  return sources.length * Math.max(maxKeys, 1);
}

function keysOf(outcome: ReadOutcome): number {
  if (outcome.outcome !== 'read') return 0;
  return outcome.answer.sources.reduce(
    (sum, { state }) => sum + (state && 'secrets' in state ? state.secrets.length : 0),
    0,
  );
}
