import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { ApiClient } from '../client/api-client.ts';
import { ClientError } from '../client/client-error.ts';
import { isApiStatus } from '../kube/client/api-error.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { collectionPath } from '../kube/client/custom-resources.ts';
import { keyframeApiVersion, secretSyncKind } from '../kube/client/keyframe-kinds.ts';
import { type SecretObject, SecretsClient, secretsPath } from '../kube/client/secrets.ts';
import { type Logger, errorFields } from '../observability/logger.ts';
import { TaskError } from './task-error.ts';

export interface SmokeTestDeps {
  /** Of an instance admin. */
  readonly api: Pick<ApiClient, 'get' | 'post' | 'put' | 'delete'>;
  readonly kube: Pick<KubeClient, 'request'>;
  /** Where the SecretSync and its Secrets are made for a while. */
  readonly namespace: string;
  readonly logger: Logger;
  /** Ends the test early; what it made is removed all the same. */
  readonly signal: AbortSignal;
  /** For the API to answer at first, and for each change to arrive; default: a minute. */
  readonly patienceMs?: number;
}

/** The name of the SecretSync and of its Secret; the Secret of its token has `-token` behind. RBAC names them too. */
const smokeTestName = 'keyframe-smoke-test';

const tokenSecretName = `${smokeTestName}-token`;
const defaultPatienceMs = 60_000;
const lookMs = 250;
const key = 'SMOKE_TEST';

interface SecretSyncObject {
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly reason: string; readonly message: string }[];
  };
}

/**
 * Writes a secret by the API and sees it, and a change of it, arrive in a Kubernetes Secret. Everything is made for this
 * alone and removed at the end, however that comes.
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

  /** Throws TaskError, ClientError for what the API refused, and ApiError. */
  async run(): Promise<void> {
    try {
      await this.#signIn();
      await this.#removeObjects();
      await this.#makeSync(await this.#makeToken());
      await this.#arrives('the secret arrived in a Kubernetes Secret');
      await this.#arrives('the change arrived there too');
    } catch (error) {
      // The first failure is what matters; it must not be lost to one of the removal.
      await this.#remove().catch((second: unknown) => {
        this.#deps.logger.warn(errorFields(second), `what the test made was not all removed: see ${this.#leftovers}`);
      });
      throw error;
    }
    await this.#remove();
  }

  get #leftovers(): string {
    return `the organization ${this.#slug}, the SecretSync ${smokeTestName} and its Secrets in ${this.#deps.namespace}`;
  }

  /** Waits until the API answers: the pods may have been started just now. */
  async #signIn(): Promise<void> {
    const { api, logger } = this.#deps;
    const { instanceAdmin } = await this.#waitFor(async () => {
      try {
        return await api.get<{ instanceAdmin?: boolean }>('/me');
      } catch (error) {
        if (error instanceof ClientError && error.isOutage) return undefined;
        throw notAccepted(error);
      }
    }, 'the API does not answer: see whether the pods are ready, and their logs');
    if (instanceAdmin !== true) throw new TaskError(`the token is not an instance admin's: ${otherToken}`);
    logger.info('the API answers, and knows the token');
  }

  async #makeToken(): Promise<string> {
    const { api } = this.#deps;
    const slug = this.#slug;
    const displayName = 'Made by a smoke test; may be deleted';
    // Its answer may be lost, and the organization there.
    this.#hasOrganization = true;
    await api.post('/organizations', { slug, displayName });
    await api.post(`/projects/${slug}`, { slug });
    const { id } = await api.post<{ id: string }>(`/environments/${slug}/${slug}`, { slug });
    const { token } = await api.post<{ token: string }>(`/service-tokens/${slug}`, {
      name: 'smoke test',
      scope: 'environment',
      environmentId: id,
      permission: 'read',
      expiresInDays: 1,
    });
    return token;
  }

  async #makeSync(token: string): Promise<void> {
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
    await api.put(`/secrets/${this.#slug}/${this.#slug}/${this.#slug}/${key}`, { value });
    const wanted = Buffer.from(value).toString('base64');
    const holdsIt = ({ data }: SecretObject): boolean => data?.[key] === wanted;
    try {
      await this.#waitFor(async () => {
        const secret = await this.#secrets.find({ namespace, name: smokeTestName });
        return secret !== undefined && holdsIt(secret) ? secret : undefined;
      }, 'the Secret does not hold the value');
    } catch (error) {
      throw error instanceof TaskError ? await this.#explained(error) : error;
    }
    logger.info({ milliseconds: Math.round(performance.now() - begin) }, message);
  }

  /** Why the Secret is not as it should be, by what the controller says of the SecretSync. */
  async #explained(cause: TaskError): Promise<TaskError> {
    const { kube, namespace } = this.#deps;
    const path = `${collectionPath(secretSyncKind, namespace)}/${smokeTestName}`;
    const { status } = await kube.request<SecretSyncObject>({ method: 'GET', path });
    const ready = status?.conditions?.find(({ type }) => type === 'Ready');
    if (ready !== undefined)
      return new TaskError(`${cause.message}; the SecretSync is ${ready.reason}: ${ready.message}`, { cause });
    return new TaskError(
      `${cause.message}, and no controller has looked at the SecretSync ${smokeTestName}: either none runs, or it does not serve the namespace ${namespace} (KEYFRAME_WATCH_NAMESPACES, in the chart watchNamespaces); see the pods and their logs`,
      { cause },
    );
  }

  async #waitFor<T>(look: () => Promise<T | undefined>, complaint: string): Promise<T> {
    const { signal, patienceMs = defaultPatienceMs } = this.#deps;
    const deadline = performance.now() + patienceMs;
    while (!signal.aborted) {
      const seen = await look();
      if (seen !== undefined) return seen;
      if (performance.now() > deadline) throw new TaskError(`after ${patienceMs / 1000} s, ${complaint}`);
      await pause(lookMs, undefined, { signal }).catch(() => undefined);
    }
    throw new TaskError('the test was told to stop');
  }

  async #remove(): Promise<void> {
    // Both are tried, whichever fails.
    const ends = await Promise.allSettled([this.#removeObjects(), this.#removeOrganization()]);
    const failure = ends.find((end) => end.status === 'rejected');
    if (failure !== undefined) throw failure.reason;
  }

  /** The SecretSync first, so that the controller does not make the Secret anew. Also what an earlier test has left. */
  async #removeObjects(): Promise<void> {
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

  async #removeOrganization(): Promise<void> {
    if (!this.#hasOrganization) return;
    const { api } = this.#deps;
    const path = `/organizations/${this.#slug}`;
    await api.delete(path).catch(ignoreAbsent);
    await api.post(`${path}/purge`).catch(ignoreAbsent);
  }
}

const otherToken =
  'give it the token of an instance admin of this database; the Secret made at the installation is of no use if the database was there before it, or if its token was revoked';

function notAccepted(error: unknown): unknown {
  const isRefusal = error instanceof ClientError && error.isUnauthenticated;
  return isRefusal ? new TaskError(`the API does not know the token: ${otherToken}`, { cause: error }) : error;
}

function ignoreAbsent(error: unknown): void {
  if (!(error instanceof ClientError) || !error.isNotFound) throw error;
}
