import { BlockList, type Socket, isIPv6 } from 'node:net';
import { plainAddress, sourceNetwork } from './source-address.ts';

export interface ConnectionLimits {
  /** All open connections. */
  readonly maxConnections: number;
  /** Open connections of one address, or of one /64 network of IPv6; 0 for no limit. */
  readonly maxConnectionsPerPeer: number;
  /** Addresses and CIDR ranges of proxies. They have no limit per peer, because each forwards many clients. */
  readonly trustedProxies: readonly string[];
}

/** `waiting`: no complete header yet; `idle`: between two requests; `sending`: a complete response waits for its reader. */
type State = 'waiting' | 'idle' | 'sending' | 'serving';

/** Connections by state. Each set begins with the connection that has been in its state for longest. */
type Group = Readonly<Record<State, Set<Socket>>>;

/** The group of all trusted proxies. */
const unlimitedPeer = '';

/**
 * Limits the connections of all peers together and of each peer. A new connection above a limit replaces the connection
 * that has waited longest for a complete header, else the one that has been idle for longest, else the one whose reader
 * has taken longest for a complete response. A connection that serves a request is never replaced. If all of them serve
 * requests, the new connection is refused.
 */
export class Connections {
  readonly #limits: ConnectionLimits;
  readonly #trusted: BlockList;
  readonly #all = newGroup();
  readonly #peers = new Map<string, Group>();
  readonly #places = new Map<Socket, { peer: string; state: State }>();

  constructor(limits: ConnectionLimits) {
    this.#limits = limits;
    this.#trusted = blockListOf(limits.trustedProxies);
  }

  /** How many connections are open. */
  get size(): number {
    return this.#places.size;
  }

  /** Adds a new connection and removes it when it closes. Returns false if it must be refused. */
  admit(socket: Socket): boolean {
    const peer = this.#peerOf(socket);
    const { maxConnections, maxConnectionsPerPeer } = this.#limits;
    const ofPeer = this.#peers.get(peer);
    const isLimited = peer !== unlimitedPeer && maxConnectionsPerPeer > 0;
    if (isLimited && ofPeer !== undefined && !this.#makeRoom(ofPeer, maxConnectionsPerPeer)) return false;
    if (!this.#makeRoom(this.#all, maxConnections)) return false;
    this.#places.set(socket, { peer, state: 'waiting' });
    this.#add(socket);
    socket.once('close', () => this.#leave(socket));
    return true;
  }

  /** Sets the state of a connection. Does nothing if it has closed. */
  mark(socket: Socket, state: Exclude<State, 'waiting'>): void {
    const place = this.#places.get(socket);
    if (place === undefined) return;
    this.#remove(socket);
    place.state = state;
    this.#add(socket);
  }

  /** Returns false if every connection of the group serves a request. */
  #makeRoom(group: Group, limit: number): boolean {
    if (sizeOf(group) < limit) return true;
    for (const connections of [group.waiting, group.idle, group.sending]) {
      for (const socket of connections) {
        // Its slot is free at once, not when the socket has closed.
        this.#leave(socket);
        socket.destroy();
        return true;
      }
    }
    return false;
  }

  #leave(socket: Socket): void {
    this.#remove(socket);
    this.#places.delete(socket);
  }

  #add(socket: Socket): void {
    const { peer, state } = this.#places.get(socket) ?? {};
    if (peer === undefined || state === undefined) return;
    const ofPeer = this.#peers.get(peer) ?? newGroup();
    this.#peers.set(peer, ofPeer);
    ofPeer[state].add(socket);
    this.#all[state].add(socket);
  }

  #remove(socket: Socket): void {
    const { peer, state } = this.#places.get(socket) ?? {};
    if (peer === undefined || state === undefined) return;
    const ofPeer = this.#peers.get(peer);
    this.#all[state].delete(socket);
    ofPeer?.[state].delete(socket);
    if (ofPeer !== undefined && sizeOf(ofPeer) === 0) this.#peers.delete(peer);
  }

  #peerOf(socket: Socket): string {
    const address = plainAddress(socket.remoteAddress ?? '');
    // A socket without an address is closed.
    if (address === undefined) return unlimitedPeer;
    const isTrusted = this.#trusted.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
    return isTrusted ? unlimitedPeer : sourceNetwork(address);
  }
}

function newGroup(): Group {
  return { waiting: new Set(), idle: new Set(), sending: new Set(), serving: new Set() };
}

function sizeOf({ waiting, idle, sending, serving }: Group): number {
  return waiting.size + idle.size + sending.size + serving.size;
}

function blockListOf(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', prefixLength] = network.split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    if (prefixLength === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefixLength), family);
  }
  return list;
}
