import { serverRoles } from './role-names.ts';
import * as schemas from './schemas.ts';
import type { Variable } from './variable.ts';

const oidcDetails = '[Sign-in with OpenID Connect](people.md#sign-in-with-openid-connect)';

/** The environment variables of sign-in with OpenID Connect and with passkeys. */
export const oidcVariables = {
  PUBLIC_URL: {
    schema: schemas.publicAddress,
    roles: serverRoles,
    format: '`https://` and a host; `http://` only for `localhost`',
    unset: 'no passkeys, and no sign-in with OpenID Connect',
    description:
      'Address at which browsers reach the API, which should not change, because passkeys belong to its host and sign-in links begin with it.',
    details: '[Passkeys](people.md#passkeys)',
  },
  OIDC_ISSUER: {
    schema: schemas.issuerAddress,
    roles: serverRoles,
    unset: 'no sign-in with OpenID Connect',
    format: '`https://` and a host with or without a path; `http://` only for `localhost`',
    description: 'Issuer of OpenID Connect with which users sign in, as it names itself.',
    details: oidcDetails,
  },
  OIDC_CLIENT_ID: {
    schema: schemas.oneLine,
    roles: serverRoles,
    format: 'one line',
    description: 'Name of this server at the issuer.',
    details: oidcDetails,
  },
  OIDC_CLIENT_SECRET: {
    schema: schemas.secretText,
    roles: serverRoles,
    secret: true,
    format: 'one line',
    description: 'Secret of this server at the issuer.',
    details: oidcDetails,
  },
  OIDC_CA_FILE: {
    schema: schemas.anyText,
    roles: serverRoles,
    unset: 'the authorities that Node.js trusts',
    readableFile: true,
    format: 'the path of a PEM file with certificates',
    description: 'Authorities that sign the certificate of the issuer.',
    details: oidcDetails,
  },
  OIDC_NAME: {
    schema: schemas.oneLine,
    roles: serverRoles,
    default: 'OpenID Connect',
    format: 'one line of at most 200 characters',
    description: 'Name of the issuer for users, such as `Example Login`.',
    details: oidcDetails,
  },
  OIDC_SCOPES: {
    schema: schemas.scopes,
    roles: serverRoles,
    default: 'openid email profile',
    format: 'scopes with spaces between',
    description: 'Scopes that a sign-in requests; `openid` is required.',
    details: oidcDetails,
  },
  OIDC_GROUPS_CLAIM: {
    schema: schemas.claimName,
    roles: serverRoles,
    default: 'groups',
    format: 'the name of a claim, or `none`',
    description: 'Claim with the groups of a user.',
    details: '[Groups](people.md#groups)',
  },
  OIDC_GROUPS_MAX_AGE: {
    schema: schemas.groupsMaxAge,
    roles: serverRoles,
    default: '24h',
    format: '`1m` to `720h`',
    description: 'How long after a sign-in the roles of groups count for a user.',
    details: '[Groups](people.md#groups)',
  },
} satisfies Readonly<Record<string, Variable>>;
