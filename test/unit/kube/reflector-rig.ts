import type { KubeClient } from '../../../src/kube/client/client.ts';
import type { KubeObject } from '../../../src/kube/client/objects.ts';
import { Reflector, type ReflectorLimits, type ReflectorSource } from '../../../src/kube/informer/reflector.ts';
import type { FailureKind } from '../../../src/kube/informer/watch-failure.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { ScriptedApi } from './scripted-api.ts';

const quick: Partial<ReflectorLimits> = {
  backoffInitialMs: 4,
  backoffMaxMs: 20,
  missingRetryMaxMs: 20,
  silenceMs: 10_000,
};

export interface RigOptions {
  readonly limits?: Partial<ReflectorLimits>;
  readonly source?: Partial<ReflectorSource>;
  readonly onUpsert?: (object: KubeObject) => void;
}

/** A reflector on a scripted API server, with a note of everything that its handler heard. */
export class ReflectorRig {
  readonly api: ScriptedApi;
  /** `+name@version` and `-name@version/uid`, in their order. */
  readonly heard: string[] = [];
  readonly failures: FailureKind[] = [];
  /** What could be asked for at the moment of each failure. */
  readonly atFailure: { readonly isSynced: boolean; readonly error: unknown }[] = [];
  readonly logged: { readonly level: string; readonly msg: string }[] = [];
  readonly #client: KubeClient;
  #reflector: Reflector<KubeObject> | undefined;

  private constructor(api: ScriptedApi) {
    this.api = api;
    this.#client = api.client();
  }

  static async open(): Promise<ReflectorRig> {
    return new ReflectorRig(await ScriptedApi.start());
  }

  get reflector(): Reflector<KubeObject> {
    if (this.#reflector === undefined) throw new Error('the reflector was not started');
    return this.#reflector;
  }

  start({ limits = {}, source = {}, onUpsert = () => {} }: RigOptions = {}): Reflector<KubeObject> {
    this.#reflector = new Reflector<KubeObject>({
      client: this.#client,
      clock: systemClock,
      logger: createLogger('debug', { write: (line: string) => void this.logged.push(JSON.parse(line)) }),
      source: { path: '/api/v1/things', ...source },
      handler: {
        onUpsert: (upserted) => {
          this.heard.push(`+${upserted.metadata.name}@${upserted.metadata.resourceVersion}`);
          onUpsert(upserted);
        },
        onDelete: ({ metadata }) =>
          void this.heard.push(`-${metadata.name}@${metadata.resourceVersion}/${metadata.uid}`),
      },
      limits: { ...quick, ...limits },
      onFailure: (kind) => {
        this.failures.push(kind);
        this.atFailure.push({ isSynced: this.reflector.isSynced, error: this.reflector.error });
      },
    });
    this.#reflector.start();
    return this.#reflector;
  }

  async close(): Promise<void> {
    await this.#reflector?.stop();
    await this.#client.close();
    await this.api.stop();
  }
}
