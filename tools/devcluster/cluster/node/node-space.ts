import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findProcess, isRunning, type ProcessIdentity } from '../../../process-identity.ts';
import { ClusterError } from '../cluster-error.ts';
import { Component } from '../component.ts';
import type { RunRecord } from '../run-record.ts';
import { runTool } from '../run-tool.ts';

/** The environment of everything on the node. */
const nodeEnvironment = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' };

const patienceMs = 20_000;
const pollMs = 20;

// What the kubelet sets on a machine that is a node. It finds it set, on files mounted over the kernel's, so that this
// machine keeps what it has.
const tunables: Readonly<Record<string, string>> = {
  'vm/overcommit_memory': '1',
  'vm/panic_on_oom': '0',
  'kernel/panic': '10',
  'kernel/panic_on_oops': '1',
  'kernel/keys/root_maxkeys': '1000000',
  'kernel/keys/root_maxbytes': '25000000',
};

const groups = '/sys/fs/cgroup';

// Makes a control group in every hierarchy (one of version 2, or those of version 1, each a folder), joins it and lets it be the
// root of what the node sees. Then makes the namespaces. In version 2 a group with groups below it holds no process itself.
// Arguments: the group, the script of the first process and its arguments.
const groupScript = `set -e
group=$1; shift
if [ -e ${groups}/cgroup.controllers ]; then
  mkdir ${groups}/$group
  echo 0 > ${groups}/$group/cgroup.procs
else
  for hierarchy in ${groups}/*; do
    if [ -L "$hierarchy" ] || [ ! -e "$hierarchy/cgroup.procs" ]; then continue; fi
    mkdir "$hierarchy/$group"
    if [ -e "$hierarchy/cpuset.cpus" ]; then
      cat "$hierarchy/cpuset.cpus" > "$hierarchy/$group/cpuset.cpus"
      cat "$hierarchy/cpuset.mems" > "$hierarchy/$group/cpuset.mems"
    fi
    echo 0 > "$hierarchy/$group/cgroup.procs"
  done
fi
exec unshare --cgroup sh -ec '
  group=$1; shift
  if [ -e ${groups}/cgroup.controllers ]; then
    mkdir ${groups}/$group/node
    echo 0 > ${groups}/$group/node/cgroup.procs
  fi
  exec unshare --pid --fork --kill-child=SIGKILL --mount-proc --mount --propagation=private --net --uts --ipc sh -ec "$@"
' groups "$group" "$@"`;

// The first process of the space. Arguments: the group, the run's folder, the program to become.
const initScript = `group=$1 run=$2 pause=$3
mount --make-rshared /
if [ -e ${groups}/cgroup.controllers ]; then
  mount --bind ${groups}/$group ${groups}
else
  for hierarchy in ${groups}/*; do
    if [ -e "$hierarchy/$group" ]; then mount --bind "$hierarchy/$group" "$hierarchy"; fi
  done
fi
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

// How any other process of the node begins. Arguments: the program to become, with its own.
const joinScript = `for place in ${groups}/cgroup.procs ${groups}/*/cgroup.procs; do
  case $place in
    ${groups}/cgroup.procs | ${groups}/k8s.io/*) ;;
    *) [ ! -e "$place" ] || echo 0 > "$place" ;;
  esac
done
exec "$@"`;

/**
 * The namespaces in which a node lives: network, mounts, processes, control groups, host name. The kernel ends all that is in them, pods too,
 * when their first process ends, and takes mounts, devices and firewall rules with them; so nothing of a node outlives a crash.
 */
export class NodeSpace {
  readonly #controlGroup: string;
  readonly #record: RunRecord;
  readonly #guard: Component;
  readonly #components: Component[] = [];
  readonly #onUnexpectedEnd: (message: string) => void;
  #init: ProcessIdentity | undefined;
  #ending = false;

  private constructor({ record, pause, onUnexpectedEnd }: NodeSpaceOptions) {
    this.#record = record;
    this.#controlGroup = `keyframe-${basename(record.folder)}`;
    this.#onUnexpectedEnd = (message) => {
      if (!this.#ending) onUnexpectedEnd(message);
    };
    this.#guard = new Component({
      name: 'node',
      // It becomes unshare, whose end, which is what we can see of it, is the end of all.
      program: 'sh',
      args: [
        '-c',
        groupScript,
        'node',
        this.#controlGroup,
        initScript,
        'init',
        this.#controlGroup,
        record.folder,
        pause,
      ],
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

  get #enter(): string[] {
    const namespaces = ['--cgroup', '--pid', '--mount', '--net', '--uts', '--ipc'];
    return ['--target', String(this.pid), ...namespaces, 'sh', '-ec', joinScript, 'join'];
  }

  async #start(): Promise<void> {
    const { folder } = this.#record;
    mkdirSync(join(folder, 'log'));
    for (const [name, value] of Object.entries(tunables)) {
      const path = join(folder, 'sysctl', name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, `${value}\n`);
    }
    this.#record.addControlGroup(this.#controlGroup);
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
  /** Called when a process of the node ends without a request. */
  readonly onUnexpectedEnd: (message: string) => void;
}

interface NodeComponent {
  readonly name: string;
  readonly program: string;
  readonly args: readonly string[];
}
