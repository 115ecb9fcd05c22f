import type { Plaintext } from '../../../src/domain/plaintext.ts';
import type { Caller } from '../../../src/domain/principal.ts';
import { type RevertCalls, revertCalls } from './revert-calls.ts';
import { type SecretCalls, secretCalls } from './secret-calls.ts';
import { authenticated, type TestServices, type TestToken, type World } from './services.ts';
import { type SnapshotCalls, snapshotCalls } from './snapshot-calls.ts';

/** A user or a service token, with its calls on one environment. */
export interface RunClient {
  readonly id: string;
  readonly secrets: SecretCalls;
  readonly snapshots: SnapshotCalls;
  readonly reverts: RevertCalls;
  /** Whether it is a token of the environment, which an undeletion ends. */
  readonly isTied: boolean;
}

/** Who calls one environment of a run: people of three roles, a token of the environment, and one of the organization. */
export class RunClients {
  /** Tokens of the environment that an undeletion has ended. */
  readonly ended: TestToken[] = [];
  readonly #services: TestServices;
  readonly #world: World;
  readonly #wideToken: TestToken;
  #token: TestToken;

  private constructor(services: TestServices, world: World, tokens: { readonly own: TestToken; wide: TestToken }) {
    this.#services = services;
    this.#world = world;
    this.#token = tokens.own;
    this.#wideToken = tokens.wide;
  }

  static async start(services: TestServices, world: World, wide: TestToken): Promise<RunClients> {
    return new RunClients(services, world, { own: await world.serviceToken(), wide });
  }

  /** The token of the environment that works, unless it has ended. */
  get token(): TestToken {
    return this.#token;
  }

  /** Makes a new token of the environment, which must be live, if the last one has ended. */
  async renew(): Promise<void> {
    if (this.ended.includes(this.#token)) this.#token = await this.#world.serviceToken();
  }

  /** Notes that an undeletion ended the token of the environment. */
  end(): void {
    if (!this.ended.includes(this.#token)) this.ended.push(this.#token);
  }

  /** One who may delete snapshots and the environment. */
  admin(number: number): { readonly id: string; readonly caller: Caller } {
    return number % 2 === 0 ? this.#world.owner : this.#world.admin;
  }

  /** One who may read and write every environment of the organization. */
  anywhere(number: number): { readonly id: string; readonly caller: Caller } {
    const { developer } = this.#world;
    const callers = [this.admin(0), this.admin(1), developer, this.#wideToken];
    return callers[number % callers.length] ?? developer;
  }

  /** One who may read and write the environment. */
  any(number: number): RunClient {
    const turn = number % 5;
    return turn === 4 ? this.client(this.#token, this.#token.token) : this.client(this.anywhere(turn));
  }

  /** The calls of a caller. With a token it is authenticated for each call, as by an edge. */
  client({ id, caller }: { readonly id: string; readonly caller: Caller }, token?: Plaintext): RunClient {
    const services = this.#services;
    const onEnvironment: World['onEnvironment'] = async (given, action) =>
      this.#world.onEnvironment(token === undefined ? given : await authenticated(services, token), action);
    const world = { ...this.#world, onEnvironment };
    return {
      id,
      isTied: token !== undefined,
      secrets: secretCalls(services, world, caller),
      snapshots: snapshotCalls(services, world, caller),
      reverts: revertCalls(services, world, caller),
    };
  }
}
