import {
  authorityFault,
  type CertificateFiles,
  certificateFault,
  type CertificatePair,
  missingNames,
  readCertificate,
} from '../lib/certificate.ts';
import { certificateFilesOf } from './certificates.ts';
import type { ServerRole } from './role-names.ts';
import type { ConfigSource } from './source.ts';
import type { Values, VariableReader } from './variable-reader.ts';

/** The port that serves only the requests of controllers, by https. */
export interface ClusterListenerConfig {
  /** 0 takes any free port. */
  readonly port: number;
  /** By which controllers reach it. */
  readonly names: readonly string[];
  /** Of a CA that signs the certificate, or of the certificate itself. */
  readonly isAuthority: boolean;
  readonly files: CertificateFiles;
}

/** Adds what is wrong with the variables, and with the files that they name. */
export function checkClusterListener(
  reader: VariableReader<ServerRole>,
  source: ConfigSource,
  now: number = Date.now(),
): void {
  if (!reader.isSet('CLUSTER_PORT')) return;
  checkPort(reader);
  const hasAuthority = reader.isPairSet('CLUSTER_CA_FILE', 'CLUSTER_CA_KEY_FILE');
  const hasCertificate = reader.isPairSet('CLUSTER_TLS_CERTIFICATE_FILE', 'CLUSTER_TLS_KEY_FILE');
  if (hasAuthority === undefined || hasCertificate === undefined) return;
  if (hasAuthority === hasCertificate) {
    const what = 'KEYFRAME_CLUSTER_CA_FILE or KEYFRAME_CLUSTER_TLS_CERTIFICATE_FILE, each with its key';
    reader.fault('CLUSTER_PORT', hasAuthority ? `needs only one of ${what}` : `needs ${what}`);
  } else if (hasAuthority) checkAuthority(reader, source, now);
  else checkCertificate(reader, source);
}

/** @returns undefined without a port. */
export function clusterListenerConfig(values: Values<ServerRole>): ClusterListenerConfig | undefined {
  const { CLUSTER_PORT: port, CLUSTER_TLS_NAMES: names = [] } = values;
  const authority = authorityFiles(values);
  const files = authority ?? certificateFiles(values);
  if (port === undefined || files === undefined) return undefined;
  return { port, names, isAuthority: authority !== undefined, files };
}

function checkPort(reader: VariableReader<ServerRole>): void {
  const { CLUSTER_PORT: port = 0, PORT, METRICS_PORT } = reader.values;
  if (port !== 0 && (port === PORT || port === METRICS_PORT)) {
    reader.fault('CLUSTER_PORT', 'must differ from the ports of the API and of the metrics');
  }
}

function checkAuthority(reader: VariableReader<ServerRole>, source: ConfigSource, now: number): void {
  if (!reader.isSet('CLUSTER_TLS_NAMES')) reader.fault('CLUSTER_CA_FILE', 'needs KEYFRAME_CLUSTER_TLS_NAMES');
  const pair = readPair(authorityFiles(reader.values), source);
  const fault = pair && authorityFault(pair, 'KEYFRAME_CLUSTER_CA_KEY_FILE', now);
  if (fault !== undefined) reader.fault('CLUSTER_CA_FILE', fault);
}

function checkCertificate(reader: VariableReader<ServerRole>, source: ConfigSource): void {
  const pair = readPair(certificateFiles(reader.values), source);
  if (pair === undefined) return;
  const fault = certificateFault(pair, 'KEYFRAME_CLUSTER_TLS_KEY_FILE');
  if (fault !== undefined) return reader.fault('CLUSTER_TLS_CERTIFICATE_FILE', fault);
  const missing = missingNames(pair, reader.values.CLUSTER_TLS_NAMES ?? []);
  if (missing.length > 0) {
    reader.fault('CLUSTER_TLS_CERTIFICATE_FILE', `names a certificate that is not for ${missing.join(', ')}`);
  }
}

function readPair(files: CertificateFiles | undefined, source: ConfigSource): CertificatePair | undefined {
  // A file that cannot be read is a fault already.
  return files && readCertificate(files, (path) => source.readTextFile(path));
}

type PartialValues = Partial<Values<ServerRole>>;

function authorityFiles(values: PartialValues): CertificateFiles | undefined {
  return certificateFilesOf(values.CLUSTER_CA_FILE, values.CLUSTER_CA_KEY_FILE);
}

function certificateFiles(values: PartialValues): CertificateFiles | undefined {
  return certificateFilesOf(values.CLUSTER_TLS_CERTIFICATE_FILE, values.CLUSTER_TLS_KEY_FILE);
}
