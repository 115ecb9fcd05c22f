import { hashesEqual, parseToken } from '../../crypto/token.ts';
import { audienceOf, readAudience } from '../../domain/audience.ts';
import type { ClusterPrincipal } from '../../domain/cluster-principal.ts';
import { DomainError, type DomainErrorOptions } from '../../domain/errors/domain-error.ts';
import { type JwtCheck, type JwtFault, jwtFaults } from '../../domain/jwt-faults.ts';
import { limits } from '../../domain/limits.ts';
import { validateClusterName } from '../../domain/names.ts';
import { isJwt, judgeClaims, JwtError, readJwt, type UnverifiedJwt, verifySignature } from '../../identity/jwt.ts';
import { type ClusterProof, findClusterProofs } from '../../store/cluster-registrations.ts';
import { countHomeClusters } from '../../store/clusters.ts';
import type { Database } from '../../store/database.ts';
import { findHomeTokens } from '../../store/home-token.ts';
import { GroupedLookup } from '../kernel/grouped-lookup.ts';
import { workFor } from '../../store/pool-shares.ts';
import { AuthenticationRefusal } from './authentication.ts';
import { type IssuerKeys, KeysUnavailable } from './issuer-keys.ts';
import type { RefusedClusters } from './refused-clusters.ts';

export interface ClusterAuthenticationDeps {
  readonly database: Pick<Database, 'pool'>;
  readonly keys: Pick<IssuerKeys, 'keyFor'>;
  readonly refused: Pick<RefusedClusters, 'note'>;
}

/** The longest lifetime of the JWT of a controller. */
const maxAgeSeconds = 3_600;

const neededToken =
  'it needs the token of a cluster: the home token (kf_cls_…), or a token of the ServiceAccount of a registered controller';

/** A name that the home token does not prove, which is right itself. */
export class RefusedName extends DomainError {
  readonly cluster: Pick<ClusterPrincipal, 'name' | 'isHome'>;

  constructor(name: string, code: 'cluster_unknown' | 'limit_exceeded', detail: string, options?: DomainErrorOptions) {
    super(code, detail, options);
    this.cluster = { name, isHome: true };
  }
}

/**
 * Finds the cluster whose controller presents a token (docs/clusters.md). The home token works for every name that is not
 * registered as a remote cluster; a JWT works for the one cluster that its audience names. Whether anything is done for the
 * cluster is judged later: a controller of a disabled cluster must learn that.
 */
export class ClusterAuthentication {
  readonly #database: ClusterAuthenticationDeps['database'];
  readonly #keys: ClusterAuthenticationDeps['keys'];
  readonly #refused: ClusterAuthenticationDeps['refused'];
  readonly #proofs: GroupedLookup<string, ClusterProof>;

