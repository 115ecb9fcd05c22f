import type { Plaintext } from '../domain/plaintext.ts';
import { holdsCertificates } from './certificates.ts';
import type { ServerRole } from './role-names.ts';
import type { ConfigSource } from './source.ts';
import type { Values, VariableReader } from './variable-reader.ts';

/** Sign-in with OpenID Connect (docs/people.md). */
export interface OidcConfig {
  /** The origin at which browsers reach this server. */
  readonly publicUrl: string;
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: Plaintext;
  /** Certificates in PEM; undefined for the authorities that Node.js trusts. */
  readonly ca: string | undefined;
  /** The name of the issuer for users. */
  readonly name: string;
  readonly scopes: string;
  /** Null for no groups. */
  readonly groupsClaim: string | null;
  readonly groupsMaxAgeMs: number;
}

const oidcRequired = ['PUBLIC_URL', 'OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET'] as const;
const oidcOptional = ['OIDC_CA_FILE', 'OIDC_NAME', 'OIDC_SCOPES', 'OIDC_GROUPS_CLAIM', 'OIDC_GROUPS_MAX_AGE'] as const;

/** Adds the faults that one variable alone does not show: with an issuer the others are needed, without one they have no effect. */
export function checkOidc(reader: VariableReader<ServerRole>, source: ConfigSource): void {
  if (reader.isSet('OIDC_ISSUER')) {
    for (const name of oidcRequired) {
      if (!reader.isSet(name)) reader.fault(name, 'is required with KEYFRAME_OIDC_ISSUER');
    }
    const { OIDC_CA_FILE: caFile } = reader.values;
    if (caFile !== undefined && !holdsCertificates(source.readTextFile(caFile))) {
      reader.fault(
        'OIDC_CA_FILE',
        "names a file without a valid certificate in PEM; it needs those of the authorities that sign the issuer's",
      );
    }
    return;
  }
  for (const name of [...oidcRequired, ...oidcOptional]) {
    if (name !== 'PUBLIC_URL' && reader.isSet(name)) reader.fault(name, 'needs KEYFRAME_OIDC_ISSUER');
  }
}

/** Undefined without an issuer. */
export function oidcConfig(values: Values<ServerRole>, source: ConfigSource): OidcConfig | undefined {
  const { PUBLIC_URL: publicUrl, OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId } = values;
  const { OIDC_CLIENT_SECRET: clientSecret, OIDC_CA_FILE: caFile } = values;
  if (publicUrl === undefined || issuer === undefined || clientId === undefined || clientSecret === undefined) {
    return undefined;
  }
  return {
    publicUrl,
    issuer,
    clientId,
    clientSecret,
    ca: caFile === undefined ? undefined : source.readTextFile(caFile),
    name: values.OIDC_NAME,
    scopes: values.OIDC_SCOPES,
    groupsClaim: values.OIDC_GROUPS_CLAIM,
    groupsMaxAgeMs: values.OIDC_GROUPS_MAX_AGE,
  };
}
