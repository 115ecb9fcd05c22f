import { isDeepStrictEqual } from 'node:util';
import { Rollouts } from '../../../src/controller/kinds/rollout/rollouts.ts';
import { formatMark, markAnnotation } from '../../../src/controller/kinds/rollout/restart-mark.ts';
import type { SecretSync, SecretSyncSpec } from '../../../src/controller/generated/secret-sync.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { fingerprint, secretSync } from './builders.ts';
import { type AnyObject, FakeCluster } from './fake-cluster.ts';
import { FakeClock, settled } from './fake-clock.ts';
import type { WorkloadRow } from '../../../src/controller/kinds/rollout/model.ts';

const deployments = '/apis/apps/v1/namespaces/ns/deployments';
const key = 'ns/app';

interface Reported {
  readonly reason: string | undefined;
  readonly message: string | undefined;
  readonly workloads: readonly WorkloadRow[] | undefined;
}

/** The rollouts of the SecretSync ns/app, on a cluster in memory, with a clock of the test's own. */
export class RolloutHarness {
  readonly cluster = new FakeCluster();
  readonly clock = new FakeClock();
  readonly rollouts: Rollouts;
  sync: SecretSync;
  /** What the status was reported, where it differed. */
  readonly reported: Reported[] = [];
  /** How often the SecretSync was to be reconciled because its data was given up. */
  abandoned = 0;
  #revision = 0;

  constructor(names: readonly string[] = ['web'], timeout = '10m') {
    this.sync = secretSync({ spec: rolloutOf(names, timeout) });
    this.rollouts = new Rollouts({
      client: this.cluster,
      clock: this.clock,
      logger: createLogger('error', { write: () => {} }),
      fingerprint,
      mayRestartIn: () => true,
      onAbandoned: () => void (this.abandoned += 1),
      current: () => this.sync,
      refreshStatus: () => this.#refresh(),
    });
    this.rollouts.startLeading();
  }

  /** Workloads that run with the data `a`, and a SecretSync whose Secret holds just that; all at rest. */
  async converged(): Promise<void> {
    for (const { name } of this.sync.spec.rollout?.targets ?? []) {
      this.put(name, (annotations) => {
        annotations[markAnnotation('app')] = formatMark({
          revision: 1,
          data: markOf('a'),
          at: this.clock.now() - 60_000,
        });
      });
      this.finish(name);
    }
    await this.hold('a');
    await this.clock.advance(10_000);
    this.takeRestarts();
  }

  /** The Secret holds data that this letter stands for. */
  async hold(letter: string): Promise<void> {
    this.#revision += 1;
    const revision = this.#revision;
    const state = { revision, revisionId: `r${revision}` };
    this.rollouts.learn(this.sync, { held: { ...state, data: markOf(letter), sources: [state] } });
    await settled();
  }

  /** Changes a workload's pod template, or makes the workload, as another client. */
  put(name: string, change: (annotations: Record<string, string>) => void): void {
    this.cluster.put(deployments, name, (object) => {
      const annotations = { ...annotationsOf(object) };
      change(annotations);
      const selector = { matchLabels: { app: name } };
      object['spec'] = { replicas: 1, selector, template: { metadata: { annotations } } };
    });
  }

  /** The pods of a workload are all up to date and available, or one of them is not. */
  finish(name: string, availableReplicas = 1): void {
    this.cluster.put(deployments, name, (object) => {
      const observedGeneration = object.metadata.generation;
      object['status'] = { observedGeneration, replicas: 1, updatedReplicas: 1, availableReplicas };
    });
  }

  /** The controller of a workload gives up on it. */
  giveUpOn(name: string): void {
    this.cluster.put(deployments, name, (object) => {
      const conditions = [{ type: 'Progressing', reason: 'ProgressDeadlineExceeded' }];
      const observedGeneration = object.metadata.generation;
      object['status'] = { observedGeneration, replicas: 1, updatedReplicas: 1, availableReplicas: 0, conditions };
    });
  }

  /** The one new pod of a workload waits for this reason. */
  putPod(name: string, reason: string): void {
    const template = annotationsOf(this.cluster.get(`${deployments}/${name}`) ?? {});
    this.cluster.put('/api/v1/namespaces/ns/pods', `${name}-pod`, (pod) => {
      Object.assign(pod.metadata, { annotations: { ...template }, labels: { app: name } });
      pod['status'] = { containerStatuses: [{ name: 'main', ready: false, state: { waiting: { reason } } }] };
    });
  }

  /** What they all converged with last, by the SecretSync's status. */
  recordConverged(): void {
    const { converged } = this.rollouts.outcome(this.sync);
    if (converged === undefined) throw new Error('they have not converged');
    this.sync = { ...this.sync, status: { ...this.sync.status, converged } };
  }

  remove(name: string): void {
    this.cluster.remove(`${deployments}/${name}`);
  }

  /** What the pod template of a workload says about the data: a letter of `hold`. */
  mark(name = 'web'): string | undefined {
    const object = this.cluster.get(`${deployments}/${name}`);
    const mark = object === undefined ? undefined : annotationsOf(object)[markAnnotation('app')];
    return mark?.split('/')[1]?.slice(0, 1);
  }

  /** Names of the workloads that were patched since the last time. */
  takeRestarts(): string[] {
    const prefix = `PATCH ${deployments}/`;
    const calls = this.cluster.takeCalls().filter((call) => call.startsWith(prefix));
    return calls.map((call) => call.slice(prefix.length));
  }

  // As the real one: what the status says already is not written again.
  #refresh(): void {
    const { claim, workloads } = this.rollouts.outcome(this.sync);
    const reported = { reason: claim?.reason, message: claim?.message, workloads };
    if (!isDeepStrictEqual(reported, this.reported.at(-1))) this.reported.push(reported);
  }

  async stop(): Promise<void> {
    await this.rollouts.drain(0);
    await this.rollouts.close();
  }

  get key(): string {
    return key;
  }
}

export const restartOf = (name: string): RegExp => new RegExp(`^PATCH ${deployments}/${name}$`);

export function rolloutOf(
  names: readonly string[],
  timeout = '10m',
  onFailure: 'Hold' | 'Rollback' = 'Hold',
): Pick<SecretSyncSpec, 'rollout'> {
  return { rollout: { targets: names.map((name) => ({ kind: 'Deployment', name })), timeout, onFailure } };
}

function markOf(letter: string): string {
  return letter.repeat(32);
}

function annotationsOf(object: Partial<AnyObject>): Readonly<Record<string, string>> {
  const spec = object['spec'] as { template?: { metadata?: { annotations?: Record<string, string> } } } | undefined;
  return spec?.template?.metadata?.annotations ?? {};
}
