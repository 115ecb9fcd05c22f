import type { Asker } from '../../../domain/asker.ts';
import { isClusterRefusal } from '../../../domain/cluster-refusal.ts';
import { DomainError } from '../../../domain/errors/domain-error.ts';
import { type AskedPlace, covers } from '../../../domain/grants.ts';
import type { ResourceToken, TokenOrGone } from '../../../domain/resources/tokens.ts';
import type { KubeObject, ObjectMeta } from '../../../kube/client/objects.ts';
import type { SecretsClient } from '../../../kube/client/secrets.ts';
import type { TokensBackend } from '../../backend/tokens.ts';
import { noteRefusal, noteRules } from '../../frame/cluster-ceiling.ts';
import { retryAfter } from '../../frame/failure.ts';
import type { ServiceToken } from '../../generated/service-token.ts';
import type { ReconcileContext, SuspendedNote } from '../../frame/kind-rules.ts';
import { type Outcome, failureOutcome } from '../../frame/outcome.ts';
import { type AskerDeps, askerOf } from '../asker-of.ts';
import { driftRepaired } from '../secret-claims/messages.ts';
import { type Rest, type SecretFacts, type Step, judge } from './judge.ts';
import { clusterRefused, grantChanged, secretUnstable } from './messages.ts';
import { type ObserveDeps, observeSecret } from './observe.ts';
import type { TokenStates, TokenState } from './state.ts';
import { deniedOutcome, deniedText, expiryWarning, restOutcome } from './outcome.ts';
import { placeOf, secretOf, timesOf } from './resource.ts';
import type { TokenSecrets } from './write.ts';

export interface ReconcilerDeps extends AskerDeps {
  readonly backend: { readonly tokens: Omit<TokensBackend, 'live'> };
  readonly states: TokenStates;
  readonly secrets: TokenSecrets;
  readonly claims: ObserveDeps['claims'];
  readonly secretsClient: Pick<SecretsClient, 'find'>;
  readonly watchedSecret: (key: string) => KubeObject | undefined;
  /** Called with whether an unmanaged Secret, which the watch by label does not show, has the name. */
  readonly onUnmanaged: (key: string, resource: ServiceToken, isUnmanaged: boolean) => void;
  /** Records a Warning Event about a value that expires soon. */
  readonly warn: (resource: ServiceToken, message: string) => void;
  /** Records an Event about what a write has repaired. */
  readonly onRepaired: (resource: ServiceToken, note: string) => void;
  /** The time by the database's clock. */
  readonly serverNow: () => number;
}

/** One reconcile of a ServiceToken. */
interface TokenContext extends ReconcileContext<ServiceToken> {
  readonly state: TokenState;
  readonly asker: Asker;
}

// Replacing a token whose value was revoked takes five steps.
const maxSteps = 12;
const maxNameLength = 200;

/** Keeps the token of each ServiceToken, and a valid value in its Secret. */
export class ServiceTokenReconciler {
  readonly #deps: ReconcilerDeps;

  constructor(deps: ReconcilerDeps) {
    this.#deps = deps;
  }

  /** One reconcile. Throws DomainError and ApiError. */
  async reconcile(context: ReconcileContext<ServiceToken>): Promise<Outcome<ServiceToken>> {
    try {
      return await this.#converge(this.#contextOf(context));
    } catch (error) {
      // The creation of an environment causes no event for this resource, so it is polled.
      if (!(error instanceof DomainError) || error.code !== 'not_found') throw error;
      return { ...failureOutcome<ServiceToken>(error), next: retryAfter(error) };
    }
  }

