import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findProcess, isRunning, type ProcessIdentity } from '../../process-identity.ts';
import { ClusterError } from '../cluster-error.ts';
import { Component } from '../component.ts';
import type { RunRecord } from '../run-record.ts';
import { runTool } from './run-tool.ts';

/** The environment of everything on the node. */
const nodeEnvironment = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' };

const patienceMs = 20_000;
const pollMs = 20;

// What the kubelet sets on a machine that is a node. It finds it set, on files of ours laid over the kernel's, so that this
// machine keeps what it has.
const tunables: Readonly<Record<string, string>> = {
  'vm/overcommit_memory': '1',
  'vm/panic_on_oom': '0',
  'kernel/panic': '10',
  'kernel/panic_on_oops': '1',
  'kernel/keys/root_maxkeys': '1000000',
  'kernel/keys/root_maxbytes': '25000000',
};

// The first process of the space. Arguments: the run's folder, the program to become.
const initScript = `set -e
run=$1 pause=$2
mount --make-rshared /
mount -t tmpfs -o mode=755 tmpfs /run
mkdir -p /var/lib/cni
mount -t tmpfs tmpfs /var/lib/cni
mount --bind "$run/log" /var/log
(cd "$run/sysctl"; find . -type f) | while read -r name; do
  if [ -e "/proc/sys/$name" ]; then mount --bind "$run/sysctl/$name" "/proc/sys/$name"; fi
done
hostname keyframe-node
ip link set lo up
touch "$run/space-ready"
exec "$pause"`;

/**
 * The namespaces in which a node lives: network, mounts, processes, host name. The kernel ends all that is in them, pods too,
 * when their first process ends, and takes mounts, devices and firewall rules with them; so nothing of a node outlives a crash.
 */
export class NodeSpace {
  /** The control group of the node's pods. */
  readonly controlGroup: string;
  readonly #record: RunRecord;
  readonly #guard: Component;
  readonly #pause: string;
  readonly #components: Component[] = [];
  readonly #onUnexpectedEnd: (message: string) => void;
  #init: ProcessIdentity | undefined;
  #ending = false;

  private constructor({ record, pause, onUnexpectedEnd }: NodeSpaceOptions) {
    this.#record = record;
    this.#pause = pause;
    this.controlGroup = `keyframe-${basename(record.folder)}`;
    this.#onUnexpectedEnd = (message) => {
      if (!this.#ending) onUnexpectedEnd(message);
    };
    const namespaces = ['--pid', '--fork', '--mount-proc', '--mount', '--net', '--uts', '--ipc'];
    this.#guard = new Component({
      name: 'node',
      program: 'unshare',
      // The end of unshare, which is what we can see of it, is the end of all.
      args: [...namespaces, '--propagation=private', '--kill-child=SIGKILL', 'sh', '-c', initScript, ...this.#initArgs],
      env: nodeEnvironment,
      record,
      onUnexpectedEnd: this.#onUnexpectedEnd,
    });
  }

  /** Makes the namespaces, for root. Throws ClusterError with what the system said. */
  static async start(options: NodeSpaceOptions): Promise<NodeSpace> {
    const space = new NodeSpace(options);
    await space.#start();
    return space;
  }

  /** The process whose namespaces they are, by its number outside. */
  get pid(): number {
    if (this.#init === undefined) throw new ClusterError('The namespaces of the node are gone.');
    return this.#init.pid;
  }

  /** Starts a process of the node, which ends with it. */
  startComponent({ name, program, args }: NodeComponent): Component {
    const component = new Component({
      name,
      program: 'nsenter',
      args: [...this.#enter, program, ...args],
      env: nodeEnvironment,
      record: this.#record,
      onUnexpectedEnd: this.#onUnexpectedEnd,
    });
    this.#components.push(component);
    component.start();
    return component;
  }

  /** Runs a program on the node to its end, and answers what it printed. Throws ClusterError where it fails. */
  async run(program: string, args: readonly string[]): Promise<string> {
    return await runTool('nsenter', [...this.#enter, program, ...args]);
  }

  /** Waits until the look answers true. Throws ClusterError with the end of a component's log that has ended, or after 2 minutes. */
  async waitFor(what: string, look: () => Promise<boolean>): Promise<void> {
    const deadlineMs = Date.now() + 6 * patienceMs;
    while (!(await look())) {
      for (const component of [this.#guard, ...this.#components]) component.requireRunning();
      if (Date.now() > deadlineMs) throw new ClusterError(`The node in ${this.#record.folder}: ${what} did not come.`);
      await sleep(5 * pollMs);
    }
  }

  /** Ends all that runs on the node. */
  async end(): Promise<void> {
    this.#ending = true;
    const ended = this.#init === undefined ? undefined : untilEnded(this.#init);
    this.#init = undefined;
    await this.#guard.kill();
    await ended;
    await Promise.all(this.#components.map((component) => component.kill()));
  }

  get #initArgs(): string[] {
    return ['node', this.#record.folder, this.#pause];
  }

  get #enter(): string[] {
    return ['--target', String(this.pid), '--pid', '--mount', '--net', '--uts', '--ipc', '--'];
  }

  async #start(): Promise<void> {
    const { folder } = this.#record;
    mkdirSync(join(folder, 'log'));
    for (const [name, value] of Object.entries(tunables)) {
      const path = join(folder, 'sysctl', name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, `${value}\n`);
    }
    this.#record.addControlGroup(this.controlGroup);
    this.#guard.start();
    const deadlineMs = Date.now() + patienceMs;
    while (!existsSync(join(folder, 'space-ready'))) {
      this.#guard.requireRunning();
      if (Date.now() > deadlineMs) throw this.#guard.failure('did not get ready');
      await sleep(pollMs);
    }
    this.#init = this.#findInit();
    this.#record.addProcess(this.#init);
  }

  // See proc(5): the children of a process' one thread.
  #findInit(): ProcessIdentity {
    const { pid } = this.#guard;
    const children = pid === undefined ? '' : readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
    const init = findProcess(Number(children.trim().split(' ')[0]));
    if (init === undefined) throw this.#guard.failure('has no first process');
    return init;
  }
}

async function untilEnded(identity: ProcessIdentity): Promise<void> {
  while (isRunning(identity)) await sleep(pollMs);
}

interface NodeSpaceOptions {
  readonly record: RunRecord;
  /** The program that waits, and collects what has ended. */
  readonly pause: string;
  /** Called when a process of the node ends though nobody asked it to. */
  readonly onUnexpectedEnd: (message: string) => void;
}

interface NodeComponent {
  readonly name: string;
  readonly program: string;
  readonly args: readonly string[];
}
