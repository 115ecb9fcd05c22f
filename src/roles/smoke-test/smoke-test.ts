import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { ApiClient } from '../../client/api-client.ts';
import { call } from '../../client/call.ts';
import { ClientError } from '../../client/client-error.ts';
import { ExitError, exitCodes } from '../../config/exit-error.ts';
import { isApiStatus } from '../../kube/client/api-error.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { collectionPath } from '../../kube/client/custom-resources.ts';
import { keyframeApiVersion, secretSyncKind } from '../../kube/client/keyframe-kinds.ts';
import { type SecretObject, SecretsClient, secretsPath } from '../../kube/client/secrets.ts';
import { type Logger, errorFields } from '../../observability/logger.ts';

export interface SmokeTestDeps {
  /** Of an instance admin. */
  readonly api: Pick<ApiClient, 'send'>;
  readonly kube: Pick<KubeClient, 'request'>;
  /** Where the SecretSync and its Secrets are created. */
  readonly namespace: string;
  readonly logger: Logger;
  /** Ends the test early; its objects are deleted all the same. */
  readonly signal: AbortSignal;
  /** For the first response of the API, and for each change to arrive. Default: a minute. */
  readonly timeoutMs?: number;
}

/** The name of the SecretSync and of its Secret; the Secret of its token appends `-token`. RBAC names them too. */
const smokeTestName = 'keyframe-smoke-test';

const tokenSecretName = `${smokeTestName}-token`;
const defaultTimeoutMs = 60_000;
const pollMs = 250;
const key = 'SMOKE_TEST';

interface SecretSyncObject {
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly reason: string; readonly message: string }[];
  };
}

/**
 * Writes a secret with the API, and waits until it, and then a change of it, arrives in a Kubernetes Secret. Every object is
 * created for the test and deleted at its end, also after a failure.
 */
export class SmokeTest {
  readonly #deps: SmokeTestDeps;
  readonly #secrets: SecretsClient;
  readonly #slug = `smoke-test-${randomBytes(4).toString('hex')}`;
  #hasOrganization = false;

  constructor(deps: SmokeTestDeps) {
    this.#deps = deps;
    this.#secrets = new SecretsClient({ client: deps.kube });
  }

