import type { TokensBackend } from '../../../src/controller/backend/tokens.ts';
import type { Asker } from '../../../src/domain/asker.ts';
import { DomainError } from '../../../src/domain/errors/domain-error.ts';
import { type AskedPlace, covers, type TokenPermission } from '../../../src/domain/grants.ts';
import { Plaintext } from '../../../src/domain/plaintext.ts';
import type {
  AllowedPlace,
  FederateInput,
  LiveToken,
  MintedToken,
  MintInput,
  PlaceIds,
  ResourceCredential,
  ResourceToken,
} from '../../../src/domain/resources/tokens.ts';
import { AuthenticationRefusal } from '../../../src/services/access/authentication.ts';
import type { FakeServices } from './fake-services.ts';

type Credential = { -readonly [K in keyof ResourceCredential]: ResourceCredential[K] };

interface HeldToken {
  readonly tokenId: string;
  readonly environmentId: string | null;
  readonly live: Omit<LiveToken, 'permission'>;
  readonly mintedAt: number;
  permission: TokenPermission;
  suspendedAt: Date | null;
  revokedAt: Date | null;
  readonly credentials: (Credential & { readonly value: string })[];
}

const now = new Date(0);
// A sweep ignores tokens that are younger.
const youthMs = 300_000;

/** The tokens of ServiceTokens, in memory; their values open the environments of the FakeServices. */
export class FakeTokens {
  /** Of the database. */
  clock = (): number => 0;
  /** Whether a controller reported who signs the ServiceAccount tokens of the cluster. */
  isIssuerKnown = true;
  /** The accounts that prove each token now, by its audience. */
  readonly provenBy = new Map<string, readonly string[]>();
  readonly #services: FakeServices;
  readonly #tokens = new Map<string, HeldToken>();
  #made = 0;

  constructor(services: FakeServices) {
    this.#services = services;
  }

