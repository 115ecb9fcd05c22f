import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectMachine, layCable } from './cable.ts';
import { ClusterError } from './cluster-error.ts';
import { Component } from './component.ts';
import type { MachineView } from './discovery.ts';
import { runTool } from './run-tool.ts';
import type { RunRecord } from './run-record.ts';
import { thisMachine } from './this-machine.ts';

/** The name by which this machine is known in the network of a cluster. */
export const machineName = 'keyframe-server';

/** A program and its arguments. */
export interface Command {
  readonly program: string;
  readonly args: readonly string[];
}

const patienceMs = 20_000;
const pollMs = 20;
const path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

// Arguments: the file of known names, the file that says that it is ready.
const holdScript = `ip link set lo up
mount --bind "$1" /etc/hosts
touch "$2"
exec sleep infinity`;

/**
 * A network in which only a cluster and its controller are, joined to this machine by a cable. There is no route to anywhere
 * else, and nothing on this machine's loopback addresses can be reached. The kernel removes it with its last process.
 */
export class NetworkSpace {
  /** This machine's address in it. */
  readonly machineAddress: string;
  /** By which this machine reaches what listens in it. */
  readonly address: string;
  readonly #pid: number;
  readonly #folder: string;
  readonly #holder: Component;

  private constructor(made: { machineAddress: string; pid: number; folder: string; holder: Component }) {
    this.machineAddress = made.machineAddress;
    this.address = made.machineAddress.replace(/1$/, '2');
    this.#pid = made.pid;
    this.#folder = made.folder;
    this.#holder = made.holder;
  }

  /** Makes it; see `spaceFault`. Throws ClusterError. */
  static async start(record: RunRecord, onUnexpectedEnd: (message: string) => void): Promise<NetworkSpace> {
    const [hosts, ready] = [join(record.folder, 'hosts'), join(record.folder, 'network-ready')];
    writeFileSync(hosts, '');
    const args = ['--net', '--mount', 'sh', '-ec', holdScript, 'network', hosts, ready];
    const holder = new Component({
      name: 'network',
      program: 'unshare',
      args,
      env: { PATH: path },
      record,
      onUnexpectedEnd,
    });
    holder.start();
    const deadlineMs = Date.now() + patienceMs;
    while (!existsSync(ready)) {
      holder.requireRunning();
      if (Date.now() > deadlineMs) throw holder.failure('did not get ready');
      await sleep(pollMs);
    }
    const { pid } = holder;
    if (pid === undefined) throw new ClusterError('The network of the cluster is gone.');
    const machineAddress = await connectMachine(await layCable(pid));
    writeFileSync(hosts, `127.0.0.1 localhost\n${machineAddress} ${machineName}\n`);
    const space = new NetworkSpace({ machineAddress, pid, folder: record.folder, holder });
    await space.#connect();
    return space;
  }

  /** How a program runs in it, as one process. */
  command({ program, args }: Command): Command {
    // Entering mounts loses the present folder.
    const enter = ['--target', String(this.#pid), '--net', '--mount', 'sh', '-c', 'cd "$0" && exec "$@"', this.#folder];
    return { program: '/usr/bin/nsenter', args: [...enter, program, ...args] };
  }

  /** Ends the process that keeps it. */
  async end(): Promise<void> {
    await this.#holder.kill();
  }

  async #connect(): Promise<void> {
    const script = 'ip address add "$0/30" dev machine && ip link set machine up';
    const { program, args } = this.command({ program: 'sh', args: ['-c', script, this.address] });
    await runTool(program, args);
  }
}

/** Why no network of a cluster can be made here; undefined if one can. */
export function spaceFault(machine: Pick<MachineView, 'run'> = thisMachine(process.env)): string | undefined {
  const script =
    'ip link set lo up && ip link add keyframe0 type veth peer name keyframe1 && mount --bind "$0" /etc/hosts';
  const tried = machine.run('unshare', ['--net', '--mount', 'sh', '-c', script, '/etc/hosts']);
  if (tried === undefined) return 'unshare is not installed';
  return tried.status === 0 ? undefined : `the system allows none (${tried.stderr.trim()})`;
}