  /** Throws ExitError, ClientError for what the API refused, and ApiError. */
  async run(): Promise<void> {
    try {
      await this.#signIn();
      await this.#deleteObjects();
      await this.#createSync(await this.#createToken());
      await this.#arrives('the secret arrived in a Kubernetes Secret');
      await this.#arrives('the change arrived there too');
    } catch (error) {
      // The first failure matters; a failure to delete must not replace it.
      await this.#deleteAll().catch((second: unknown) => {
        this.#deps.logger.warn(
          errorFields(second),
          `some objects of the test were not deleted: check ${this.#leftovers}`,
        );
      });
      throw error;
    }
    await this.#deleteAll();
  }

  get #leftovers(): string {
    return `the organization ${this.#slug}, the SecretSync ${smokeTestName} and its Secrets in ${this.#deps.namespace}`;
  }

  /** Waits until the API answers: the pods may have been started just now. */
  async #signIn(): Promise<void> {
    const { api, logger } = this.#deps;
    const me = await this.#waitFor(async () => {
      try {
        return (await call(api, 'GET /me')).body;
      } catch (error) {
        if (error instanceof ClientError && error.isOutage) return undefined;
        throw notAccepted(error);
      }
    }, 'the API does not respond: check whether the pods are ready, and their logs');
    if (me.type !== 'user' || !me.instanceAdmin) throw exitError(`the token is not an instance admin's: ${otherToken}`);
    logger.info('the API responds, and accepts the token');
  }

  async #createToken(): Promise<string> {
    const { api } = this.#deps;
    const slug = this.#slug;
    const displayName = 'Created by a smoke test; may be deleted';
    // The response may be lost, and the organization exist.
    this.#hasOrganization = true;
    const params = { org: slug, project: slug };
    await call(api, 'POST /organizations', { body: { slug, displayName } });
    await call(api, 'POST /projects/{org}', { params, body: { slug } });
    const { id } = (await call(api, 'POST /environments/{org}/{project}', { params, body: { slug } })).body;
    const created = await call(api, 'POST /service-tokens/{org}', {
      params,
      body: { name: 'smoke test', scope: 'environment', environmentId: id, permission: 'read', expiresInDays: 1 },
    });
    if (created.status !== 201 || !('token' in created.body)) {
      throw exitError('the API returned no value for a new service token');
    }
    return created.body.token;
  }

  async #createSync(token: string): Promise<void> {
    const { kube, namespace } = this.#deps;
    await this.#secrets.create(namespace, {
      metadata: { name: tokenSecretName },
      type: 'Opaque',
      data: { token: Buffer.from(token).toString('base64') },
    });
    const slug = this.#slug;
    const spec = {
      environmentRef: { organization: slug, project: slug, name: slug },
      tokenSecretRef: { name: tokenSecretName },
      target: { deletionPolicy: 'Delete' },
    };
    const body = {
      apiVersion: keyframeApiVersion,
      kind: secretSyncKind.kind,
      metadata: { name: smokeTestName },
      spec,
    };
    await kube.request({ method: 'POST', path: collectionPath(secretSyncKind, namespace), body });
  }

  /** Writes a new value and waits until the Secret holds it. */
  async #arrives(message: string): Promise<void> {
    const { api, namespace, logger } = this.#deps;
    const value = randomBytes(16).toString('hex');
    const begin = performance.now();
    const params = { org: this.#slug, project: this.#slug, env: this.#slug, key };
    await call(api, 'PUT /secrets/{org}/{project}/{env}/{key}', { params, body: { value } });
    const wanted = Buffer.from(value).toString('base64');
    const holdsIt = ({ data }: SecretObject): boolean => data?.[key] === wanted;
    try {
      await this.#waitFor(async () => {
        const secret = await this.#secrets.find({ namespace, name: smokeTestName });
        return secret !== undefined && holdsIt(secret) ? secret : undefined;
      }, 'the Secret does not hold the value');
    } catch (error) {
      throw error instanceof ExitError ? await this.#explained(error) : error;
    }
    logger.info({ milliseconds: Math.round(performance.now() - begin) }, message);
  }

  /** The failure with its reason, from the conditions of the SecretSync. */
  async #explained(cause: ExitError): Promise<ExitError> {
    const { kube, namespace } = this.#deps;
    const path = `${collectionPath(secretSyncKind, namespace)}/${smokeTestName}`;
    const { status } = await kube.request<SecretSyncObject>({ method: 'GET', path });
    const ready = status?.conditions?.find(({ type }) => type === 'Ready');
    if (ready !== undefined)
      return exitError(`${cause.message}; the SecretSync is ${ready.reason}: ${ready.message}`, cause);
    return exitError(
      `${cause.message}, and no controller has reconciled the SecretSync ${smokeTestName}: either none runs, or it does not serve the namespace ${namespace} (KEYFRAME_WATCH_NAMESPACES, in the chart watchNamespaces); check the pods and their logs`,
      cause,
    );
  }

  async #waitFor<T>(observe: () => Promise<T | undefined>, complaint: string): Promise<T> {
    const { signal, timeoutMs = defaultTimeoutMs } = this.#deps;
    const deadline = performance.now() + timeoutMs;
    while (!signal.aborted) {
      const seen = await observe();
      if (seen !== undefined) return seen;
      if (performance.now() > deadline) throw exitError(`after ${timeoutMs / 1000} s, ${complaint}`);
      await pause(pollMs, undefined, { signal }).catch(() => undefined);
    }
    throw exitError('the test was stopped');
  }

  async #deleteAll(): Promise<void> {
    // The second one is tried even if the first one fails.
    const ends = await Promise.allSettled([this.#deleteObjects(), this.#deleteOrganization()]);
    const failure = ends.find((end) => end.status === 'rejected');
    if (failure !== undefined) throw failure.reason;
  }

  /** The SecretSync first, so that the controller does not create the Secret again. Also the objects of an earlier test. */
  async #deleteObjects(): Promise<void> {
    const { namespace } = this.#deps;
    const secrets = secretsPath(namespace);
    for (const path of [
      `${collectionPath(secretSyncKind, namespace)}/${smokeTestName}`,
      `${secrets}/${smokeTestName}`,
      `${secrets}/${tokenSecretName}`,
    ]) {
      await this.#deps.kube.request({ method: 'DELETE', path }).catch((error: unknown) => {
        if (!isApiStatus(error, 404)) throw error;
      });
    }
  }

  async #deleteOrganization(): Promise<void> {
    if (!this.#hasOrganization) return;
    const { api } = this.#deps;
    const params = { org: this.#slug };
    await call(api, 'DELETE /organizations/{org}', { params }).catch(ignoreAbsent);
    await call(api, 'POST /organizations/{org}/purge', { params }).catch(ignoreAbsent);
  }
}

const otherToken =
  'give it the token of an instance admin of this database; the Secret of the installation is of no use if the database is older, or if its token was revoked';

function notAccepted(error: unknown): unknown {
  const isRefusal = error instanceof ClientError && error.isUnauthenticated;
  return isRefusal ? exitError(`the API does not accept the token: ${otherToken}`, error) : error;
}

function ignoreAbsent(error: unknown): void {
  if (!(error instanceof ClientError) || !error.isNotFound) throw error;
}

function exitError(message: string, cause?: unknown): ExitError {
  return new ExitError(exitCodes.failure, message, cause);
}
