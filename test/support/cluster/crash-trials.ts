import { expect } from '@jest/globals';
import type { SecretSnapshot } from '../../../src/controller/generated/secret-snapshot.ts';
import type { ApiProxy } from '../faults/api-proxy.ts';
import { snapshotsTakenBy, tokensMadeBy } from './resource-rows.ts';
import { type ResourceSite, readyOf } from './resource-site.ts';
import { SecretWatch, secretValues } from './secret-watch.ts';
import type { Stack } from './stack.ts';
import type { TokenSite } from './token-site.ts';
import { waitFor } from '../fixtures/wait-for.ts';

/** Where ServiceTokens are tried, and what the controllers send to the API server through. */
export interface TokenGround {
  readonly stack: Stack;
  readonly site: TokenSite;
  readonly api: ApiProxy;
}

/** Where SecretSnapshots are tried. */
export interface SnapshotGround {
  readonly stack: Stack;
  readonly site: TokenSite;
  readonly snapshots: ResourceSite<SecretSnapshot>;
}

let made = 0;

/** A ServiceToken of the site, and every value that ever was on its way to its Secret. */
export class TokenTrial {
  readonly name: string;
  readonly #ground: TokenGround;
  readonly #watch: SecretWatch;
  #uid = '';

  private constructor(ground: TokenGround, name: string, watch: SecretWatch) {
    this.#ground = ground;
    this.name = name;
    this.#watch = watch;
  }

  static async open(ground: TokenGround): Promise<TokenTrial> {
    const { stack, site } = ground;
    const name = `token-${++made}`;
    return new TokenTrial(ground, name, await SecretWatch.open(stack.kube, { namespace: site.namespace, name }));
  }

  async create(spec: object = {}): Promise<void> {
    await this.#ground.site.create(spec, this.name);
    this.#uid = (await this.#ground.site.resource(this.name)).metadata.uid;
  }

  get uid(): string {
    return this.#uid;
  }

  /** What the Secret ever held, and what the controller sent for it, whether or not it arrived. */
  get values(): ReadonlySet<string> {
    const held = this.#watch.events.map(({ secret }) => secretValues(secret).get('token') ?? '');
    const secretsPath = `/api/v1/namespaces/${this.#ground.site.namespace}/secrets`;
    const sent = this.#ground.api
      .passages(({ method, path }) => ['POST', 'PUT', 'PATCH'].includes(method) && path.startsWith(secretsPath))
      .map(({ request }) => JSON.parse(request.body.toString()) as Parameters<typeof secretValues>[0])
      .filter(({ metadata }) => metadata.name === this.name)
      .map((secret) => secretValues(secret).get('token') ?? '');
    return new Set([...held, ...sent].filter((value) => value.startsWith('kf_')));
  }

  async expectIssued(serial: number): Promise<void> {
    const { status, metadata } = await this.#ground.site.resource(this.name);
    expect(status).toMatchObject({ serial, secretName: this.name, observedGeneration: metadata.generation });
    expect(status?.previousSerial).toBeUndefined();
    expect(status?.conditions?.find(({ type }) => type === 'Ready')).toMatchObject(readyTrue('Issued'));
  }

  /** One token, one value that works, and it is the one in the Secret. */
  async proveIssued(serial: number): Promise<void> {
    const [token, ...more] = await tokensMadeBy(this.#ground.stack.databaseUrl, this.#uid);
    expect(more).toEqual([]);
    expect(token).toMatchObject({ isRevoked: false, isSuspended: false });
    expect(token?.credentials.map((credential) => credential.serial)).toEqual(upTo(serial));
    expect(token?.credentials.filter(({ isLive }) => isLive)).toEqual([{ serial, state: 'active', isLive: true }]);
    expect((await this.#ground.site.resource(this.name)).status?.tokenId).toBe(token?.id);
    const value = await this.#ground.site.value(this.name);
    expect(this.values).toContain(value);
    expect(await this.#ground.site.answer(value)).toBe(200);
    await this.#expectDead([...this.values].filter((other) => other !== value));
  }

  async expectGone(): Promise<void> {
    expect(await this.#ground.stack.kube.find({ path: this.#ground.site.tokenPath(this.name) })).toBeUndefined();
  }

  /** Nothing that was ever made opens anything, or could be made to. */
  async proveDead(): Promise<void> {
    const tokens = await tokensMadeBy(this.#ground.stack.databaseUrl, this.#uid);
    expect(tokens.length).toBeLessThanOrEqual(1);
    expect(tokens.flatMap(({ credentials }) => credentials.filter(({ isLive }) => isLive))).toEqual([]);
    await this.#expectDead([...this.values]);
  }

  async clear(): Promise<void> {
    await this.#ground.site.delete(this.name);
    await waitForPass(() => this.expectGone());
  }

  async #expectDead(values: readonly string[]): Promise<void> {
    this.#watch.close();
    expect(await Promise.all(values.map((value) => this.#ground.site.answer(value)))).toEqual(values.map(() => 401));
  }
}

const upTo = (serial: number): number[] => Array.from({ length: serial }, (_, index) => index + 1);

const readyTrue = (reason: string): object => ({ status: 'True', reason });

/** A SecretSnapshot of the site. */
export class SnapshotTrial {
  readonly name = `snapshot-${++made}`;
  readonly #ground: SnapshotGround;
  #uid = '';

  constructor(ground: SnapshotGround) {
    this.#ground = ground;
  }

  async create(deletionPolicy: 'Retain' | 'Delete'): Promise<void> {
    await this.#ground.snapshots.create(
      { source: { environmentRef: this.#ground.site.environment.ref }, deletionPolicy },
      this.name,
    );
    this.#uid = (await this.#ground.snapshots.get(this.name)).metadata.uid;
  }

  async expectTaken(): Promise<void> {
    const resource = await this.#ground.snapshots.get(this.name);
    expect(resource.status).toMatchObject({ secretCount: 1, environmentId: this.#ground.site.environment.id });
    expect(readyOf(resource)).toMatchObject(readyTrue('Taken'));
  }

  async proveOne(): Promise<void> {
    const { status } = await this.#ground.snapshots.get(this.name);
    expect(await snapshotsTakenBy(this.#ground.stack.databaseUrl, this.#uid)).toEqual([status?.snapshotId]);
  }

  async proveNone(): Promise<void> {
    expect(await snapshotsTakenBy(this.#ground.stack.databaseUrl, this.#uid)).toEqual([]);
  }
}

/** Waits until a look throws no more. */
export async function waitForPass(look: () => Promise<void>): Promise<void> {
  const passes = async (): Promise<true> => {
    await look();
    return true;
  };
  await waitFor('the resource to be as it should', passes);
}
