import type { Request } from 'express';
import type { ClusterPrincipal } from '../../domain/cluster-principal.ts';
import { DomainError } from '../../domain/errors/domain-error.ts';
import { AuthenticationRefusal } from '../../services/access/authentication.ts';
import type { ClusterAuthentication } from '../../services/access/cluster-authentication.ts';
import { contextOf } from '../request-context.ts';
import { bearerToken, tokenOf } from './bearer.ts';
import { namesOf, type RateLimits, type TokenNames } from './rate-limits.ts';
import { sourceAddress } from './source-address.ts';

export interface IdentifyClusterDeps {
  readonly clusterAuthentication: Pick<ClusterAuthentication, 'authenticate'>;
  readonly rateLimits: RateLimits;
}

/**
 * Identifies the cluster whose controller sends a request, by its token and by the header Keyframe-Cluster. A token that
 * proves no cluster counts as a guess of its network, also a JWT for a cluster that is registered: only its controllers have
 * such JWTs. Throws AuthenticationRefusal, LimitExceeded, and DomainError
 * cluster_unknown, issuer_unavailable and store_unavailable.
 */
export async function identifyCluster(
  request: Request,
  { clusterAuthentication, rateLimits }: IdentifyClusterDeps,
): Promise<ClusterPrincipal> {
  const context = contextOf(request);
  const address = sourceAddress(request) ?? '';
  const { authorization } = request.headers;
  const token = namesOf(authorization === undefined ? undefined : tokenOf(authorization));
  const name = request.headers['keyframe-cluster'];
  try {
    if (authorization !== undefined) await rateLimits.admit(address, token);
    const bearer = bearerToken(authorization);
    const cluster = await clusterAuthentication.authenticate(bearer, typeof name === 'string' ? name : undefined);
    context.cluster = cluster.name;
    await rateLimits.acceptedCluster(address, token, cluster);
    return cluster;
  } catch (error) {
    if (error instanceof AuthenticationRefusal) context.fault = error.fault;
    if (authorization !== undefined) await countRefusal(error, { rateLimits, address, token });
    throw error;
  }
}

interface Refused {
  readonly rateLimits: RateLimits;
  readonly address: string;
  readonly token: TokenNames;
}

async function countRefusal(error: unknown, { rateLimits, address, token }: Refused): Promise<void> {
  const code = error instanceof DomainError ? error.code : undefined;
  if (code === 'unauthenticated' || code === 'cluster_unknown') await rateLimits.guessed(address, token);
  // Without the keys of its issuer, it is not known whose a JWT is.
  if (code === 'issuer_unavailable') await rateLimits.countPublic(address);
}