  /**
   * Suspends or resumes the token of a suspended ServiceToken according to the grants. Does nothing else. Throws
   * DomainError and ApiError.
   */
  async whileSuspended(suspended: ReconcileContext<ServiceToken>): Promise<SuspendedNote> {
    const context = this.#contextOf(suspended);
    const { resource, state, asker } = context;
    const token = await this.#findToken(context);
    if (token === undefined || token === 'gone' || token.revokedAt !== null) return {};
    // The token keeps its permission, even if the spec was changed.
    const asked: AskedPlace = { ...placeOf(resource), permission: token.permission };
    if (!isGranted(asker, asked)) return { message: deniedText(await this.#withdraw(context, token, asked)) };
    state.denied = undefined;
    if (token.suspendedAt === null) return {};
    try {
      await this.#deps.backend.tokens.resume(asker, asked);
    } catch (error) {
      if (!isRefused(error)) throw error;
      noteRefusal(context.seen);
      return { message: clusterRefused(error.detail) };
    }
    return {};
  }

  #contextOf(context: ReconcileContext<ServiceToken>): TokenContext {
    const state = this.#deps.states.ensure(context.key, context.resource.metadata.uid);
    return { ...context, state, asker: askerOf(this.#deps, 'ServiceToken', context) };
  }

  /** Takes one step at a time. Each step starts from newly observed facts. */
  async #converge(context: TokenContext): Promise<Outcome<ServiceToken>> {
    for (let step = 0; step < maxSteps; step += 1) {
      const outcome = await this.#step(context);
      if (outcome !== undefined) return outcome;
    }
    throw secretUnstable();
  }

  /** Revokes every value of a deleted ServiceToken's token. */
  async cleanUp(context: ReconcileContext<ServiceToken>): Promise<void> {
    await this.#deps.backend.tokens.revoke(askerOf(this.#deps, 'ServiceToken', context));
  }

  /** Takes one step. Returns the outcome if no further step is due. */
  async #step(context: TokenContext): Promise<Outcome<ServiceToken> | undefined> {
    const { key, resource, state } = context;
    const found = await this.#findToken(context);
    const token = found === 'gone' ? undefined : found;
    const isOver = token !== undefined && token.revokedAt !== null;
    if (!isOver && !isGranted(context.asker, placeOf(resource))) return await this.#denied(context, token);
    state.denied = undefined;
    const isSamePlace = isOver || (await this.#isSamePlace(context, found));
    const secret = await this.#observe(context);
    const isInTheWay = secret.state === 'unmanaged' || (secret.state === 'claimed' && secret.isPresent);
    this.#deps.onUnmanaged(key, resource, isInTheWay);
    const now = this.#deps.serverNow();
    const { permission } = placeOf(resource);
    const step = judge({ now, times: timesOf(resource), permission, token, isSamePlace, secret });
    if (step.do !== 'rest') return await this.#act(context, step, secret);
    this.#warn(context, step);
    return restOutcome(resource, step, { token, now: this.#deps.serverNow() });
  }

  async #findToken({ seen, asker }: TokenContext): Promise<TokenOrGone | undefined> {
    const found = await this.#deps.backend.tokens.find(asker);
    if (found !== undefined && found !== 'gone') seen.note('service token', found.tokenId);
    return found;
  }

  /** No grant covers the request: an existing token is suspended until a grant covers it again. */
  async #denied(context: TokenContext, token: ResourceToken | undefined): Promise<Outcome<ServiceToken>> {
    return deniedOutcome(await this.#withdraw(context, token, placeOf(context.resource)), token);
  }

  /** Suspends a token that no grant covers, and returns the refusal of the request. */
  async #withdraw(
    { asker, state }: TokenContext,
    token: ResourceToken | undefined,
    asked: AskedPlace,
  ): Promise<DomainError> {
    if (token?.suspendedAt === null) await this.#deps.backend.tokens.suspend(asker, 'grant_gone');
    // The refusal names the grants of the namespace, so it changes with them.
    const { grants, ownGrant } = asker;
    const about = JSON.stringify([asked, grants, ownGrant]);
    if (state.denied?.about !== about) state.denied = { about, error: await this.#refusal(asker, asked) };
    return state.denied.error;
  }

  /** Returns the refusal of the backend, which is audited. */
  async #refusal(asker: Asker, asked: AskedPlace): Promise<DomainError> {
    try {
      await this.#deps.backend.tokens.mayMint(asker, asked);
    } catch (error) {
      if (error instanceof DomainError && error.code === 'forbidden') return error;
      throw error;
    }
    throw grantChanged();
  }

  /**
   * Whether a token is for what the slugs name now. Throws DomainError not_found if they name nothing. A token that its
   * cluster may not use is suspended until it may.
   */
  async #isSamePlace({ resource, asker, seen }: TokenContext, token: TokenOrGone | undefined): Promise<boolean> {
    const { tokens } = this.#deps.backend;
    const place = await tokens.placeOf(asker, placeOf(resource)).catch(async (error: unknown) => {
      const isLive = token !== undefined && token !== 'gone' && token.suspendedAt === null;
      if (isLive && isRefused(error)) await tokens.suspend(asker, 'cluster_refused');
      throw error;
    });
    noteRules(seen, place.clusterRules);
    // The token was purged with its environment. Another environment has the slugs now.
    if (token === 'gone') return false;
    return (
      token === undefined ||
      (token.organizationId === place.organizationId &&
        token.projectId === place.projectId &&
        token.environmentId === place.environmentId)
    );
  }

  async #observe({ resource, seen, state, asker }: TokenContext): Promise<SecretFacts> {
    const { backend, secretsClient, watchedSecret, claims } = this.#deps;
    const serialOf: ObserveDeps['serialOf'] = async (value) => await backend.tokens.serialOf(asker, value);
    return await observeSecret({ secretsClient, watchedSecret, claims, seen, serialOf }, resource, state);
  }

