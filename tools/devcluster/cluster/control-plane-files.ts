import { generateKeyPairSync, randomBytes, X509Certificate } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { auditPolicy } from './audit-policy.ts';
import { ClusterError } from './cluster-error.ts';
import { writeKubeconfig } from './kubeconfig.ts';

export interface ControlPlaneFiles {
  readonly etcdData: string;
  /** Relative to the run's folder, because the path of a socket may have 107 bytes at most. */
  readonly etcdSocket: string;
  readonly certificates: string;
  readonly caFile: string;
  readonly tokens: string;
  readonly authentication: string;
  readonly auditPolicy: string;
  readonly auditLog: string;
  readonly accountKey: string;
  readonly accountPublicKey: string;
  readonly adminKubeconfig: string;
  readonly controllerManagerKubeconfig: string;
  readonly accounts: readonly ClusterAccount[];
}

/** A user whom the API server knows by a token. */
export interface ClusterUser {
  readonly user: string;
  readonly groups: readonly string[];
  /** The name of the file, in the run's folder, by which the user connects. */
  readonly kubeconfig: string;
}

interface ClusterAccount extends ClusterUser {
  readonly token: string;
}

const admin: ClusterUser = { user: 'admin', groups: ['system:masters'], kubeconfig: 'kubeconfig' };
const controllerManager: ClusterUser = {
  user: 'system:kube-controller-manager',
  groups: [],
  kubeconfig: 'kube-controller-manager.kubeconfig',
};

/**
 * Writes what the control plane needs before it starts: keys, tokens of its own users and of those given, policies. All for
 * the owner alone.
 */
export function writeControlPlaneFiles(folder: string, users: readonly ClusterUser[] = []): ControlPlaneFiles {
  const files: ControlPlaneFiles = {
    etcdData: join(folder, 'etcd'),
    etcdSocket: 'etcd.sock',
    certificates: join(folder, 'certificates'),
    caFile: join(folder, 'ca.crt'),
    tokens: join(folder, 'tokens.csv'),
    authentication: join(folder, 'authentication.yaml'),
    auditPolicy: join(folder, 'audit-policy.yaml'),
    auditLog: join(folder, 'audit.log'),
    accountKey: join(folder, 'service-account.key'),
    accountPublicKey: join(folder, 'service-account.pub'),
    adminKubeconfig: join(folder, admin.kubeconfig),
    controllerManagerKubeconfig: join(folder, controllerManager.kubeconfig),
    accounts: [admin, controllerManager, ...users].map((user) => ({
      ...user,
      kubeconfig: join(folder, user.kubeconfig),
      token: randomBytes(32).toString('hex'),
    })),
  };
  mkdirSync(files.certificates, { mode: 0o700 });
  writePrivately(files.tokens, tokenTable(files.accounts));
  writePrivately(files.authentication, authenticationConfiguration());
  writePrivately(files.auditPolicy, auditPolicy());
  writePrivately(files.auditLog, '');
  writeAccountKeys(files);
  return files;
}

/** Writes the kubeconfigs, once the API server has made its certificate. Throws ClusterError if it has not. */
export function writeKubeconfigs(files: ControlPlaneFiles, server: string): void {
  const ca = authorityOf(files);
  if (ca === undefined) throw new ClusterError('The API server made no certificate authority.');
  writePrivately(files.caFile, ca);
  for (const { user, token, kubeconfig } of files.accounts) writeKubeconfig(kubeconfig, { server, ca, user, token });
}

/** The authority that signed the API server's certificate: it writes both into one file. Undefined before it has. */
export function authorityOf({ certificates }: ControlPlaneFiles): string | undefined {
  const path = join(certificates, 'apiserver.crt');
  if (!existsSync(path)) return undefined;
  const found = readFileSync(path, 'utf8').match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n?/g) ?? [];
  return found.find((certificate) => new X509Certificate(certificate).ca);
}

// Columns: token, user, uid, groups. See https://kubernetes.io/docs/reference/access-authn-authz/authentication/#static-token-file
function tokenTable(accounts: readonly ClusterAccount[]): string {
  return accounts.map(({ token, user, groups }) => `${token},${user},${user},"${groups.join(',')}"\n`).join('');
}

function authenticationConfiguration(): string {
  const conditions = ['/livez', '/readyz', '/healthz'].map((path) => ({ path }));
  return stringify({
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'AuthenticationConfiguration',
    anonymous: { enabled: true, conditions },
  });
}

function writeAccountKeys({ accountKey, accountPublicKey }: ControlPlaneFiles): void {
  const { privateKey, publicKey } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    privateKeyEncoding: { type: 'sec1', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  writePrivately(accountKey, privateKey);
  writePrivately(accountPublicKey, publicKey);
}

function writePrivately(path: string, content: string): void {
  writeFileSync(path, content, { mode: 0o600 });
}
