import { type Cable, connectMachine, layCable } from '../cable.ts';
import { runTool } from '../run-tool.ts';
import type { NodeSpace } from './node-space.ts';

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
 * Lays a cable between this machine and the namespaces of a node, and a bridge for pods there. The machine gets a route to
 * nodes, pods and Services; they get none to anywhere but the machine's end of the cable. All of it goes with the namespaces.
 */
export async function connectNode(space: NodeSpace): Promise<NodeNetwork> {
  const cable = await layCable(space.pid);
  const network = networkAt(cable.range);
  await setUp(cable, network, space);
  return network;
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

async function setUp(cable: Cable, network: NodeNetwork, space: NodeSpace): Promise<void> {
  const { nodeAddress, podRange, serviceRange, bridge } = network;
  const gateway = podRange.replace('.0/', '.1/');
  await space.run('sh', ['-c', nodeScript, 'network', `${nodeAddress}/30`, gateway, serviceRange, bridge]);
  const machineAddress = await connectMachine(cable);
  const all = machineAddress.replace('.0.1', '.0.0/16');
  await runTool('ip', ['route', 'add', all, 'via', nodeAddress, 'dev', cable.link]);
}