  constructor({ database, keys, refused }: ClusterAuthenticationDeps) {
    this.#database = database;
    this.#keys = keys;
    this.#refused = refused;
    this.#proofs = new GroupedLookup({
      look: (names) => findClusterProofs(database.pool, names),
      keyOf: (name) => name,
    });
  }

  /**
   * Nothing is cached, as in `Authentication`. `bearer` is without the word `Bearer`; `name` is what the request says of its
   * cluster, and `isHello` whether the request may claim it. Throws AuthenticationRefusal for a token that proves no cluster
   * or another one, RefusedName for a name that the home token does not prove, and DomainError issuer_unavailable and
   * store_unavailable.
   */
  async authenticate(
    bearer: string | undefined,
    name: string | undefined,
    { isHello = false }: { readonly isHello?: boolean } = {},
  ): Promise<ClusterPrincipal> {
    if (bearer === undefined || bearer === '') {
      throw new AuthenticationRefusal('missing', `a token is needed; ${neededToken}`);
    }
    if (name === undefined || validateClusterName(name) !== undefined) {
      throw new AuthenticationRefusal('malformed', 'the header Keyframe-Cluster must be the name of the cluster');
    }
    // Anyone can send a token: all such requests together use no more connections than one cluster.
    return await workFor('tokens of clusters', () =>
      isJwt(bearer) ? this.#byJwt(bearer, name) : this.#byHomeToken(bearer, name, isHello),
    );
  }

  async #byHomeToken(bearer: string, name: string, isHello: boolean): Promise<ClusterPrincipal> {
    const token = parseToken(bearer);
    if (token?.kind !== 'cluster')
      throw new AuthenticationRefusal('malformed', `this token does not work here; ${neededToken}`);
    const tokens = await findHomeTokens(this.#database.pool, name);
    const found = tokens.find(({ hash }) => hashesEqual(hash, token.hash));
    if (found === undefined) {
      throw new AuthenticationRefusal(
        'unknown',
        'the home token is unknown; the controller must mount the one that the API mounts',
      );
    }
    if (found.isRemote) throw registeredRemote(name);
    if (!found.isHeld) await this.#admitName(name, isHello);
    return { name, isHome: true, credential: 'home_token', acceptedUntil: found.acceptedUntil };
  }

  /** The home token proves any name. With ever new ones it must not escape what is limited for each cluster. */
  async #admitName(name: string, isHello: boolean): Promise<void> {
    if (!isHello) throw unclaimed(name);
    if ((await countHomeClusters(this.#database.pool)) >= limits.homeClusters) throw tooManyNames(name);
  }

  async #byJwt(bearer: string, name: string): Promise<ClusterPrincipal> {
    let proof: ClusterProof | undefined;
    try {
      const jwt = readJwt(bearer, isClusterAudience);
      proof = await this.#proofs.find(name);
      if (proof === undefined) throw new JwtError('jwt_unknown_audience');
      return await this.#proven(jwt, name, proof);
    } catch (error) {
      const fault = faultOf(error, proof);
      if (fault === undefined) throw error;
      if (proof !== undefined && isAlarming(fault, proof)) this.#refused.note({ cluster: name, reason: 'credential' });
      throw new AuthenticationRefusal(fault, refusedJwt(name));
    }
  }

  async #proven(
    jwt: UnverifiedJwt,
    name: string,
    { instance, issuer, subject, now }: ClusterProof,
  ): Promise<ClusterPrincipal> {
    // The audience names the cluster and this installation, and so the only keys that count.
    if (jwt.audience !== audienceOf(instance, { type: 'cluster', cluster: name }))
      throw new JwtError('jwt_unknown_audience');
    verifySignature(jwt, await this.#keys.keyFor(issuer, jwt));
    const expected = { iss: issuer.iss, maxAgeSeconds, claims: { sub: [subject] }, now };
    const { acceptedUntil } = judgeClaims(jwt, expected);
    return { name, isHome: false, credential: 'jwt', acceptedUntil };
  }
}

/** Undefined for an error that says nothing of the JWT. Keys of a disabled issuer are not fetched. */
function faultOf(error: unknown, proof: ClusterProof | undefined): JwtFault | 'issuer_disabled' | undefined {
  if (error instanceof JwtError) return error.fault;
  return error instanceof KeysUnavailable && proof?.isDisabled === true ? 'issuer_disabled' : undefined;
}

/** The checks of what the API server of the cluster signed. */
const signedChecks: ReadonlySet<JwtCheck> = new Set(['issuer', 'times', 'claims']);
const keyChecks: ReadonlySet<JwtCheck> = new Set(['key', 'signature']);

/**
 * Whether a refusal says that something is wrong with the cluster: its API server signed the JWT, or an unknown key did while
 * no controller is accepted. Anyone can write a JWT of an unknown key, and could otherwise raise the alert at any time.
 */
function isAlarming(fault: JwtFault | 'issuer_disabled', { isAway }: ClusterProof): boolean {
  if (fault === 'issuer_disabled') return false;
  const { check } = jwtFaults[fault];
  return signedChecks.has(check) || (isAway && keyChecks.has(check));
}

function isClusterAudience(audience: string): boolean {
  return readAudience(audience)?.target.type === 'cluster';
}

// One text for every fault, and for a cluster that is not registered: anyone can write a JWT. The log has the fault.
function refusedJwt(name: string): string {
  return (
    `the ServiceAccount token of the controller does not prove that it is of cluster ${name}. An instance admin looks at ` +
    `\`keyframe cluster show ${name} --all\`, and at the log of the server, which names the fault. \`keyframe cluster create ${name}\` registers ` +
    `a cluster, \`keyframe cluster update ${name}\` changes its keys, and \`keyframe cluster enable ${name}\` serves it again`
  );
}

function unclaimed(name: string): RefusedName {
  return new RefusedName(
    name,
    'limit_exceeded',
    `no controller of cluster ${name} leads yet, and nothing is done for it before; try again in a second`,
    { retryAfterSeconds: 1 },
  );
}

function tooManyNames(name: string): RefusedName {
  return new RefusedName(
    name,
    'cluster_unknown',
    `cluster ${name} is not known, and ${limits.homeClusters} home clusters are: an instance admin forgets one that is gone ` +
      `(\`keyframe cluster list --all\`, \`keyframe cluster forget\`), or registers this one (\`keyframe cluster create ${name}\`)`,
  );
}

function registeredRemote(name: string): RefusedName {
  return new RefusedName(
    name,
    'cluster_unknown',
    `cluster ${name} is registered as a remote cluster, and the home token does not work for it; its controller must present its ServiceAccount token, or use another cluster name`,
  );
}
