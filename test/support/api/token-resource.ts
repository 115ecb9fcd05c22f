import type { GrantRule, TokenPermission } from '../../../src/domain/grants.ts';
import type { Plaintext } from '../../../src/domain/plaintext.ts';
import type { AnyCaller, ResourceCaller } from '../../../src/domain/principal.ts';
import type { AskedPlace } from '../../../src/domain/grants.ts';
import type { AuditEntry } from '../../../src/store/generated/client.ts';
import type { MintedToken, ResourceToken, TokenOrGone } from '../../../src/domain/resources/tokens.ts';
import { prismaOf } from '../database/prisma.ts';
import { resourceCaller } from './resource-caller.ts';
import type { TestServices, World } from './services.ts';

export interface Mint {
  /** 1 by default. */
  readonly serial?: number;
  readonly expiresAt?: Date | null;
  readonly permission?: TokenPermission;
  readonly caller?: AnyCaller;
}

/** The rule that lets ServiceTokens have all of a world's environment, or what is given. */
export function ruleFor({ slugs }: World, more: Partial<GrantRule> = {}): GrantRule {
  const { organization, project, environment } = slugs;
  const place = { organization, project, environments: [environment] };
  return { ...place, permission: 'read_write', kinds: ['ServiceToken'], ...more };
}

/** A ServiceToken `team-a/ci` for a world's environment, as the controller makes it act. */
export class TokenResource {
  readonly #services: TestServices;
  readonly #world: World;
  readonly caller: ResourceCaller;
  /** What its namespace is granted now: the whole environment, until a test changes it. */
  grants: GrantRule[];

  constructor(services: TestServices, world: World, { cluster }: { readonly cluster?: string } = {}) {
    this.#services = services;
    this.#world = world;
    this.grants = [ruleFor(world)];
    const own = cluster === undefined ? {} : { cluster };
    this.caller = resourceCaller({ kind: 'ServiceToken', grantsNow: () => this.grants, name: 'ci', ...own });
  }

  asked(permission: TokenPermission = 'read_write'): AskedPlace {
    return { ...this.#world.slugs, permission };
  }

  async mint({ serial = 1, expiresAt = null, permission, caller = this.caller }: Mint = {}): Promise<MintedToken> {
    const access = await this.#services.resourceAccess.mayMint(caller, this.asked(permission));
    return this.#services.resourceTokens.mint(access, { name: 'team-a/ci', serial, expiresAt });
  }

  async activate({ serial, token }: MintedToken, caller: AnyCaller = this.caller): Promise<void> {
    const access = await this.#services.resourceAccess.owner(caller, 'service_token.activate');
    await this.#services.resourceTokens.activate(access, serial, token);
  }

  /** Mints and activates. */
  async minted(input: Mint = {}): Promise<MintedToken> {
    const made = await this.mint(input);
    await this.activate(made, input.caller);
    return made;
  }

  /** What the audit says about a service token, in its order. */
  async auditOf(tokenId: string): Promise<readonly AuditEntry[]> {
    const entries = await prismaOf(this.#services.database).auditEntry.findMany({ orderBy: { id: 'asc' } });
    return entries.filter(({ target }) => (target as { serviceTokenId?: string }).serviceTokenId === tokenId);
  }

  async revokeSerial(serial: number): Promise<void> {
    const access = await this.#services.resourceAccess.owner(this.caller, 'service_token.revoke');
    await this.#services.resourceTokens.revokeSerial(access, serial);
  }

  async revoke(caller: AnyCaller = this.caller): Promise<void> {
    const access = await this.#services.resourceAccess.owner(caller, 'service_token.revoke');
    await this.#services.resourceTokens.revoke(access);
  }

  async suspend(): Promise<void> {
    const access = await this.#services.resourceAccess.owner(this.caller, 'service_token.suspend');
    await this.#services.resourceTokens.suspend(access, 'grant_gone');
  }

  async resume(permission?: TokenPermission): Promise<void> {
    const access = await this.#services.resourceAccess.token(
      this.caller,
      'service_token.resume',
      this.asked(permission),
    );
    await this.#services.resourceTokens.resume(access);
  }

  /** What it has, where that was not purged. */
  async find(caller?: AnyCaller): Promise<ResourceToken | undefined> {
    const found = await this.findOrGone(caller);
    if (found === 'gone') throw new Error('the token was purged');
    return found;
  }

  async findOrGone(caller: AnyCaller = this.caller): Promise<TokenOrGone | undefined> {
    return this.#services.resourceTokens.find(await this.#services.resourceAccess.owner(caller, 'service_token.read'));
  }

  async serialOf(value: Plaintext, caller: AnyCaller = this.caller): Promise<number | undefined> {
    const access = await this.#services.resourceAccess.owner(caller, 'service_token.read');
    return this.#services.resourceTokens.serialOf(access, value);
  }

  /** `opens`, or why authentication refuses the token. */
  async opens({ token }: { readonly token: Plaintext }): Promise<string> {
    return this.#services.authentication.authenticate(token.reveal()).then(
      () => 'opens',
      ({ fault }: { fault: string }) => fault,
    );
  }
}
