import type { ClusterState } from './cluster-ceiling.ts';
import { validateClusterUid } from './cluster-registration.ts';
import { DomainError, invalidField } from './errors/domain-error.ts';
import { isKind } from './kubernetes-names.ts';

/** Another cluster, which holds a name now. */
export interface NameHolder {
  /** The uid of its namespace kube-system. */
  readonly heldBy: string;
  /** By the database's clock. */
  readonly seenAt: Date;
}

/** The numbers of the protocol of the port that a program knows, first and last. */
export interface ProtocolRange {
  readonly min: number;
  readonly max: number;
}

/** Of this program. `min` rises if a request or an answer of the port changes so that an older program misunderstands it. */
export const portProtocol: ProtocolRange = { min: 1, max: 1 };

/** A program at a side of the port. */
export interface PortProgram {
  /** Information only: nothing is decided by it. */
  readonly release: string;
  readonly protocol: ProtocolRange;
}

/** Who signs the tokens of the ServiceAccounts of a cluster, as its API server says. */
export interface ClusterIssuer {
  /** The claim `iss` of the tokens. */
  readonly iss: string;
  /** The public keys that verify them, as members of a JSON Web Key (RFC 7517) that are texts. */
  readonly keys: readonly Readonly<Record<string, string>>[];
}

/** What a controller says of itself and its cluster. */
export interface Hello {
  /** The uid of the namespace kube-system. */
  readonly uid: string;
  /** Whether the process holds the Lease. Only then its cluster counts as seen. */
  readonly isLeading: boolean;
  /** The kinds that it reconciles, such as SecretSync. One that the API server does not let it watch is missing. */
  readonly kinds: readonly string[];
  /** Undefined if the API server does not say it. What was said before then stays. */
  readonly issuer?: ClusterIssuer | undefined;
}

export interface HelloAnswer {
  /** Unless it is enabled, nothing is done for the cluster. */
  readonly state: ClusterState;
  /** The cluster that has the name, if that is another one. */
  readonly holder: NameHolder | undefined;
  /** Whether it is a cluster of the installation itself. Environments are made for no other one. */
  readonly isHome: boolean;
  /** The database's time. */
  readonly now: Date;
}

const maxKinds = 50;
const releaseForm = /^[0-9A-Za-z][0-9A-Za-z.+-]{0,63}$/;

/** Throws DomainError invalid_input for a hello that no controller says: users read its parts. */
export function checkHello({ uid, release, protocol: { min, max }, kinds }: Hello & PortProgram): void {
  const uidFault = validateClusterUid(uid);
  if (uidFault !== undefined) throw invalidField('uid', uidFault);
  if (!releaseForm.test(release)) throw invalidField('release', 'must be a release, such as 1.2.3');
  const isRange = Number.isSafeInteger(min) && Number.isSafeInteger(max) && min >= 1 && min <= max && max < 2 ** 31;
  if (!isRange) throw invalidField('protocol', 'must be two numbers from 1 on, the smaller one first');
  if (kinds.length > maxKinds || !kinds.every(isKind)) {
    throw invalidField('kinds', `must be at most ${maxKinds} kinds of Kubernetes`);
  }
}

/** The refusal of a controller that has no number of the protocol in common with the server; undefined if it has one. */
export function protocolRefusal(controller: PortProgram, server: PortProgram): DomainError | undefined {
  if (controller.protocol.min <= server.protocol.max && server.protocol.min <= controller.protocol.max)
    return undefined;
  const older = controller.protocol.max < server.protocol.min ? 'controller' : 'server';
  return new DomainError(
    'protocol_unsupported',
    `the controller (release ${controller.release}) knows the protocol numbers ${rangeText(controller)}, and the server ` +
      `(release ${server.release}) ${rangeText(server)}; upgrade the ${older}`,
  );
}

function rangeText({ protocol: { min, max } }: PortProgram): string {
  return min === max ? String(min) : `${min} to ${max}`;
}
