import type { Request } from 'express';
import type { ClusterPrincipal } from '../../domain/cluster-principal.ts';
import { DomainError } from '../../domain/errors/domain-error.ts';
import { AuthenticationRefusal } from '../../services/access/authentication.ts';
import { type ClusterAuthentication, RefusedName } from '../../services/access/cluster-authentication.ts';
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
  asked: { readonly isHello?: boolean } = {},
): Promise<ClusterPrincipal> {
  const context = contextOf(request);
  const address = sourceAddress(request) ?? '';
  const { authorization } = request.headers;
  const token = namesOf(authorization === undefined ? undefined : tokenOf(authorization));
  const name = request.headers['keyframe-cluster'];
  try {
    if (authorization !== undefined) await rateLimits.admit(address, token);
    const bearer = bearerToken(authorization);
    const named = typeof name === 'string' ? name : undefined;
    const cluster = await clusterAuthentication.authenticate(bearer, named, asked);
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
  if (error instanceof AuthenticationRefusal) await rateLimits.guessed(address, token);
  if (error instanceof RefusedName) {
    await rateLimits.acceptedCluster(address, token, error.cluster);
    await rateLimits.countCluster(address, error.cluster, { items: 1 });
  }
  // Without the keys of its issuer, it is not known whose a JWT is.
  if (error instanceof DomainError && error.code === 'issuer_unavailable') await rateLimits.countPublic(address);
}
