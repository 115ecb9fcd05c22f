/** The checks of a JWT, in the order in which they are made. The first that fails ends them. */
export const jwtChecks = [
  'form',
  'header',
  'audience',
  'token',
  'key',
  'signature',
  'issuer',
  'times',
  'claims',
  'credential',
] as const;

export type JwtCheck = (typeof jwtChecks)[number];

/** Why a JWT proves no service token. */
export type JwtFault =
  | 'jwt_too_large'
  | 'jwt_malformed'
  | 'jwt_header'
  | 'jwt_algorithm'
  | 'jwt_foreign_audience'
  | 'jwt_several_audiences'
  | 'jwt_unknown_audience'
  | 'jwt_issuer_algorithm'
  | 'jwt_unknown_key'
  | 'jwt_signature'
  | 'jwt_issuer'
  | 'jwt_no_times'
  | 'jwt_expired'
  | 'jwt_not_valid_yet'
  | 'jwt_lifetime'
  | 'jwt_claims';

/** Why a federated service token works with no JWT, besides what ends every token. */
export type FederationFault = 'issuer_disabled' | 'issuer_changed';

interface FaultDescription {
  readonly check: JwtCheck;
  /** What is wrong and what to do, for admins. Says nothing that only the JWT has. */
  readonly detail: string;
}

/** The check that finds a fault, and its text for admins. */
export const jwtFaults: Readonly<Record<JwtFault, FaultDescription>> = {
  jwt_too_large: {
    check: 'form',
    detail: 'the JWT is longer than 8 KiB; let the issuer put fewer claims into it',
  },
  jwt_malformed: {
    check: 'form',
    detail:
      'this is not a JWT: it must be three parts of base64url with dots between, the first two JSON objects without repeated names; send it whole, with nothing around it',
  },
  jwt_header: {
    check: 'header',
    detail:
      'the header of the JWT has jku, x5u, jwk or crit, another type than JWT, or a key id that is no text; keys come from the trusted issuer only',
  },
  jwt_algorithm: {
    check: 'header',
    detail: 'the JWT is not signed with RS256, ES256 or EdDSA; let the issuer sign with one of them',
  },
  jwt_foreign_audience: {
    check: 'audience',
    detail: 'the JWT is not for Keyframe: its audience must be the one that the service token shows',
  },
  jwt_several_audiences: {
    check: 'audience',
    detail: 'the JWT has several audiences; request one whose only audience is the one that the service token shows',
  },
  jwt_unknown_audience: {
    check: 'token',
    detail:
      'no federated service token has the audience of the JWT; copy it from the service token, and check that the token belongs to this installation',
  },
  jwt_issuer_algorithm: {
    check: 'key',
    detail:
      'the trusted issuer does not allow the algorithm of the JWT; an instance admin adds it with `keyframe issuer set --algorithm`',
  },
  jwt_unknown_key: {
    check: 'key',
    detail:
      'the trusted issuer has no key for the JWT: another issuer signed it, or the keys were replaced. An instance admin checks them with `keyframe issuer show`. Keys from a URL are fetched at most once a minute',
  },
  jwt_signature: {
    check: 'signature',
    detail: 'the signature of the JWT is wrong: another issuer signed it, or it was changed',
  },
  jwt_issuer: {
    check: 'issuer',
    detail: 'the claim iss of the JWT is not the iss of the trusted issuer, character by character',
  },
  jwt_no_times: {
    check: 'times',
    detail: 'the claims exp and iat of the JWT, and nbf if it has one, must be numbers, and exp after iat',
  },
  jwt_expired: { check: 'times', detail: 'the JWT has expired; request another' },
  jwt_not_valid_yet: {
    check: 'times',
    detail: 'the JWT is not valid yet by the clock of the database; compare it with the clock of the issuer',
  },
  jwt_lifetime: {
    check: 'times',
    detail:
      'the JWT is valid for longer than the trusted issuer allows; request one with a shorter lifetime, or an instance admin sets another limit with `keyframe issuer set --max-age`',
  },
  jwt_claims: {
    check: 'claims',
    detail:
      'a claim that the service token requires is missing in the JWT, is no text, or has another value; compare the claims of the service token with those of the job',
  },
};

/** Whether a JWT with this fault names a service token that there is: it passed the checks up to that. */
export function namesToken(fault: string): boolean {
  if (Object.hasOwn(federationFaults, fault)) return true;
  if (!Object.hasOwn(jwtFaults, fault)) return false;
  return jwtChecks.indexOf(jwtFaults[fault as JwtFault].check) > jwtChecks.indexOf('token');
}

/** The text for admins of what ends a federated service token alone. */
export const federationFaults: Readonly<Record<FederationFault, string>> = {
  issuer_disabled:
    'the trusted issuer of this token is disabled; an instance admin enables it with `keyframe issuer set`',
  issuer_changed:
    'the trusted issuer of this token was changed; an admin of the organization accepts it with `keyframe token accept-issuer`',
};
