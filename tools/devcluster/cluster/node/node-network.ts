import { ClusterError } from '../cluster-error.ts';
import type { NodeSpace } from './node-space.ts';
import { runTool } from './run-tool.ts';

/** The addresses of a node: all within one range, which this machine reaches by one route. */
export interface NodeNetwork {
  /** This machine's end of the cable, where the API server listens. */
  readonly machineAddress: string;
  readonly nodeAddress: string;
  readonly podRange: string;
  readonly serviceRange: string;
  readonly dnsService: string;
  readonly apiService: string;
  readonly bridge: string;
}

// 10.88.0.0/16 to 10.119.0.0/16.
const [firstRange, lastRange] = [88, 119];

function networkAt(range: number): NodeNetwork {
  return {
    machineAddress: `10.${range}.0.1`,
    nodeAddress: `10.${range}.0.2`,
    podRange: `10.${range}.1.0/24`,
    serviceRange: `10.${range}.64.0/18`,
    apiService: `10.${range}.64.1`,
    dnsService: `10.${range}.64.10`,
    bridge: 'pods',
  };
}

/**
 * Lays a cable (a veth pair) between this machine and the namespaces of a node, in the first range that is free, and a bridge
 * for pods there. The machine gets a route to nodes, pods and Services; they get none to anywhere but the machine's end of the
 * cable. All of it goes with the namespaces.
 */
export async function connectNode(space: NodeSpace): Promise<NodeNetwork> {
  const routes = await runTool('ip', ['route', 'show', 'table', 'all']);
  for (let range = firstRange; range <= lastRange; range += 1) {
    if (new RegExp(`\\b10\\.${range}\\.`).test(routes)) continue;
    const link = `keyframe${range}`;
    if (!(await layCable(link, space.pid))) continue;
    const network = networkAt(range);
    await setUp(link, network, space);
    return network;
  }
  throw new ClusterError(`No range of addresses from 10.${firstRange}.0.0/16 to 10.${lastRange}.0.0/16 is free.`);
}

/** False where the name, and so the range, is taken. */
async function layCable(link: string, pid: number): Promise<boolean> {
  try {
    await runTool('ip', ['link', 'add', link, 'type', 'veth', 'peer', 'name', 'machine', 'netns', String(pid)]);
    return true;
  } catch (error) {
    if (error instanceof ClusterError && error.message.includes('File exists')) return false;
    throw error;
  }
}

const nodeScript = `set -e
node=$1 gateway=$2 services=$3 bridge=$4
ip address add "$node" dev machine
ip link set machine up
ip link add "$bridge" type bridge
ip address add "$gateway" dev "$bridge"
ip link set "$bridge" up
# A Service's address has no owner: the packet has to be on its way before kube-proxy's rules turn it.
ip route add "$services" dev "$bridge"
echo 1 > /proc/sys/net/ipv4/ip_forward
[ -e /proc/sys/net/bridge ] || modprobe br_netfilter
echo 1 > /proc/sys/net/bridge/bridge-nf-call-iptables`;

async function setUp(link: string, network: NodeNetwork, space: NodeSpace): Promise<void> {
  const { machineAddress, nodeAddress, podRange, serviceRange, bridge } = network;
  const gateway = podRange.replace('.0/', '.1/');
  await space.run('sh', ['-c', nodeScript, 'network', `${nodeAddress}/30`, gateway, serviceRange, bridge]);
  await runTool('ip', ['address', 'add', `${machineAddress}/30`, 'dev', link]);
  await runTool('ip', ['link', 'set', link, 'up']);
  const all = machineAddress.replace('.0.1', '.0.0/16');
  await runTool('ip', ['route', 'add', all, 'via', nodeAddress, 'dev', link]);
}