  /** As the controllers call it. */
  get backend(): TokensBackend {
    return {
      live: async ({ namespaces }) =>
        await Promise.resolve({ tokens: this.#live(namespaces ?? undefined), next: null }),
      find: this.#stepped('finding a token', ({ uid }: Asker) => shown(this.#tokens.get(uid))),
      serialOf: this.#stepped('finding a serial', ({ uid }: Asker, value: Plaintext) => {
        return this.#tokens.get(uid)?.credentials.find((one) => one.value === value.reveal())?.serial;
      }),
      placeOf: async (asker, asked) => await this.#place(asker, asked),
      mayMint: async (asker, asked) => void (await this.#place(asker, asked)),
      mint: async (asker, asked, input) => {
        const place = await this.#place(asker, asked);
        return await this.#step('minting', () => this.#mint(asker, { ...asked, ...place }, input));
      },
      federate: async (asker, asked, input) => {
        const place = await this.#place(asker, asked);
        await this.#step('federating', () => this.#federate(asker, { ...asked, ...place }, input));
      },
      activate: this.#stepped('activating', ({ uid }: Asker, serial: number) => this.#activate(uid, serial)),
      revokeSerial: this.#stepped('revoking a serial', ({ uid }: Asker, serial: number) => {
        this.#change(uid, ({ credentials }) => {
          for (const one of credentials.filter((each) => each.serial === serial)) one.revokedAt = now;
        });
      }),
      revoke: this.#stepped('revoking', ({ uid }: Asker) => this.revoke(uid)),
      suspend: this.#stepped('suspending', ({ uid }: Asker) => {
        const isLive = this.worksFor(uid) === true;
        this.#change(uid, (token) => {
          token.suspendedAt = now;
        });
        return isLive;
      }),
      resume: async (asker, asked) => {
        await this.#place(asker, asked);
        await this.#step('resuming', () => {
          this.#change(asker.uid, (token) => {
            token.suspendedAt = null;
          });
        });
      },
      update: async (asker, asked) => {
        await this.#place(asker, asked);
        await this.#step('updating', () => {
          this.#change(asker.uid, (token) => {
            token.permission = asked.permission;
          });
        });
      },
    };
  }

  /** The token of a ServiceToken by its uid, as the database has it. */
  find(uid: string): ResourceToken | undefined {
    return shown(this.#tokens.get(uid));
  }

  /** Whether the token of a ServiceToken works; undefined if it has none. */
  worksFor(uid: string): boolean | undefined {
    const token = this.#tokens.get(uid);
    return token === undefined ? undefined : token.suspendedAt === null && token.revokedAt === null;
  }

  /** Ends the token of a ServiceToken for good, as an admin does, and reports it. */
  revoke(uid: string): void {
    const token = this.#tokens.get(uid);
    if (token === undefined || token.revokedAt !== null) return;
    token.revokedAt = now;
    this.#report(token);
  }

  #live(namespaces: readonly string[] | undefined): LiveToken[] {
    return [...this.#tokens.values()]
      .filter(({ live: { uid, namespace }, mintedAt }) => {
        const isLooked = namespaces?.includes(namespace) ?? this.clock() - mintedAt > youthMs;
        return isLooked && this.worksFor(uid) === true;
      })
      .map(({ live, permission }) => ({ ...live, permission }));
  }

  #stepped<Args extends unknown[], T>(name: string, act: (...args: Args) => T): (...args: Args) => Promise<T> {
    return async (...args) => await this.#step(name, () => act(...args));
  }

  async #step<T>(name: string, act: () => T): Promise<T> {
    await this.#services.onStep?.(`before ${name}`);
    const result = act();
    await this.#services.onStep?.(`after ${name}`);
    return result;
  }

  async #place({ grants }: Asker, asked: AskedPlace): Promise<AllowedPlace> {
    await this.#services.onStep?.('before admission to a place');
    if (!covers(grants, { ...asked, kind: 'ServiceToken' }))
      throw new DomainError('forbidden', 'no AccessGrant allows it');
    const { organization, project, environment } = asked;
    const found = this.#services.environments.get(`${organization}/${project}/${environment}`);
    await this.#services.onStep?.('after admission to a place');
    if (found === undefined) throw new DomainError('not_found', `there is no environment ${environment}`);
    this.#services.rules.judge();
    const { seen: clusterRules } = this.#services.rules;
    return { organizationId: 'o', projectId: 'p', environmentId: found.id, clusterRules };
  }

  #mint(
    { uid, namespace, name }: Asker,
    { organization, project, environment, permission, environmentId }: AskedPlace & PlaceIds,
    { serial }: MintInput,
  ): MintedToken {
    this.#made += 1;
    const live = { uid, name, namespace: namespace ?? '', organization, project, environment };
    const blank = { suspendedAt: null, revokedAt: null, permission };
    const fresh = {
      tokenId: `token-${this.#made}`,
      environmentId,
      ...blank,
      live,
      mintedAt: this.clock(),
      credentials: [],
    };
    const token = this.#tokens.get(uid) ?? fresh;
    if (token.revokedAt !== null) throw new DomainError('conflict', 'the token was revoked');
    this.#tokens.set(uid, token);
    const others = token.credentials.filter((one) => one.serial !== serial);
    const unused = { revokedAt: null, firstUsedAt: null, lastUsedAt: null, expiresAt: null, audience: null };
    const value = `kf_svc_${this.#made}`;
    const made = { serial, state: 'pending', createdAt: now, ...unused, value } as const;
    token.credentials.splice(0, Infinity, ...others, { ...made });
    this.#publish(token);
    return { tokenId: token.tokenId, serial, token: new Plaintext(value) };
  }

  #federate(asker: Asker, place: AskedPlace & PlaceIds, input: FederateInput): void {
    const { name, namespace, uid } = asker;
    if (!this.isIssuerKnown) throw new DomainError('issuer_unknown', 'no controller has reported it');
    const audience = `keyframe/instance/clusters/test/${namespace}/${name}`;
    for (const { credentials } of this.#tokens.values())
      for (const one of credentials.filter((each) => each.audience === audience)) one.audience = null;
    this.#mint(asker, place, input);
    this.#change(uid, ({ credentials }) => {
      for (const one of credentials.filter(({ serial }) => serial === input.serial))
        Object.assign(one, {
          state: 'active',
          audience,
          expiresAt: input.expiresAt,
          createdAt: new Date(this.clock()),
        });
    });
    this.provenBy.set(audience, input.serviceAccountNames);
  }

  /** Ends all credentials, as a recovery of the database does. */
  recover(uid: string): void {
    this.#change(uid, ({ credentials }) => {
      for (const one of credentials) Object.assign(one, { revokedAt: now, audience: null });
    });
  }

  #activate(uid: string, serial: number): void {
    if (this.#tokens.get(uid)?.revokedAt !== null) throw new DomainError('conflict', 'the token was revoked');
    this.#change(uid, ({ credentials }) => {
      for (const one of credentials.filter((each) => each.serial === serial)) one.state = 'active';
    });
  }

  #change(uid: string, change: (token: HeldToken) => void): void {
    const token = this.#tokens.get(uid);
    if (token === undefined) return;
    change(token);
    this.#report(token);
  }

  #report(token: HeldToken): void {
    this.#publish(token);
    this.#services.notify({ kind: 'service_token', serviceTokenId: token.tokenId });
  }

  /** Has each value of a token open what it may now. */
  #publish({ tokenId, environmentId, suspendedAt, revokedAt, credentials }: HeldToken): void {
    for (const { serial, state, value, revokedAt: endedAt } of credentials) {
      const principal = {
        type: 'service_token',
        id: tokenId,
        name: tokenId,
        organizationId: 'o',
        scope: 'environment',
        projectId: 'p',
        environmentId,
        permission: 'read',
        credentialId: `${tokenId}-${serial}`,
        expiresAt: null,
      } as const;
      const isOver = revokedAt !== null || endedAt !== null;
      const fault = isOver
        ? 'revoked'
        : suspendedAt !== null
          ? 'suspended'
          : state === 'pending'
            ? 'pending'
            : undefined;
      const refusal = fault && new AuthenticationRefusal(fault, `the token is ${fault}`, principal);
      this.#services.tokens.set(value, refusal ?? principal);
    }
  }
}

function shown(token: HeldToken | undefined): ResourceToken | undefined {
  if (token === undefined) return undefined;
  const { credentials, live: _live, mintedAt: _mintedAt, ...rest } = token;
  return { ...rest, organizationId: 'o', projectId: 'p', credentials: credentials.map((one) => ({ ...one })) };
}
