import { copyOf, DomainError } from '../domain/errors/domain-error.ts';
import type { SourcesAnswer, SourcesQuestion } from '../domain/source-reads.ts';
import { namespaceGrants } from '../wire/cluster/asker.ts';
import { clusterBodyLimits, maxUnderWay } from '../wire/cluster/methods.ts';
import { maxReadItems, type ReadItem, readItem, type ReadOutcome, type ReadsAnswer } from '../wire/cluster/reads.ts';
import { encodeInput } from '../wire/parse-input.ts';
import { strangeAnswer } from './answer-errors.ts';
import { type Parcel, parcelOf, Room } from './parcels.ts';

interface ReadCalls {
  /** See `Calls.send`. */
  send(name: 'reads', makeBody: () => string): Promise<ReadsAnswer>;
}

interface Waiting extends PromiseWithResolvers<SourcesAnswer> {
  readonly question: SourcesQuestion;
  /** The server had no time or no room for it. */
  isAgain: boolean;
}

/** A request that is being made. */
interface Group {
  readonly members: Waiting[];
  readonly items: Parcel[];
  /** What the namespaces are granted, by namespace. */
  readonly namespaces: Map<string, Parcel>;
}

/**
 * Reads the sources of many SecretSyncs with one request instead of one for each. Nothing is kept: the request that answers
 * a call begins after that call. What comes alone goes at once; what comes in the same turn of the event loop, or while two
 * requests are under way, goes together in the next one. Namespaces take turns.
 */
export class Reads {
  readonly #calls: ReadCalls;
  /** In the order of arrival. */
  #waiting: Waiting[] = [];
  #underWay = 0;
  #isDue = false;

  constructor(calls: ReadCalls) {
    this.#calls = calls;
  }

  /** Throws what the services threw, and what the transport throws, as a new error for each call. */
  async read(question: SourcesQuestion): Promise<SourcesAnswer> {
    const waiting = { question, isAgain: false, ...Promise.withResolvers<SourcesAnswer>() };
    this.#waiting.push(waiting);
    this.#begin();
    return await waiting.promise;
  }

  #begin(): void {
    if (this.#isDue || this.#waiting.length === 0 || this.#underWay === maxUnderWay.reads) return;
    this.#isDue = true;
    setImmediate(() => {
      this.#isDue = false;
      const group = this.#takeGroup();
      if (group.members.length > 0) void this.#send(group);
      this.#begin();
    });
  }

  #takeGroup(): Group {
    const group: Group = { members: [], items: [], namespaces: new Map() };
    const room = new Room(clusterBodyLimits.reads);
    const left = new Set(this.#waiting);
    for (const waiting of inTurns(this.#waiting)) {
      if (group.members.length === maxReadItems) break;
      try {
        if (!addTo(group, room, waiting)) continue;
      } catch (error) {
        waiting.reject(error);
      }
      left.delete(waiting);
    }
    this.#waiting = [...left];
    return group;
  }

  /** Never throws. */
  async #send({ members, items, namespaces }: Group): Promise<void> {
    this.#underWay += 1;
    try {
      const texts = [namespaces.values(), items.values()].map((parcels) =>
        [...parcels].map(({ text }) => text).join(','),
      );
      const answer = await this.#calls.send('reads', () => `{"namespaces":[${texts[0]}],"items":[${texts[1]}]}`);
      if (answer.items.length !== members.length)
        throw strangeAnswer('has another number of items than were asked for');
      const again = members.filter((waiting, index) => !settle(waiting, answer.items[index]));
      // The server reads the first item, however long that takes.
      if (again.length === members.length) throw strangeAnswer('has no result');
      for (const waiting of again) waiting.isAgain = true;
      this.#waiting = [...again, ...this.#waiting];
    } catch (error) {
      for (const { reject } of members) reject(error instanceof DomainError ? copyOf(error) : error);
    }
    this.#underWay -= 1;
    this.#begin();
  }
}

/** What the server wants again, and then one of each namespace, and then the second of each. */
function inTurns(waiting: readonly Waiting[]): Waiting[] {
  const counts = new Map<string, number>();
  const ranked = waiting.map((one) => {
    const namespace = one.question.asker.namespace ?? '';
    const rank = counts.get(namespace) ?? 0;
    counts.set(namespace, rank + 1);
    return { one, rank: one.isAgain ? -1 : rank };
  });
  return ranked.toSorted((a, b) => a.rank - b.rank).map(({ one }) => one);
}

/** Adds an item to a request; false if it has no room. One that is too large goes alone. Throws DomainError invalid_input. */
function addTo({ members, items, namespaces }: Group, room: Room, waiting: Waiting): boolean {
  const { asker } = waiting.question;
  const { namespace, name, uid, requestId } = asker;
  if (namespace === null) throw new Error('a SecretSync has a namespace');
  const item = itemOf(waiting.question, { namespace, name, uid, requestId });
  const needsGrants =
    waiting.question.sources.some(({ credential }) => credential === 'keyless') && !namespaces.has(namespace);
  const granted = needsGrants ? [grantsOf(waiting.question, namespace)] : [];
  if (!room.take([item, ...granted]) && members.length > 0) return false;
  members.push(waiting);
  items.push(item);
  for (const parcel of granted) namespaces.set(namespace, parcel);
  return true;
}

/**
 * Leaves out a selection that has no room in a request: the values are asked for separately then. Throws DomainError
 * invalid_input.
 */
function itemOf({ sources, maxKeys, selection }: SourcesQuestion, asker: ReadItem['asker']): Parcel {
  try {
    const item = parcelOf(encodeInput('body', readItem, { asker, sources, maxKeys, selection }));
    if (selection === undefined || new Room(clusterBodyLimits.reads).take([item])) return item;
  } catch (error) {
    if (selection === undefined) throw error;
  }
  return parcelOf(encodeInput('body', readItem, { asker, sources, maxKeys }));
}

function grantsOf({ asker }: SourcesQuestion, namespace: string): Parcel {
  const { grants, ownGrant } = asker;
  return parcelOf(encodeInput('body', namespaceGrants, { namespace, grants, ownGrant }));
}

/** Ends a call; false if the server wants the item again. */
function settle({ resolve, reject }: Waiting, outcome: ReadOutcome | undefined): boolean {
  switch (outcome?.outcome) {
    case 'read':
      resolve(outcome.answer);
      return true;
    case 'failed':
      reject(outcome.error);
      return true;
    default:
      return false;
  }
}
