import type { IncomingHttpHeaders } from 'node:http';
import { networkFault } from '../client/answer-error.ts';
import { type ErrorCode, errorCatalogue } from '../domain/errors/catalogue.ts';
import { DomainError } from '../domain/errors/domain-error.ts';

/** Why a request to the server has no result, as the controller reports it. No error has anything of a body or a token. */

/** The error if no answer came. */
export function outage(error: unknown): DomainError {
  if (error instanceof DomainError) return error;
  const { code, reason } = networkFault(error);
  const advice = tlsAdvice[code] ?? (code.startsWith('ERR_TLS_') || code.startsWith('ERR_SSL_') ? otherTls : undefined);
  const detail = advice ?? `the server of Keyframe cannot be reached: ${reason}`;
  return new DomainError('store_unavailable', detail, { cause: error });
}

const untrusted =
  'an authority that is not trusted has signed the certificate of the server of Keyframe: give the certificate of that authority in KEYFRAME_SERVER_CA_FILE';
const otherTls =
  'the certificate of the server of Keyframe is not for the host of KEYFRAME_SERVER_URL: use a host name that the certificate has';
const expired =
  'the certificate of the server of Keyframe, or of its authority, is not valid at this time: renew it, or correct the clock';

const tlsAdvice: Readonly<Record<string, string>> = {
  UNABLE_TO_GET_ISSUER_CERT: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  CERT_SIGNATURE_FAILURE: untrusted,
  CERT_HAS_EXPIRED: expired,
  CERT_NOT_YET_VALID: expired,
};

/** Whether an error says that the certificate of the server was not accepted. */
export function isCertificateError(error: unknown): boolean {
  const { code } = networkFault(error);
  return code in tlsAdvice || code.startsWith('ERR_TLS_');
}

/** The error if the server did not answer in time. */
export function silence(timeoutMs: number): DomainError {
  return new DomainError(
    'store_unavailable',
    `the server of Keyframe did not answer within ${timeoutMs / 1000} seconds`,
  );
}

/** The error for an answer with 200 that Keyframe does not give. */
export function strangeAnswer(what: string): DomainError {
  return new DomainError('store_unavailable', `the answer of the server of Keyframe ${what}; check what lies between`);
}

/** The server does not accept the token of this cluster. */
export class TokenRefusal extends DomainError {
  constructor(detail: string) {
    // The code of a token would be taken for that of a source.
    super('cluster_unknown', detail);
  }

  /** What is reported until a hello is refused too: a server that is being replaced may not know the token yet. */
  get unconfirmed(): DomainError {
    const detail = `the server of Keyframe does not accept the token of this cluster at the moment: ${this.detail}`;
    return new DomainError('store_unavailable', detail, { cause: this });
  }
}

export interface RefusedAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Undefined if the answer is no object of JSON. */
  readonly body: Readonly<Record<string, unknown>> | undefined;
}

/** The error for an answer other than a success. */
export function refusal({ status, headers, body }: RefusedAnswer): DomainError {
  const problem = problemOf(body);
  if (problem === undefined || status >= 502) return outageOf(status, problem);
  const { code, detail } = problem;
  switch (status) {
    case 401:
      return new TokenRefusal(detail);
    case 404:
      return new DomainError(
        'protocol_unsupported',
        'the server of Keyframe is of an older release, which serves no controllers over HTTPS: upgrade it first',
      );
    case 429:
      return new DomainError('overloaded', detail, { retryAfterSeconds: secondsOf(headers['retry-after']) });
    case 500:
      return new DomainError('internal', detail);
    default:
      return new DomainError(code ?? 'internal', detail);
  }
}

interface KnownProblem {
  /** Undefined for a code of a newer server. */
  readonly code: ErrorCode | undefined;
  readonly detail: string;
}

function outageOf(status: number, problem: KnownProblem | undefined): DomainError {
  if (problem?.code !== undefined && status === 503) return new DomainError(problem.code, problem.detail);
  const detail = `the server of Keyframe answered ${status}, but not as Keyframe does; check KEYFRAME_SERVER_URL and what lies between`;
  return new DomainError('store_unavailable', detail);
}

function problemOf(body: RefusedAnswer['body']): KnownProblem | undefined {
  const { code, detail } = body ?? {};
  if (typeof code !== 'string' || typeof detail !== 'string') return undefined;
  return { code: Object.hasOwn(errorCatalogue, code) ? (code as ErrorCode) : undefined, detail };
}

const maxRetryAfterSeconds = 60;

function secondsOf(retryAfter: string | undefined): number {
  const seconds = Number(retryAfter ?? 1);
  return Number.isInteger(seconds) && seconds > 0 ? Math.min(seconds, maxRetryAfterSeconds) : 1;
}
