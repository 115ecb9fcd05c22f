import { expect } from '@jest/globals';
import { ApiProxy } from '../faults/api-proxy.ts';
import type { MovedClock } from '../faults/moved-clock.ts';
import { PostgresProxy } from '../faults/postgres-proxy.ts';
import type { ServerProcess } from '../api/server-process.ts';
import type { Stack } from './stack.ts';
import { waitFor } from '../fixtures/wait-for.ts';

/** A controller and its own ways to the API server and the database. */
export interface Member {
  readonly name: string;
  readonly api: ApiProxy;
  readonly database: PostgresProxy;
  server: ServerProcess;
}

/** Two controllers of one installation. */
export class LeaderPair {
  readonly members: readonly Member[];
  readonly #stack: Stack;
  readonly #clock: MovedClock | undefined;

  private constructor(stack: Stack, clock: MovedClock | undefined, members: readonly Member[]) {
    this.#stack = stack;
    this.#clock = clock;
    this.members = members;
  }

  /** Starts both, each with this clock. */
  static async start(resources: AsyncDisposableStack, stack: Stack, clock?: MovedClock): Promise<LeaderPair> {
    const members: Member[] = [];
    const pair = new LeaderPair(stack, clock, members);
    for (const name of ['first', 'second']) {
      const api = await ApiProxy.start(stack.kubeconfigFile);
      resources.defer(() => api.close());
      const database = await PostgresProxy.start(stack.databaseUrl);
      resources.defer(() => database.close());
      members.push({ name, api, database, server: await pair.startServer({ name, api, database }) });
    }
    return pair;
  }

  /** Starts the controller of a member. */
  async startServer({ name, api, database }: Omit<Member, 'server'>): Promise<ServerProcess> {
    // Longer than a standby takes on a busy machine to notice that the Lease is free.
    const env = { SHUTDOWN_DELAY: '10s' };
    const clock = this.#clock === undefined ? {} : { clock: this.#clock };
    const { kubeconfigFile } = api;
    return await this.#stack.startController({ name, kubeconfigFile, databaseUrl: database.url, env, ...clock });
  }

  /** Where the Lease is that they agree by. */
  get leasePath(): string {
    return `/apis/coordination.k8s.io/v1/namespaces/${this.#stack.namespaces[0]}/leases/keyframe-controller`;
  }

  /** Who leads now, and who stands by; waits until there is a leader. */
  async roles(): Promise<{ readonly leader: Member; readonly standby: Member }> {
    return await waitFor('one of the controllers to lead', async () => {
      const [first, second] = this.members;
      if (first === undefined || second === undefined) return undefined;
      const leads = [await isLeader(first), await isLeader(second)];
      expect(leads).not.toEqual([true, true]);
      if (leads[0] === true) return { leader: first, standby: second };
      return leads[1] === true ? { leader: second, standby: first } : undefined;
    });
  }

  /** Freezes the leader, which so goes on to believe that it leads, and has the other one lead at once. */
  async usurp({ leader, standby }: { readonly leader: Member; readonly standby: Member }): Promise<void> {
    leader.server.suspend();
    await this.#stack.kube.find({ method: 'DELETE', path: this.leasePath });
    await waitFor('the other one to lead', () => isLeader(standby));
  }

  /** Lets a frozen leader go on, until it has found out that it leads no more. */
  async thaw(leader: Member): Promise<void> {
    leader.server.resume();
    await waitFor('the thawed one to know', async () => !(await isLeader(leader)));
  }
}

/** Whether a controller works, as it says itself. */
export async function isLeader({ server }: Member): Promise<boolean> {
  if (!server.captured.isRunning) return false;
  return /^keyframe_controller_leader 1$/m.test(await server.metrics());
}
