import { z } from 'zod';
import { DomainError } from '../domain/errors/domain-error.ts';
import { Turns } from '../lib/turns.ts';
import { domainError } from '../wire/cluster/error.ts';
import {
  type ClusterMethod,
  type ClusterMethodName,
  clusterMethods,
  type Flight,
  maxUnderWay,
  type RequestOf,
  type ResultOf,
} from '../wire/cluster/methods.ts';
import { encodeInput } from '../wire/parse-input.ts';
import { strangeAnswer, TokenRefusal } from './answer-errors.ts';
import type { AnswerLimits } from './answers.ts';
import type { Transport } from './transport.ts';

/** Calls the methods of the server. No more of them are under way than the server allows. */
export class Calls {
  readonly #transport: Pick<Transport, 'post'>;
  readonly #turns: Readonly<Record<Flight, Turns>>;
  /** Whether the server did not accept the token of the last hello. */
  #isRefused = false;

  constructor(transport: Pick<Transport, 'post'>) {
    this.#transport = transport;
    const { hello, reads, values, others, long } = maxUnderWay;
    this.#turns = {
      hello: new Turns(hello),
      reads: new Turns(reads),
      values: new Turns(values),
      others: new Turns(others),
      long: new Turns(long),
    };
  }

  /**
   * Throws DomainError: what the services threw, and what the transport throws. A refused token is an outage until a hello
   * was refused for it: otherwise a short fault would change the status of each resource that asks at that moment.
   */
  async call<Name extends ClusterMethodName>(name: Name, request: RequestOf<Name>): Promise<ResultOf<Name>> {
    const schema: z.ZodType = clusterMethods[name].request;
    return await this.send(name, () => JSON.stringify(encodeInput('body', schema, request)));
  }

  /** The same with the JSON of the request, which is made when its turn has come: grants are sent as they are then. */
  async send<Name extends ClusterMethodName>(name: Name, makeBody: () => string): Promise<ResultOf<Name>> {
    const method = clusterMethods[name] as unknown as ClusterMethod<never, ResultOf<Name>>;
    const { result: schema, flight } = method;
    return await this.#turns[flight].run(async () => {
      const { result, error } = await this.#post(name, makeBody(), method);
      if (error !== undefined) throw decoded(domainError, error);
      if (result === undefined) throw strangeAnswer('has neither a result nor an error');
      return decoded(schema, result ?? undefined);
    });
  }

  async #post(
    name: ClusterMethodName,
    body: string,
    limits: AnswerLimits,
  ): Promise<Awaited<ReturnType<Transport['post']>>> {
    const isHello = name === 'hello';
    try {
      const answer = await this.#transport.post(`/${name}`, body, limits);
      if (isHello) this.#isRefused = false;
      return answer;
    } catch (error) {
      if (!(error instanceof TokenRefusal)) throw error;
      if (isHello) this.#isRefused = true;
      throw this.#isRefused ? error : error.unconfirmed;
    }
  }
}

/** Data of the domain. What a newer server adds is left out. */
function decoded<T>(schema: z.ZodType<T>, json: unknown): T {
  const result = z.safeDecode(schema, json);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  // Nothing of the answer itself, which may be secret.
  const where = issue === undefined ? '' : ` (${issue.path.join('.')}: ${issue.code})`;
  throw new DomainError(
    'store_unavailable',
    `the controller does not understand the answer of the server of Keyframe${where}; upgrade the older of the two`,
  );
}
