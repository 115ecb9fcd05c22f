import { thisMachine } from '../this-machine.ts';
import type { MachineView } from '../discovery.ts';

/** Programs that a node needs beside those that are built here, each with its Debian package. */
const packageOf: Readonly<Record<string, string>> = {
  '/usr/sbin/runc': 'runc',
  '/usr/lib/cni/bridge': 'containernetworking-plugins',
  '/usr/sbin/iptables': 'iptables',
  '/usr/sbin/ip': 'iproute2',
  '/usr/bin/nsenter': 'util-linux',
  '/usr/bin/openssl': 'openssl',
};

/** Who asks, besides the machine. */
interface Caller {
  readonly platform: string;
  readonly uid: number | undefined;
}

/** Why no node that runs pods can be had on this machine; undefined if one can, once `missingPackages` are installed. */
export function nodeFault(
  machine: Pick<MachineView, 'run' | 'isExecutable'> = thisMachine(process.env),
  { platform, uid }: Caller = { platform: process.platform, uid: process.getuid?.() },
): string | undefined {
  if (platform !== 'linux') return `a node needs Linux, and this is ${platform}`;
  if (uid !== 0) return 'a node needs root';
  const space = machine.run('unshare', ['--net', '--mount', '--pid', '--fork', 'true']);
  if (space === undefined) return 'unshare is not installed';
  if (space.status !== 0) return `namespaces cannot be made here (${space.stderr.trim()})`;
  const missing = missingPackages(machine);
  if (missing.length === 0 || machine.run('apt-get', ['--version'])?.status === 0) return undefined;
  return `${missing.join(', ')}: not installed, and there is no apt-get to install it`;
}

/** The Debian packages of the programs that are not there. */
export function missingPackages(
  { isExecutable }: Pick<MachineView, 'isExecutable'> = thisMachine(process.env),
): string[] {
  return Object.entries(packageOf)
    .filter(([program]) => !isExecutable(program))
    .map(([, name]) => name);
}
