import { hashesEqual, parseToken } from '../../crypto/token.ts';
import { audienceOf, readAudience } from '../../domain/audience.ts';
import type { ClusterPrincipal } from '../../domain/cluster-principal.ts';
import { DomainError } from '../../domain/errors/domain-error.ts';
import { validateClusterName } from '../../domain/names.ts';
import { isJwt, judgeClaims, JwtError, readJwt, verifySignature } from '../../identity/jwt.ts';
import { type ClusterProof, findClusterProof } from '../../store/cluster-registrations.ts';
import type { Database } from '../../store/database.ts';
import { findHomeTokens } from '../../store/home-token.ts';
import { AuthenticationRefusal } from './authentication.ts';
import type { IssuerKeys } from './issuer-keys.ts';
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

/**
 * Finds the cluster whose controller presents a token (docs/clusters.md). The home token works for every name that is not
 * registered as a remote cluster; a JWT works for the one cluster that its audience names. Whether anything is done for the
 * cluster is judged later: a controller of a disabled cluster must learn that.
 */
export class ClusterAuthentication {
  readonly #database: ClusterAuthenticationDeps['database'];
  readonly #keys: ClusterAuthenticationDeps['keys'];
  readonly #refused: ClusterAuthenticationDeps['refused'];

  constructor({ database, keys, refused }: ClusterAuthenticationDeps) {
    this.#database = database;
    this.#keys = keys;
    this.#refused = refused;
  }

  /**
   * Nothing is cached, as in `Authentication`. `bearer` is without the word `Bearer`; `name` is what the request says of its
   * cluster. Throws AuthenticationRefusal for a token that proves no cluster or another one, and DomainError cluster_unknown
   * for a name that the token cannot have, issuer_unavailable and store_unavailable.
   */
  async authenticate(bearer: string | undefined, name: string | undefined): Promise<ClusterPrincipal> {
    if (bearer === undefined || bearer === '') {
      throw new AuthenticationRefusal('missing', `a token is needed; ${neededToken}`);
    }
    if (name === undefined || validateClusterName(name) !== undefined) {
      throw new AuthenticationRefusal('malformed', 'the header Keyframe-Cluster must be the name of the cluster');
    }
    return isJwt(bearer) ? await this.#byJwt(bearer, name) : await this.#byHomeToken(bearer, name);
  }

  async #byHomeToken(bearer: string, name: string): Promise<ClusterPrincipal> {
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
    return { name, isHome: true, credential: 'home_token', acceptedUntil: found.acceptedUntil };
  }

  async #byJwt(bearer: string, name: string): Promise<ClusterPrincipal> {
    let proof: ClusterProof | undefined;
    try {
      const jwt = readJwt(bearer, isClusterAudience);
      proof = await findClusterProof(this.#database.pool, name);
      if (proof === undefined) throw unregistered(name);
      const { instance, issuer, subject, now } = proof;
      // The audience names the cluster and this installation, and so the only keys that count.
      if (jwt.audience !== audienceOf(instance, { type: 'cluster', cluster: name }))
        throw new JwtError('jwt_unknown_audience');
      verifySignature(jwt, await this.#keys.keyFor(issuer, jwt));
      const expected = { iss: issuer.iss, maxAgeSeconds, claims: { sub: [subject] }, now };
      const { acceptedUntil } = judgeClaims(jwt, expected);
      return { name, isHome: false, credential: 'jwt', acceptedUntil };
    } catch (error) {
      if (error instanceof JwtError) {
        if (proof !== undefined) this.#refused.note({ cluster: name, reason: 'credential' });
        throw new AuthenticationRefusal(error.fault, refusedJwt(name));
      }
      const isUnavailable = error instanceof DomainError && error.code === 'issuer_unavailable';
      if (isUnavailable && proof?.isDisabled === true)
        throw new AuthenticationRefusal('issuer_disabled', disabled(name));
      throw error;
    }
  }
}

function isClusterAudience(audience: string): boolean {
  return readAudience(audience)?.target.type === 'cluster';
}

// Which check failed is in the log of the server: anyone can write a JWT.
function refusedJwt(name: string): string {
  return (
    `the ServiceAccount token of the controller does not prove that it is of cluster ${name}; an instance admin compares ` +
    `\`keyframe cluster show ${name} --all\` with the cluster and runs \`keyframe cluster update ${name}\`, and the log of the server names the fault`
  );
}

function disabled(name: string): string {
  return `cluster ${name} is disabled since a restore from a backup; an instance admin checks it and runs \`keyframe cluster enable ${name}\``;
}

function unregistered(name: string): DomainError {
  return new DomainError(
    'cluster_unknown',
    `cluster ${name} is not registered; an instance admin runs \`keyframe cluster create ${name}\``,
  );
}

function registeredRemote(name: string): DomainError {
  return new DomainError(
    'cluster_unknown',
    `cluster ${name} is registered as a remote cluster, and the home token does not work for it; its controller must present its ServiceAccount token, or use another cluster name`,
  );
}
