import type { RequestListener } from 'node:http';
import type { ClusterListenerConfig } from '../config/cluster-listener-config.ts';
import { ExitError, exitCodes } from '../config/exit-error.ts';
import { type CertificateWatchOptions, lookIntoFiles, watchCertificate } from '../http/certificate-watch.ts';
import type { HttpServer } from '../http/server.ts';
import { CertificateError, type CertificatePair, readCertificate } from '../lib/certificate.ts';
import { refusalOf } from '../lib/certificate-proof.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import type { Logger } from '../observability/logger.ts';
import { type Address, listen } from './listen.ts';

const portVariable = 'KEYFRAME_CLUSTER_PORT';
const authorityVariables = {
  certificate: 'KEYFRAME_CLUSTER_CA_FILE',
  key: 'KEYFRAME_CLUSTER_CA_KEY_FILE',
} as const;
const user = 'the port of controllers';
// Time enough to replace a CA that nothing replaces by itself.
const lateMs = 180 * 24 * 3_600_000;

export interface ClusterListenerOptions {
  readonly config: ClusterListenerConfig;
  /** With the limits of connections; the port is that of the configuration. */
  readonly address: Omit<Address, 'port' | 'tls' | 'mayShowCertificate'>;
  readonly logger: Logger;
  readonly clock?: Clock;
  /** How often the certificate is looked at; the default of `watchCertificate`. */
  readonly lookMs?: number;
}

/**
 * The port that serves only controllers, listening. `open` closes it. Throws ExitError if its certificate cannot be made, or
 * if no controller would accept it.
 */
export async function openClusterListener(
  app: RequestListener,
  options: ClusterListenerOptions,
  open: AsyncDisposableStack,
): Promise<HttpServer> {
  const { config, address, logger, lookMs } = options;
  const { tls, mayShowCertificate, look } = config.isAuthority ? await ownCertificate(options) : ofFiles(config);
  const server = await listen(app, { ...address, port: config.port, tls, mayShowCertificate, portVariable }, open);
  const interval = lookMs === undefined ? {} : { intervalMs: lookMs };
  const watch = watchCertificate({ look, renew: (pair) => server.renew(pair), logger, user, ...interval });
  open.defer(() => watch.end());
  return server;
}

interface ShownCertificate extends Pick<CertificateWatchOptions, 'look'> {
  readonly tls: CertificatePair;
  readonly mayShowCertificate: () => boolean;
}

function ofFiles({ files }: ClusterListenerConfig): ShownCertificate {
  const tls = readCertificate(files);
  // A client says more clearly than a closed connection that it has expired.
  const mayShowCertificate = (): boolean => true;
  return { tls, look: lookIntoFiles(files, tls, 'KEYFRAME_CLUSTER_TLS_KEY_FILE'), mayShowCertificate };
}

/** One that this process signs. It is not shown after its end, for which a machine must sleep for days. */
async function ownCertificate(options: ClusterListenerOptions): Promise<ShownCertificate> {
  const { config, logger, clock = systemClock } = options;
  // Loaded on use: without this port, nothing signs certificates.
  const { OwnCertificate } = await import('../crypto/own-certificate.ts');
  const { files, names } = config;
  const own = await OwnCertificate.open({ files, names, clock, variables: authorityVariables }).catch(refuse);
  await proveAcceptance(own.pair, own.authority, names);
  const warn = (): void => {
    const expiresAt = own.authorityExpiresAt;
    if (expiresAt.getTime() - clock.now() > lateMs) return;
    logger.warn(
      { expiresAt: expiresAt.toISOString() },
      'the CA of the port of controllers expires: delete its Secret, let init create another one (helm upgrade), and restart the pods',
    );
  };
  warn();
  const look = async (): Promise<CertificatePair | undefined> => {
    const pair = await own.renewed();
    if (pair !== undefined) warn();
    return pair;
  };
  return { tls: own.pair, look, mayShowCertificate: () => own.isValid };
}

/** A CA can be unable to sign for a name, which only a client finds out. */
async function proveAcceptance(pair: CertificatePair, authority: string, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const refusal = await refusalOf(pair, { authority, name });
    if (refusal === undefined) continue;
    throw new ExitError(
      exitCodes.configuration,
      `${authorityVariables.certificate} names a CA whose certificate for ${name} controllers would refuse (${refusal}): correct KEYFRAME_CLUSTER_TLS_NAMES, or delete the Secret of the CA, let init create another one (helm upgrade), and restart the pods`,
    );
  }
}

function refuse(error: unknown): never {
  if (error instanceof CertificateError) throw new ExitError(exitCodes.configuration, error.message, error);
  throw error;
}
