import { expect } from '@jest/globals';
import type { Target } from '../../src/controller/kinds/rollout/targets.ts';
import { parseMark, markAnnotation } from '../../src/controller/kinds/rollout/restart-mark.ts';
import type { Stack } from '../support/cluster/stack.ts';
import type { Condition, SiteOptions, SyncSite } from '../support/cluster/sync-site.ts';
import { type WaitOptions, waitFor } from '../support/fixtures/wait-for.ts';
import { Workloads } from '../support/cluster/workloads.ts';

export interface GuardedOptions extends SiteOptions {
  readonly onFailure: 'Hold' | 'Rollback';
  /** Names of Deployments; `web` by default. */
  readonly targets?: readonly string[];
  /** Their `spec.progressDeadlineSeconds`. */
  readonly deadlineSeconds?: number;
}

/** A SecretSync that restarts Deployments, whose pods do as the test says: a pod runs, or fails for a reason. */
export class GuardedSite {
  readonly sync: SyncSite;
  readonly workloads: Workloads;
  readonly targets: readonly Target[];

  private constructor(sync: SyncSite, workloads: Workloads, targets: readonly Target[]) {
    this.sync = sync;
    this.workloads = workloads;
    this.targets = targets;
  }

  /** Makes it in a namespace in which the controller may restart workloads; all pods run with what the Secret holds. */
  static async converged(stack: Stack, options: GuardedOptions): Promise<GuardedSite> {
    const { onFailure, targets: names = ['web'], deadlineSeconds = 2 } = options;
    const namespace = options.namespace ?? stack.takeNamespace();
    await stack.allowRollouts(namespace);
    const workloads = new Workloads(stack.kube, namespace);
    const targets = names.map((name): Target => ({ kind: 'Deployment', name }));
    const rollout = { targets, timeout: '1h', onFailure };
    const sync = await stack.makeSite({ ...options, namespace, spec: { rollout, ...options.spec } });
    for (const target of targets) {
      await workloads.create(target, { replicas: 1, progressDeadlineSeconds: deadlineSeconds });
    }
    const site = new GuardedSite(sync, workloads, targets);
    await site.waitForConverged('Converged');
    return site;
  }

  /** Changes the environment and waits until the status reports that; answers the revision. */
  async change(set: Readonly<Record<string, string>>, deleted: readonly string[] = []): Promise<number> {
    const { revision } = await this.sync.environment.change(set, deleted);
    await waitFor(`revision ${revision} to be taken up`, async () => {
      expect((await this.sync.sync()).status?.wantedRevision).toBe(revision);
      return true;
    });
    return revision;
  }

  /** Lets the pods of all Deployments run that wait for it, until Converged has this reason; answers the condition. */
  async waitForConverged(reason: string): Promise<Condition> {
    return await this.#until(reason, async ({ name }) => void (await this.workloads.runPods(name)));
  }

  /** The same while the new pods of some Deployments fail for a reason. */
  async waitWhileFailing(names: readonly string[], how: string, reason: string): Promise<Condition> {
    return await this.#until(reason, async ({ name }) => {
      await (names.includes(name) ? this.workloads.failPods(name, how) : this.workloads.runPods(name));
    });
  }

  async #until(reason: string, step: (target: Target) => Promise<void>): Promise<Condition> {
    return await waitFor(`Converged of ${this.sync.namespace} to be ${reason}`, async () => {
      for (const target of this.targets) await step(target);
      const condition = await this.sync.condition('Converged');
      expect(condition?.reason).toBe(reason);
      return condition;
    });
  }

  /** Waits while the new pods of all Deployments fail, until the Secret is taken back; answers the condition Ready. */
  async waitForRollback(how = 'CrashLoopBackOff'): Promise<Condition> {
    return await waitFor(`SecretSync of ${this.sync.namespace} to be RolledBack`, async () => {
      for (const { name } of this.targets) await this.workloads.failPods(name, how);
      const ready = await this.sync.condition('Ready');
      expect(ready?.reason).toBe('RolledBack');
      return ready;
    });
  }

  /** For which revision a Deployment was restarted last. */
  async restartedFor(name: string): Promise<number | undefined> {
    const marks = await this.workloads.marks({ kind: 'Deployment', name });
    return parseMark(marks[markAnnotation(this.sync.name)])?.revision;
  }

  async waitUntilRestartedFor(name: string, revision: number, options?: WaitOptions): Promise<void> {
    const what = `Deployment ${name} to be restarted for revision ${revision}`;
    await waitFor(what, async () => (await this.restartedFor(name)) === revision, options);
  }

  /** How often a Deployment was restarted or otherwise changed. */
  async generation(name = 'web'): Promise<number> {
    return (await this.workloads.get({ kind: 'Deployment', name })).metadata.generation;
  }
}
