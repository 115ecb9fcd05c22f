import type { ApiClient } from '../../../../client/api-client.ts';
import { call } from '../../../../client/call.ts';
import { usageError } from '../../../core/cli-error.ts';
import type { ClusterSource } from './cluster-source.ts';

/** The issuer of a cluster as it is. Keys from a URL are not given with it. Throws CliError. */
export async function presentSource(api: ApiClient, name: string): Promise<ClusterSource> {
  const { body } = await call(api, 'GET /trusted-issuers/{name}', { params: { name } });
  const { cluster, iss, jwksUrl, algorithms, keys, ca } = body;
  if (cluster !== name) {
    throw usageError(
      `another trusted issuer has the name ${name}, so what is kept must be given again`,
      'Give --kube-context <name>, or --issuer with --jwks-file or --jwks-url',
    );
  }
  const known = { iss, algorithms, ...(ca === null ? {} : { ca }) };
  return jwksUrl === null ? { ...known, keys: keys ?? [] } : { ...known, jwksUrl };
}
