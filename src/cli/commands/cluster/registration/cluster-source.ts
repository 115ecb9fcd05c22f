import { resolve } from 'node:path';
import type { RequestOf } from '../../../../client/call.ts';
import { usageError } from '../../../core/cli-error.ts';
import type { CommandContext } from '../../../core/command.ts';
import { completing, repeated, text } from '../../../core/options.ts';
import { algorithmOf } from '../../issuer/issuer-content.ts';
import { publicKeys } from '../../issuer/jwks-file.ts';
import { readBytes } from '../../secret/secret-file.ts';
import { documentOf, publicUrl } from './published-keys.ts';
import { type KubectlOptions, readClusterUid, readRaw } from './kubectl.ts';

/** Who signs the ServiceAccount tokens of a cluster: read through kubectl, or given. */

export type Registration = RequestOf<'PUT /clusters/{name}'>['body'];
type Key = NonNullable<Registration['keys']>[number];
type Algorithm = NonNullable<Registration['algorithms']>[number];

/** The part of a registration that says so. `uid` is absent if it is not known. */
export type ClusterSource = Pick<Registration, 'iss' | 'jwksUrl' | 'keys' | 'algorithms' | 'ca' | 'uid'>;

export const sourceOptions = {
  kubeContext: text('--kube-context <name>', 'Read issuer, keys and uid through kubectl with this context'),
  issuer: text('--issuer <text>', 'The claim iss of its ServiceAccount tokens, without kubectl'),
  jwksFile: completing('file', text('--jwks-file <file>', 'A JWK Set with the public keys of its API server')),
  jwksUrl: text('--jwks-url <url>', 'Where these keys are published; https only'),
  caFile: completing('file', text('--ca <file>', 'The authorities of the server of --jwks-url, in PEM')),
  algorithm: repeated(
    '--algorithm <name>',
    'With --jwks-url: RS256, ES256 or EdDSA; can be given several times',
    'all of them',
  ),
  uid: text('--uid <uid>', 'The uid of its namespace kube-system (default: its first controller gives it)'),
};

export interface SourceOptions {
  readonly kubeContext: string | undefined;
  readonly issuer: string | undefined;
  readonly jwksFile: string | undefined;
  readonly jwksUrl: string | undefined;
  readonly caFile: string | undefined;
  readonly algorithm: readonly string[];
  readonly uid: string | undefined;
}

/** What the options say; undefined if they name no source. Throws CliError. */
export async function clusterSource(
  context: Pick<CommandContext, 'environment'>,
  options: SourceOptions,
): Promise<ClusterSource | undefined> {
  const { kubeContext, issuer, jwksFile, jwksUrl, uid } = options;
  const given = [issuer, jwksFile, jwksUrl].some((option) => option !== undefined);
  if (kubeContext === undefined) return given ? givenSource(context, options) : undefined;
  if (given) throw usageError('give either --kube-context, or --issuer with --jwks-file or --jwks-url');
  const { variables } = context.environment;
  return { ...(await readSource(context, { context: kubeContext, variables })), ...(uid === undefined ? {} : { uid }) };
}

function givenSource({ environment }: Pick<CommandContext, 'environment'>, options: SourceOptions): ClusterSource {
  const { issuer, jwksFile, jwksUrl, caFile, algorithm, uid } = options;
  if (issuer === undefined) throw usageError('--jwks-file and --jwks-url need --issuer <text>');
  if ((jwksFile === undefined) === (jwksUrl === undefined)) {
    throw usageError('--issuer needs its keys: --jwks-file <file>, or --jwks-url <url>');
  }
  const read = (path: string): string => readBytes(resolve(environment.workingDirectory, path), path).toString('utf8');
  const known = uid === undefined ? {} : { uid };
  if (jwksFile !== undefined) return { iss: issuer, keys: publicKeys(read(jwksFile), jwksFile), ...known };
  const ca = caFile === undefined ? {} : { ca: read(caFile) };
  const algorithms = algorithm.length === 0 ? {} : { algorithms: algorithm.map(algorithmOf) };
  return { iss: issuer, jwksUrl: jwksUrl ?? '', ...algorithms, ...ca, ...known };
}

async function readSource(
  context: Pick<CommandContext, 'environment'>,
  kubectl: KubectlOptions,
): Promise<ClusterSource> {
  const discovery = documentOf(await readRaw(kubectl, '/.well-known/openid-configuration'));
  const iss = discovery?.['issuer'];
  if (typeof iss !== 'string') throw usageError('the API server names no issuer of its ServiceAccount tokens');
  const keys = publicKeys(await readRaw(kubectl, '/openid/v1/jwks'), 'the answer of /openid/v1/jwks');
  const uid = await readClusterUid(kubectl);
  const url = await publicUrl(context, iss, keys);
  if (url === undefined) return { iss, keys, uid };
  return { iss, jwksUrl: url, algorithms: [...new Set(keys.map(algorithmFor))], uid };
}

const algorithmsByType: Readonly<Record<string, Algorithm>> = { RSA: 'RS256', EC: 'ES256', OKP: 'EdDSA' };

function algorithmFor({ kty }: Key): Algorithm {
  const found = algorithmsByType[String(kty)];
  if (found === undefined) throw usageError('a key of the cluster is not of the type RSA, EC P-256 or Ed25519');
  return found;
}
