import type { SecretSyncSpec } from '../../../../src/controller/generated/secret-sync.ts';
import { DomainError } from '../../../../src/domain/errors/domain-error.ts';
import { ApiError } from '../../../../src/kube/client/api-error.ts';
import { AuthenticationRefusal } from '../../../../src/services/access/authentication.ts';
import { secretSync } from '../builders.ts';
import { secrets, syncs } from '../controller-harness.ts';
import { settled } from '../fake-clock.ts';
import { serviceToken } from '../fake-services.ts';
import { TokenHarness, serviceTokensPath } from '../token-harness.ts';
import type { Ask, EnvironmentName, Step, SyncName } from './model-steps.ts';

export const syncNames: readonly SyncName[] = ['app', 'web'];
export const pathOf = (name: EnvironmentName): string => `acme/web/${name}`;

// A controller that keeps itself busy would end no test.
export const maxCalls = 20_000;
// Of a run; the last rest comes after it, and then the resync would.
const maxElapsedMs = 200_000;
// As long as a ServiceToken may wait for a place that was away during the whole run.
const lastRestMs = 300_000;
const restMs = 30_000;

/** A call that something is to happen at, once. */
interface Gate {
  readonly pattern: RegExp;
  readonly act: () => Promise<void> | void;
  readonly open: () => void;
}

/** A controller with all that may happen to it: what the steps of the model do. */
export class ModelWorld extends TokenHarness {
  /** What each SecretSync that exists asks for. */
  readonly asked = new Map<SyncName, Ask>();
  /** Whether the token of the Secret `token` works. */
  isTokenLive = true;
  isGranted = true;
  /** Whether acme/web/prod was away: a ServiceToken looks for it ever more rarely. */
  wasProdAway = false;
  /** What each key of a Secret may hold if its SecretSync may not read: what was committed or held since the last rest. */
  readonly candidates = new Map<string, Set<string>>();
  callCount = 0;
  readonly #startedAt = this.clock.now();
  readonly #gates: Gate[] = [];
  #made = 0;
  #token = 0;
  #release: (() => void) | undefined;

  /** Two SecretSyncs of acme/web/prod at rest, one of them without a token of a person. */
  static async started(): Promise<ModelWorld> {
    const world = new ModelWorld();
    world.cluster.onStep = (step) => world.#called(step);
    world.services.onStep = (step) => world.#called(step);
    world.grant();
    world.#replaceToken();
    for (const name of ['prod', 'dev'] as const) world.#create(name);
    world.#ask('app', 'prod');
    world.#ask('web', 'prod by a ServiceToken');
    await world.start();
    await world.clock.advance(2_000);
    return world;
  }

  /** Takes one step; returns whether all is at rest after it. */
  async take(step: Step): Promise<boolean> {
    if ('environment' in step) this.#change(step.do, step.environment);
    else if ('sync' in step) this.#changeSync(step);
    else if ('at' in step) this.#arm(step);
    else if (step.do === 'run') for (let turn = 0; turn < step.turns; turn += 1) await Promise.resolve();
    else if (step.do === 'pass') await this.#pass(step.ms);
    else if (step.do === 'settle') await settled();
    else if (step.do === 'rest') return await this.#restIfTime();
    else await this.#disturb(step.do);
    return false;
  }

  /** Mends everything, and lets time pass until all is at rest; not so much that a resync comes. */
  async rest(forMs = lastRestMs): Promise<void> {
    for (const gate of this.#gates.splice(0)) gate.open();
    this.#releaseWatches();
    this.lease.isTaken = false;
    this.#restoreFeed();
    await this.clock.advance(forMs);
  }

  /** The revision of an environment that exists, and what it holds. */
  environment(name: EnvironmentName): { readonly id: string; readonly revision: number } | undefined {
    return this.services.environments.get(pathOf(name));
  }

  /** How long the run has taken on its own clock. */
  get elapsedMs(): number {
    return this.clock.now() - this.#startedAt;
  }

  async #pass(ms: number): Promise<void> {
    if (this.elapsedMs < maxElapsedMs) await this.clock.advance(ms);
  }

