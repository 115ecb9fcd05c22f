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
  // For the images.
  '/usr/bin/buildah': 'buildah',
  '/usr/sbin/debootstrap': 'debootstrap',
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
  return namespaceFault(machine) ?? packageFault(machine);
}

function namespaceFault({ run }: Pick<MachineView, 'run'>): string | undefined {
  const tried = run('unshare', ['--net', '--mount', '--pid', '--fork', 'true']);
  if (tried === undefined) return 'unshare is not installed';
  return tried.status === 0 ? undefined : `namespaces cannot be made here (${tried.stderr.trim()})`;
}

function packageFault(machine: Pick<MachineView, 'run' | 'isExecutable'>): string | undefined {
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
