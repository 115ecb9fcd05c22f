/**
 * The expected response of every route to every caller, written out from docs/interface.md sections 4 and 5 and the table of
 * roles, never computed from src/domain/policy: it is what the policy and its use by the routes are judged by.
 */

import { type ActorName, byActor, linesOf } from './actors.ts';
import { ownTargets } from './own-targets.ts';

/** Credentials that open nothing: 401 on every route. */
export const deadCredentials = [
  'no credential',
  'another scheme',
  'a malformed token',
  'an unknown token',
  'the id of a live token with another secret part',
  'an expired personal token',
  'a revoked personal token',
  'a personal token of a disabled user',
  'an expired service token',
  'a revoked service token',
  'a revoked credential of a live service token',
  'a pending service token',
  'a service token whose environment is deleted',
  'a service token whose project is deleted',
  'a service token whose organization is deleted',
  'a JWT of another key',
  'a JWT that has expired',
  'a JWT with another audience beside',
  'a JWT with another claim',
  'a JWT of a revoked service token',
] as const;

export type DeadCredential = (typeof deadCredentials)[number];

/** By line of the table: what allowed callers get if the last name in the path (a key, a version, an id, a user, a subject) stands for nothing there. */
export const missingItems: Readonly<Record<string, number>> = {
  'GET /users/{id}': 404,
  'PATCH /users/{id}': 404,
  'POST /users/{id}/personal-tokens': 404,
  'DELETE /users/{id}/personal-tokens': 404,
  'POST /users/{id}/sign-in-links': 404,
  'GET /users/{id}/sessions': 404,
  'DELETE /users/{id}/sessions': 404,
  'GET /users/{id}/identities': 404,
  'DELETE /users/{id}/identities/{identity}': 404,
  'GET /users/{id}/passkeys': 404,
  'DELETE /users/{id}/passkeys/{passkey}': 404,
  'POST /users/{id}/passkeys/{passkey}/confirm': 404,
  'PUT /members/{org}/{user}': 404,
  'DELETE /members/{org}/{user} [another]': 404,
  'DELETE /organizations/{org}/roles/{subject}': 404,
  'PUT /projects/{org}/{project}/roles/{subject}': 404,
  'DELETE /projects/{org}/{project}/roles/{subject} [another]': 404,
  'PUT /environments/{org}/{project}/{env}/roles/{subject}': 404,
  'DELETE /environments/{org}/{project}/{env}/roles/{subject} [another]': 404,
  'DELETE /personal-tokens/{id}': 404,
  'DELETE /sessions/{id}': 404,
  'POST /invitations/{id}/accept': 404,
  'POST /invitations/{id}/decline': 404,
  'DELETE /organizations/{org}/invitations/{id}': 404,
  'POST /clusters/{name}/disable': 404,
  'POST /clusters/{name}/enable': 404,
  'DELETE /clusters/{name}': 404,
  'GET /trusted-issuers/{name}': 404,
  'DELETE /trusted-issuers/{name}': 404,
  'GET /organizations/{org}/clusters/{name}': 404,
  'PUT /organizations/{org}/clusters/{name}': 404,
  'DELETE /organizations/{org}/clusters/{name}': 404,
  'DELETE /identities/{id}': 404,
  'DELETE /passkeys/{id}': 404,
  'POST /passkeys/{id}/confirm': 404,
  'GET /secrets/{org}/{project}/{env}/{key}': 404,
  'DELETE /secrets/{org}/{project}/{env}/{key}': 404,
  'GET /versions/{org}/{project}/{env}/{key}': 404,
  'POST /versions/{org}/{project}/{env}/{key}/rollback': 404,
  'GET /versions/{org}/{project}/{env}/{key}/{version}': 404,
  'POST /versions/{org}/{project}/{env}/{key}/{version}/destroy': 404,
  'GET /snapshots/{org}/{project}/{env}/{id}': 404,
  'GET /snapshots/{org}/{project}/{env}/{id}/diff': 404,
  'DELETE /snapshots/{org}/{project}/{env}/{id}': 404,
  'GET /snapshots/{id}': 404,
  'GET /service-tokens/{org}/{id}': 404,
  'DELETE /service-tokens/{org}/{id}': 404,
  'POST /service-tokens/{org}/{id}/rotate': 404,
  'POST /service-tokens/{org}/{id}/reinstate': 404,
  'POST /service-tokens/{org}/{id}/accept-issuer': 404,
  'POST /service-tokens/{org}/{id}/explain': 404,
  'GET /projects/{org}/{project}/service-tokens/{id}': 404,
  'DELETE /projects/{org}/{project}/service-tokens/{id}': 404,
  'POST /projects/{org}/{project}/service-tokens/{id}/rotate': 404,
  'POST /projects/{org}/{project}/service-tokens/{id}/reinstate': 404,
};

/** A line of the table: a route, maybe in one case, and what it answers to each actor. */
export interface Row {
  /** Such as `GET /me`; with its case in brackets where it has one. */
  readonly name: string;
  readonly route: string;
  readonly method: string;
  /** The template below /api/v1. */
  readonly path: string;
  readonly statuses: Readonly<Record<ActorName, number>>;
}

/** Every line of the table. */
export const rows: readonly Row[] = linesOf(ownTargets).flatMap((line) => {
  const match = /^(GET|POST|PUT|PATCH|DELETE) +(\/\S*)( \[\S+\])? +([\d ]+)$/.exec(line);
  if (match === null) return [];
  const [, method = '', path = '', label = '', statuses = ''] = match;
  const route = `${method} ${path}`;
  return [{ name: route + label, route, method, path, statuses: byActor(statuses, Number) }];
});
