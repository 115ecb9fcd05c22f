import { setImmediate } from 'node:timers/promises';
import { DomainError } from '../../domain/errors/domain-error.ts';
import type { SourcesAnswer, SourcesQuestion } from '../../domain/source-reads.ts';
import type { AnswerRoom } from '../../services/cluster/sources.ts';
import type { ReadItem, ReadOutcome, ReadsAnswer, ReadsQuestion } from '../../wire/cluster/reads.ts';
import { ReadsRoom, maxValueBytes } from './reads-room.ts';

export interface ReadItemsDeps {
  readonly read: (question: SourcesQuestion, room: AnswerRoom) => Promise<SourcesAnswer>;
  /** Called with an error that is no DomainError. */
  readonly onBug: (error: unknown) => void;
  /** Aborted when the controller no longer waits. */
  readonly gone: AbortSignal;
  /** How long the items may take, once one of them has a result. */
  readonly limitMs?: number;
  readonly maxKeys?: number;
}

// A slow item must not delay the others for long.
const defaultLimitMs = 2_000;
// Of the states in one answer: some megabytes of names.
const defaultMaxKeys = 20_000;
// Other requests get their turn after so many items were started.
const startedInTurn = 10;

/**
 * Reads the sources of many SecretSyncs. It answers once all are read, or after 2 seconds if one is: then the others get
 * `again`, and end at their next step, as all do if the controller no longer waits. What is beyond the size of an answer gets
 * `again` too. The first item that is read is always in it.
 */
export async function readItems(question: ReadsQuestion, deps: ReadItemsDeps): Promise<ReadsAnswer> {
  const { limitMs = defaultLimitMs, gone } = deps;
  const batch = new Batch(question, deps);
  const due = Promise.withResolvers<void>();
  const timer = setTimeout(due.resolve, limitMs);
  const left = Promise.withResolvers<void>();
  if (gone.aborted) left.resolve();
  gone.addEventListener('abort', () => left.resolve(), { once: true });
  await Promise.race([batch.done, Promise.all([due.promise, batch.first]), left.promise]);
  clearTimeout(timer);
  return { items: batch.close() };
}

/** How many keys the states of these items can have while they are read. */
export function keysToRead(items: readonly ReadItem[]): number {
  const all = items.reduce((sum, item) => sum + maxKeysOf(item), 0);
  return Math.max(Math.min(all, defaultMaxKeys), ...items.map(maxKeysOf));
}

/** How many bytes of values the answer for these items can have. */
export function valuesToRead(items: readonly ReadItem[]): number {
  const all = items.reduce((sum, { selection }) => sum + (selection?.maxBytes ?? 0), 0);
  return Math.min(all, maxValueBytes);
}

/** The items of one request. They start in their order, as far as there is room for their states. */
class Batch {
  readonly #question: ReadsQuestion;
  readonly #deps: ReadItemsDeps;
  readonly #maxKeys: number;
  readonly #outcomes: (ReadOutcome | undefined)[];
  readonly #first = Promise.withResolvers<void>();
  readonly #done = Promise.withResolvers<void>();
  readonly #room = new ReadsRoom();
  #next = 0;
  #reading = 0;
  #isStarting = false;
  /** Keys that the states have, or can have while they are read. */
  #keys = 0;
  #isClosed = false;

  constructor(question: ReadsQuestion, deps: ReadItemsDeps) {
    this.#question = question;
    this.#deps = deps;
    this.#maxKeys = deps.maxKeys ?? defaultMaxKeys;
    this.#outcomes = question.items.map(() => undefined);
    void this.#start();
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
    this.#room.close();
    return this.#outcomes.map((outcome) => outcome ?? { outcome: 'again' });
  }

  /** Starts what has room. Never throws. */
  async #start(): Promise<void> {
    if (this.#isStarting) return;
    this.#isStarting = true;
    for (let started = 1; !this.#isClosed; started += 1) {
      const item = this.#question.items[this.#next];
      if (item === undefined || (this.#keys > 0 && this.#keys + maxKeysOf(item) > this.#maxKeys)) break;
      void this.#read(item, this.#next);
      this.#next += 1;
      if (started % startedInTurn === 0) await setImmediate();
    }
    this.#isStarting = false;
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
    void this.#start();
  }

  async #outcomeOf({ asker: named, sources, maxKeys, selection }: ReadItem): Promise<ReadOutcome> {
    const { grants = [], ownGrant } =
      this.#question.namespaces.find(({ namespace }) => namespace === named.namespace) ?? {};
    const asker = { kind: 'SecretSync', ...named, grants, ownGrant } as const;
    try {
      return { outcome: 'read', answer: await this.#deps.read({ asker, sources, maxKeys, selection }, this.#room) };
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