  async #restIfTime(): Promise<boolean> {
    if (this.elapsedMs > maxElapsedMs) return false;
    await this.rest(restMs);
    return true;
  }

  #change(what: Step['do'], name: EnvironmentName): void {
    const exists = this.environment(name) !== undefined;
    if (what === 'create environment' && !exists) this.#create(name);
    else if (what === 'delete environment' && exists) {
      this.services.end(pathOf(name));
      this.wasProdAway ||= name === 'prod';
    } else if (what === 'commit' && exists) {
      const { id, revision } = this.environment(name) ?? { id: '', revision: 0 };
      this.services.change(pathOf(name), this.#values(name, `${id}:${revision + 1}`));
    }
  }

  #create(name: EnvironmentName): void {
    this.#made += 1;
    const id = `${name}-${this.#made}`;
    this.services.appear(pathOf(name), id, this.#values(name, `${id}:1`));
  }

  #values(name: EnvironmentName, value: string): Record<string, string> {
    const key = keyOf(name);
    this.candidates.set(key, (this.candidates.get(key) ?? new Set()).add(value));
    return { [key]: value };
  }

  #changeSync(step: Extract<Step, { readonly sync: SyncName }>): void {
    const { sync } = step;
    if (step.do === 'ask') this.#ask(sync, step.for);
    else if (step.do === 'delete and ask') {
      this.#delete(sync);
      this.#ask(sync, step.for);
    } else if (step.do === 'delete sync') this.#delete(sync);
    else if (step.do === 'delete secret') this.cluster.remove(`${secrets}/${sync}`);
    else if (this.target(sync) !== undefined) this.#edit(step.do, sync);
  }

  #edit(what: Step['do'], sync: SyncName): void {
    this.edit((secret) => {
      const { metadata } = secret;
      if (what === 'unlabel secret') metadata.labels = {};
      else if (what === 'consent') {
        const { 'keyframe.dev/source': _, 'keyframe.dev/sources': __, ...kept } = metadata.annotations ?? {};
        metadata.annotations = kept;
      } else {
        const keys = Object.keys(secret['data'] ?? {});
        secret['data'] = Object.fromEntries(keys.map((key) => [key, Buffer.from('edited').toString('base64')]));
        for (const key of keys) this.candidates.get(key)?.add('edited');
      }
    }, sync);
  }

  #ask(sync: SyncName, ask: Ask): void {
    this.asked.set(sync, ask);
    this.notePinned();
    const { metadata, spec } = secretSync({ name: sync, spec: { maxDeletedKeys: '100%', ...specOf(ask) } });
    const { tokenSecretRef, ...bare } = spec;
    if (ask === 'prod by a ServiceToken') this.putServiceToken(`${sync}-token`);
    const references: Readonly<Partial<Record<Ask, Partial<SecretSyncSpec>>>> = {
      'prod by a ServiceToken': { tokenRef: { name: `${sync}-token` } },
      'prod, keyless': {},
    };
    const reference = references[ask] ?? { ...(tokenSecretRef && { tokenSecretRef }) };
    this.cluster.put(syncs, metadata.name, (object) => {
      object['spec'] = { ...bare, ...reference };
    });
  }

  /** What SecretSyncs are pinned to may come into their Secrets however old it is. */
  notePinned(): void {
    const { id = '', revision = 0 } = this.environment('prod') ?? {};
    if (revision >= 2 && [...this.asked.values()].includes('prod at 2')) this.#values('prod', `${id}:2`);
  }

  #delete(sync: SyncName): void {
    this.asked.delete(sync);
    this.cluster.remove(`${syncs}/${sync}`);
  }

  async #disturb(what: Step['do']): Promise<void> {
    if (what === 'resume') this.#gates.shift()?.open();
    else if (what === 'lose feed') this.services.isFeedLost = true;
    else if (what === 'restore feed') this.#restoreFeed();
    else if (what === 'hold watches') this.#release ??= this.cluster.holdWatches();
    else if (what === 'release watches') this.#releaseWatches();
    else if (what === 'lose lease') await this.#lead(false);
    else if (what === 'take lease') await this.#lead(true);
    else this.#changeRights(what);
  }

  async #lead(isLeader: boolean): Promise<void> {
    this.lease.isTaken = !isLeader;
    // Until the Lease is asked for the next time.
    await this.#pass(2_500);
  }

  #restoreFeed(): void {
    if (this.services.isFeedLost) this.services.ready();
  }

  #changeRights(what: Step['do']): void {
    if (what === 'replace token') this.#replaceToken();
    else if (what === 'revoke token') this.#revokeToken();
    else if (what === 'revoke service token') {
      this.serviceTokens.revoke(this.serviceTokenUid('web'));
    } else if (what === 'revoke keyless token' || what === 'reinstate keyless token') {
      this.#setRevoked(what === 'revoke keyless token');
    } else if (what === 'grant' || what === 'withdraw grant') {
      this.isGranted = what === 'grant';
      if (this.isGranted) this.grant();
      else this.withdraw();
    }
  }

  #setRevoked(isRevoked: boolean): void {
    const id = this.environment('prod')?.id;
    if (id !== undefined) this.services.setRevoked(id, isRevoked);
  }

  /** Whether the keyless token of an environment was revoked. */
  isRevoked(environmentId: string): boolean {
    return this.services.keylessTokens.get(`ns ${environmentId}`)?.isRevoked === true;
  }

  /** Uid of the ServiceToken that a SecretSync reads with, if it names one. */
  serviceTokenUid(sync: SyncName): string {
    return this.cluster.get(`${serviceTokensPath}/${sync}-token`)?.metadata.uid ?? '';
  }

  #replaceToken(): void {
    this.#token += 1;
    const name = `static-${this.#token}`;
    this.services.tokens.set(`kf_svc_${name}`, serviceToken(name));
    this.putToken(`kf_svc_${name}`);
    this.isTokenLive = true;
  }

  #revokeToken(): void {
    const name = `static-${this.#token}`;
    const refusal = new AuthenticationRefusal('revoked', 'the token was revoked', serviceToken(name));
    this.services.tokens.set(`kf_svc_${name}`, refusal);
    this.services.notify({ kind: 'service_token', serviceTokenId: name });
    this.isTokenLive = false;
  }

  #releaseWatches(): void {
    this.#release?.();
    this.#release = undefined;
  }

  #arm({ do: what, at, moment }: Extract<Step, { readonly at: unknown }>): void {
    const { promise, resolve } = Promise.withResolvers<void>();
    const fail = (): never => {
      if (/[A-Z]/.test(at)) throw new ApiError(at, 503, 'ServiceUnavailable');
      throw new DomainError('store_unavailable', 'the database cannot be reached');
    };
    const act = what === 'fail' ? fail : () => promise;
    this.#gates.push({ pattern: new RegExp(`^${moment} ${at}`), act, open: resolve });
  }

  async #called(step: string): Promise<void> {
    this.callCount += 1;
    if (this.callCount > maxCalls) throw new Error('the controller does not come to rest');
    const gate = this.#gates.find(({ pattern }) => pattern.test(step));
    if (gate === undefined) return;
    // A gate holds one call; what it holds stays among the gates until it is opened.
    this.#gates.splice(this.#gates.indexOf(gate), 1, { ...gate, pattern: /^$/ });
    await gate.act();
  }
}

/** The key of each environment, which shows the origin of a value. */
export const keyOf = (name: EnvironmentName): string => name.toUpperCase();

function specOf(ask: Ask): Partial<SecretSyncSpec> {
  const environmentRef = (name: EnvironmentName): { organization: string; project: string; name: string } => ({
    organization: 'acme',
    project: 'web',
    name,
  });
  const source = (name: EnvironmentName): NonNullable<SecretSyncSpec['sources']>[number] => ({
    name,
    environmentRef: environmentRef(name),
    tokenSecretRef: { name: 'token', key: 'token' },
  });
  if (ask === 'prod and dev') return { sources: [source('prod'), source('dev')] };
  if (ask === 'dev') return { environmentRef: environmentRef('dev') };
  if (ask === 'prod at 2') return { revision: 2 };
  return ask === 'nothing, suspended' ? { suspend: true } : {};
}
