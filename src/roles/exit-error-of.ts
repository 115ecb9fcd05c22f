import { ExitError, exitCodes } from '../config/exit-error.ts';
import { ConfigError } from '../config/source.ts';
import { DomainError } from '../domain/errors/domain-error.ts';
import { ApiError } from '../kube/client/api-error.ts';
import { errorFields } from '../observability/logger.ts';
import { addressAdvice, addressFault } from '../store/address-fault.ts';
import { resourceSentence } from '../store/resource-fault.ts';
import { sqlState } from '../store/store-error.ts';
import { type TlsFault, tlsFault } from '../store/tls-fault.ts';

/** The exit code and the advice for a known failure of a role; undefined for any other error. */
export function exitErrorOf(error: unknown): ExitError | undefined {
  if (error instanceof ExitError) return error;
  if (error instanceof ConfigError) return new ExitError(exitCodes.configuration, configurationFaults(error), error);
  if (error instanceof ApiError) return clusterError(error);
  if (error instanceof DomainError) return domainError(error);
  return sqlState(error) === insufficientPrivilege
    ? new ExitError(exitCodes.configuration, deniedRight, error)
    : undefined;
}

const insufficientPrivilege = '42501';
const deniedRight = `PostgreSQL denies the role of KEYFRAME_DATABASE_URL a right on the database or its tables (${insufficientPrivilege}): as their owner, run \`keyframe-server migrate\` with this role in KEYFRAME_DATABASE_RUN_URL (in the chart, set database.migration)`;

function configurationFaults({ faults }: ConfigError): string {
  const [only, ...others] = faults;
  if (only !== undefined && others.length === 0) return only;
  return `the configuration has ${faults.length} faults:\n${faults.map((fault) => `  ${fault}`).join('\n')}`;
}

function clusterError(error: ApiError): ExitError {
  if (error.status === 0) {
    return new ExitError(
      exitCodes.unavailable,
      `the API server of the cluster does not respond (${error.message})`,
      error,
    );
  }
  const isRefused = error.status === 401 || error.status === 403;
  const advice = isRefused ? ': give the account the rights that the chart gives it' : '';
  return new ExitError(exitCodes.failure, `the API server of the cluster refused ${error.message}${advice}`, error);
}

function domainError(error: DomainError): ExitError {
  switch (error.code) {
    case 'store_unavailable':
      return databaseError(error);
    case 'overloaded':
      return new ExitError(exitCodes.unavailable, error.detail, error);
    case 'key_unavailable':
    case 'conflict':
    case 'invalid_input':
      return new ExitError(exitCodes.configuration, error.detail, error);
    default:
      return new ExitError(exitCodes.failure, error.detail, error);
  }
}

const tlsAdvice: Readonly<Record<TlsFault, string>> = {
  untrusted:
    'an authority that is not trusted has signed the certificate of PostgreSQL: give the certificate of that authority in KEYFRAME_DATABASE_CA_FILE (database.ca of the chart)',
  other_host:
    'the certificate of PostgreSQL is for another host than that of KEYFRAME_DATABASE_URL: use a host name that the certificate has',
  expired:
    'the certificate of PostgreSQL, or of its authority, is not valid at this time: renew it, or correct the clock',
  not_offered: 'PostgreSQL does not offer TLS, which this configuration asks for: turn on ssl in PostgreSQL',
};

function databaseError(error: DomainError): ExitError {
  const found = tlsFault(error);
  if (found === undefined) return new ExitError(exitCodes.unavailable, unreachable(error), error);
  const code = found.fault === 'not_offered' ? '' : ` (${found.code})`;
  return new ExitError(exitCodes.configuration, `${tlsAdvice[found.fault]}${code}`, error);
}

function unreachable(error: DomainError): string {
  const fault = addressFault(error.cause);
  if (fault !== undefined) return `${fault}: ${addressAdvice}`;
  const resource = resourceSentence(sqlState(error.cause));
  if (resource !== undefined) return resource;
  const { code } = errorFields(error.cause);
  const reason = typeof code === 'string' ? ` (${code})` : '';
  return `the database cannot be reached${reason}: check KEYFRAME_DATABASE_URL, and that PostgreSQL runs and lets this user in`;
}
