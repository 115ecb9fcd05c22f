import type { Asker } from '../../domain/asker.ts';
import type { AskedPlace } from '../../domain/grants.ts';
import type { Plaintext } from '../../domain/plaintext.ts';
import { plainName, type ResourceCaller } from '../../domain/principal.ts';
import type {
  AllowedPlace,
  FederateInput,
  LiveTokensAsked,
  LiveTokensPage,
  MintedToken,
  MintInput,
  MovedExpiry,
  SuspensionCause,
  TokenOrGone,
} from '../../domain/resources/tokens.ts';
import type { OwnAccess, OwnAction, ResourceAccess } from '../managed/access.ts';
import type { ResourceTokens } from '../managed/tokens.ts';
import { callersOf, type ClusterDeps } from './cluster-deps.ts';

export interface ClusterTokensDeps extends ClusterDeps {
  readonly resourceTokens: ResourceTokens;
}

/** Admits the ServiceTokens of one cluster, and acts on their service tokens. */
export class ClusterTokens {
  readonly #access: ResourceAccess;
  readonly #tokens: ResourceTokens;
  readonly #cluster: () => string;
  readonly #callerOf: (asker: Asker) => ResourceCaller;

  constructor({ resourceAccess, resourceTokens, cluster, sourceAddress }: ClusterTokensDeps) {
    this.#access = resourceAccess;
    this.#tokens = resourceTokens;
    this.#cluster = cluster;
    this.#callerOf = callersOf({ cluster, sourceAddress });
  }

  async find(asker: Asker): Promise<TokenOrGone | undefined> {
    return this.#tokens.find(await this.#owner(asker, 'service_token.read'));
  }

  async serialOf(asker: Asker, token: Plaintext): Promise<number | undefined> {
    return this.#tokens.serialOf(await this.#owner(asker, 'service_token.read'), token);
  }

  async placeOf(asker: Asker, asked: AskedPlace): Promise<AllowedPlace> {
    const access = await this.#access.token(this.#callerOf(asker), 'service_token.update', asked);
    const { organizationId, projectId, environmentId, clusterRules } = access;
    return { organizationId, projectId, environmentId, clusterRules };
  }

  async mayMint(asker: Asker, asked: AskedPlace): Promise<void> {
    await this.#access.mayMint(this.#callerOf(asker), asked);
  }

  async mint(asker: Asker, asked: AskedPlace, input: MintInput): Promise<MintedToken> {
    return this.#tokens.mint(await this.#access.mayMint(this.#callerOf(asker), asked), input);
  }

  async federate(asker: Asker, asked: AskedPlace, input: FederateInput): Promise<void> {
    await this.#tokens.federate(await this.#access.mayMint(this.#callerOf(asker), asked), input);
  }

  async activate(asker: Asker, serial: number, token: Plaintext): Promise<void> {
    await this.#tokens.activate(await this.#owner(asker, 'service_token.activate'), serial, token);
  }

  async revokeSerial(asker: Asker, serial: number): Promise<void> {
    await this.#tokens.revokeSerial(await this.#owner(asker, 'service_token.revoke'), serial);
  }

  async revoke(asker: Asker): Promise<void> {
    await this.#tokens.revoke(await this.#owner(asker, 'service_token.revoke'));
  }

  async suspend(asker: Asker, cause: SuspensionCause): Promise<boolean> {
    return this.#tokens.suspend(await this.#owner(asker, 'service_token.suspend'), cause);
  }

  async resume(asker: Asker, asked: AskedPlace): Promise<void> {
    await this.#tokens.resume(await this.#access.token(this.#callerOf(asker), 'service_token.resume', asked));
  }

  async update(asker: Asker, asked: AskedPlace, expiries: readonly MovedExpiry[]): Promise<void> {
    const access = await this.#access.token(this.#callerOf(asker), 'service_token.update', asked);
    await this.#tokens.update(access, expiries);
  }

  async live(asked: LiveTokensAsked): Promise<LiveTokensPage> {
    const { tokens, next } = await this.#tokens.live(this.#cluster(), asked);
    return { tokens: tokens.map((token) => ({ ...token, name: plainName(token.name) })), next };
  }

  async #owner<A extends OwnAction>(asker: Asker, action: A): Promise<OwnAccess<A>> {
    return this.#access.owner(this.#callerOf(asker), action);
  }
}
