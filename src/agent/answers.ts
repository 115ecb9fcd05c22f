import type { IncomingMessage } from 'node:http';
import { parsedObject } from '../client/parsed-object.ts';
import { DomainError } from '../domain/errors/domain-error.ts';
import { MemoryBudget } from '../lib/memory-budget.ts';
import { divideMemory } from '../lib/process-memory.ts';
import { strangeAnswer } from './answer-errors.ts';

/** How long an answer is waited for, and how large it may be. */
export interface AnswerLimits {
  readonly timeoutMs: number;
  readonly maxAnswerBytes: number;
}

// Eleven requests are under way at most, and small answers wait for no large one.
const smallBytes = 64 * 1024;
// The text, and what is parsed of it.
const copies = 2;

/** Reads the answers of the server. Large ones wait for memory before they are read. */
export class Answers {
  readonly #memory: MemoryBudget;

  /** A controller without an API has no other transfers. */
  constructor(maxBytes = divideMemory(true).transferBytes) {
    this.#memory = new MemoryBudget({ maxBytes });
  }

  /**
   * The object in an answer; undefined if it has none. Throws DomainError store_unavailable for one that is larger than any
   * answer of this method, overloaded if its memory is not free in time, and what its stream throws.
   */
  async read(
    response: IncomingMessage,
    { timeoutMs, maxAnswerBytes }: AnswerLimits,
  ): Promise<Readonly<Record<string, unknown>> | undefined> {
    const { 'content-length': declared, 'content-type': type } = response.headers;
    const maxBytes = Math.min(Number(declared ?? maxAnswerBytes), maxAnswerBytes + 1);
    using memory = this.#memory.holder();
    try {
      if (maxBytes > maxAnswerBytes) throw tooLarge(maxAnswerBytes);
      if (maxBytes > smallBytes) await memory.reserve(maxBytes * copies, { waitMs: timeoutMs, makeError: noMemory });
      return parsedObject(type, await textOf(response, maxAnswerBytes));
    } catch (error) {
      // Its connection carries nothing else before its end.
      response.destroy();
      throw error;
    }
  }
}

async function textOf(response: IncomingMessage, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxBytes) throw tooLarge(maxBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function tooLarge(maxBytes: number): DomainError {
  return strangeAnswer(`has more than the ${maxBytes} bytes that it can have`);
}

function noMemory(): DomainError {
  return new DomainError(
    'overloaded',
    'answers of the server of Keyframe use up the memory of the controller; give it more memory if this lasts',
  );
}