  async #act(context: TokenContext, step: Exclude<Step, Rest>, secret: SecretFacts): Promise<undefined> {
    const { resource, state, asker } = context;
    const { backend, secrets } = this.#deps;
    switch (step.do) {
      case 'mint':
        await this.#mint(context, step, secret);
        return;
      case 'federate':
        await this.#federate(context, step);
        return;
      case 'delete':
        await secrets.remove(resource, step.leftover);
        return;
      case 'activate':
        await this.#activate(context, step.serial);
        return;
      case 'revoke':
        await backend.tokens.revokeSerial(asker, step.serial);
        return;
      case 'mark':
        state.verified = undefined;
        this.#reportRepair(context, await secrets.mark(resource, secret, state.drift !== undefined));
        return;
      case 'update':
        await backend.tokens.update(asker, placeOf(resource), step.expiries);
        return;
      case 'resume':
        await backend.tokens.resume(asker, placeOf(resource));
        return;
    }
  }

  /** Creates a value, writes it to the Secret and activates it. The value is not valid before it is activated. */
  async #mint(
    context: TokenContext,
    { serial, expiresAt }: Extract<Step, { do: 'mint' }>,
    secret: SecretFacts,
  ): Promise<void> {
    const { resource, state, asker } = context;
    const { backend, secrets } = this.#deps;
    const minted = await backend.tokens.mint(asker, placeOf(resource), { name: labelOf(resource), expiresAt, serial });
    state.verified = undefined;
    const written = await secrets.put(resource, secret, minted.token, state.drift !== undefined);
    // The Secret has changed, so the value was not written. The next step decides again.
    if (written === undefined) return;
    this.#reportRepair(context, written);
    await backend.tokens.activate(asker, serial, minted.token);
  }

  /** Creates a serial that JWTs prove, which is valid at once. */
  async #federate(
    { resource, asker }: TokenContext,
    { serial, expiresAt }: Extract<Step, { do: 'federate' }>,
  ): Promise<void> {
    const { serviceAccountNames = [] } = resource.spec;
    const input = { name: labelOf(resource), expiresAt, serial, serviceAccountNames };
    await this.#deps.backend.tokens.federate(asker, placeOf(resource), input);
  }

  /** Activates the value in the Secret. If it has another serial by now, the next step decides again. */
  async #activate({ resource, state, asker }: TokenContext, serial: number): Promise<void> {
    const { backend, secrets } = this.#deps;
    const value = await secrets.read(resource);
    state.verified = undefined;
    if (value === undefined) return;
    if ((await backend.tokens.serialOf(asker, value)) !== serial) return;
    await backend.tokens.activate(asker, serial, value);
  }

  #reportRepair({ resource, state }: TokenContext, written: ObjectMeta | undefined): void {
    if (written === undefined || state.drift === undefined) return;
    this.#deps.onRepaired(resource, driftRepaired(secretOf(resource).name, state.drift));
    state.drift = undefined;
  }

  #warn({ resource, state }: TokenContext, rest: Rest): void {
    if (rest.because !== 'issued' || !rest.isExpiring || state.warned === rest.current.serial) return;
    const isReported = resource.status?.conditions?.some(
      ({ type, status }) => type === 'Expiring' && status === 'True',
    );
    state.warned = rest.current.serial;
    if (isReported !== true) this.#deps.warn(resource, expiryWarning(resource, rest.current));
  }
}

/** The name of its token in the lists of the API. */
function labelOf({ metadata: { namespace = '', name } }: ServiceToken): string {
  return `${namespace}/${name}`.slice(0, maxNameLength);
}

function isGranted({ grants }: Asker, asked: AskedPlace): boolean {
  return covers(grants, { ...asked, kind: 'ServiceToken' });
}

function isRefused(error: unknown): error is DomainError {
  return error instanceof DomainError && isClusterRefusal(error);
}
