/**
 * The expected response of every route to every caller, written out from docs/interface.md sections 4 and 5 and the table of
 * roles, never computed from src/domain/policy: it is what the policy and its use by the routes are judged by.
 */

/** A caller with a live credential. Service tokens by scope and permission (r: read, rw: read_write). */
export const actors = [
  'owner',
  'admin',
  'developer',
  'viewer',
  'stranger',
  'instance-admin',
  'organization-r',
  'organization-rw',
  'project-r',
  'project-rw',
  'environment-r',
  'environment-rw',
] as const;

export type ActorName = (typeof actors)[number];

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
] as const;

export type DeadCredential = (typeof deadCredentials)[number];

/**
 * One line for each route, more where the answer depends on what is asked (the case in brackets; docs/interface.md
 * 4). The target is the actor's own: in the organization of the roles, and in the scope of each service token or
 * above it.
 */
const ownTargets = `
                                                                                     instance- organization project   environment
route                                             owner admin developer viewer stranger admin    r    rw    r    rw    r    rw
GET    /me                                          200   200   200       200    200     200    200  200   200  200   200  200

GET    /organizations                               200   200   200       200    200     200    200  200   200  200   200  200
GET    /organizations [all]                         403   403   403       403    403     200    403  403   403  403   403  403
GET    /organizations [deleted]                     403   403   403       403    403     200    403  403   403  403   403  403
POST   /organizations                               403   403   403       403    403     201    403  403   403  403   403  403
GET    /organizations/{org}                         200   200   200       200    404     404    200  200   200  200   200  200
PATCH  /organizations/{org}                         200   200   403       403    404     404    403  403   403  403   403  403
DELETE /organizations/{org}                         204   403   403       403    404     404    403  403   403  403   403  403
POST   /organizations/{org}/undelete                403   403   403       403    403     200    403  403   403  403   403  403
POST   /organizations/{org}/undelete [live]         403   403   403       403    403     200    403  403   403  403   403  403
POST   /organizations/{org}/purge                   403   403   403       403    403     204    403  403   403  403   403  403
PUT    /organizations/{org}/owner                   403   403   403       403    403     201    403  403   403  403   403  403
PUT    /organizations/{org}/impersonation           200   403   403       403    404     404    403  403   403  403   403  403

GET    /projects/{org}                              200   200   200       200    404     404    200  200   200  200   200  200
GET    /projects/{org} [deleted]                    200   200   403       403    404     404    403  403   403  403   403  403
POST   /projects/{org}                              201   201   403       403    404     404    403  403   403  403   403  403
GET    /projects/{org}/{project}                    200   200   200       200    404     404    200  200   200  200   200  200
PATCH  /projects/{org}/{project}                    200   200   403       403    404     404    403  403   403  403   403  403
DELETE /projects/{org}/{project}                    204   204   403       403    404     404    403  403   403  403   403  403
POST   /projects/{org}/{project}/undelete           200   200   403       403    404     404    403  403   403  403   403  403
POST   /projects/{org}/{project}/undelete [live]    200   200   403       403    404     404    403  403   403  403   403  403
POST   /projects/{org}/{project}/purge              403   403   403       403    403     204    403  403   403  403   403  403

GET    /environments/{org}/{project}                200   200   200       200    404     404    200  200   200  200   200  200
GET    /environments/{org}/{project} [deleted]      200   200   403       403    404     404    403  403   403  403   403  403
POST   /environments/{org}/{project}                201   201   403       403    404     404    403  403   403  403   403  403
GET    /environments/{org}/{project}/{env}          200   200   200       200    404     404    200  200   200  200   200  200
PATCH  /environments/{org}/{project}/{env}          200   200   403       403    404     404    403  403   403  403   403  403
DELETE /environments/{org}/{project}/{env}          204   204   403       403    404     404    403  403   403  403   403  403
POST   /environments/{org}/{project}/{env}/undelete 200   200   403       403    404     404    403  403   403  403   403  403
POST   /environments/{org}/{project}/{env}/undelete [live] 200 200 403     403    404     404    403  403   403  403   403  403
POST   /environments/{org}/{project}/{env}/purge    403   403   403       403    403     204    403  403   403  403   403  403
POST   /environments/{org}/{project}/{env}/copy     200   200   200       403    404     404    403  200   403  200   403  422
POST   /environments/{org}/{project}/{env}/copy [dry] 200 200   200       403    404     404    403  200   403  200   403  422
GET    /environments/{org}/{project}/{env}/consumers 200  200   200       200    404     404    200  200   200  200   200  200


GET    /users                                       403   403   403       403    403     200    403  403   403  403   403  403
POST   /users                                       403   403   403       403    403     201    403  403   403  403   403  403
GET    /users/{id}                                  403   403   403       403    403     200    403  403   403  403   403  403
PATCH  /users/{id}                                  403   403   403       403    403     200    403  403   403  403   403  403
POST   /users/{id}/personal-tokens                  403   403   403       403    403     201    403  403   403  403   403  403
DELETE /users/{id}/personal-tokens                  403   403   403       403    403     204    403  403   403  403   403  403

GET    /members/{org}                               200   200   200       200    404     404    403  403   403  403   403  403
PUT    /members/{org}/{user}                        201   201   403       403    404     404    403  403   403  403   403  403
PUT    /members/{org}/{user} [another_role]         200   200   403       403    404     404    403  403   403  403   403  403
PUT    /members/{org}/{user} [a_new_owner]          201   403   403       403    404     404    403  403   403  403   403  403
PUT    /members/{org}/{user} [confirmed]            200   403   403       403    404     404    403  403   403  403   403  403
PUT    /members/{org}/{user} [an_owner_demoted]     200   403   403       403    404     404    403  403   403  403   403  403
PUT    /members/{org}/{user} [oneself_to_owner]     200   403   403       403    404     404    403  403   403  403   403  403
DELETE /members/{org}/{user} [oneself]              204   204   204       204    404     404    403  403   403  403   403  403
DELETE /members/{org}/{user} [another]              204   204   403       403    404     404    403  403   403  403   403  403
DELETE /members/{org}/{user} [an_owner]             204   403   403       403    404     404    403  403   403  403   403  403
DELETE /members/{org}/{user} [the_last_owner]       409   403   403       403    404     404    403  403   403  403   403  403

GET    /personal-tokens                             200   200   200       200    200     200    403  403   403  403   403  403
POST   /personal-tokens                             201   201   201       201    201     201    403  403   403  403   403  403
DELETE /personal-tokens/{id}                        204   204   204       204    204     204    403  403   403  403   403  403

GET    /secrets/{org}/{project}/{env}               200   200   200       200    404     404    200  200   200  200   200  200
GET    /secrets/{org}/{project}/{env} [filtered]    200   200   200       200    404     404    200  200   200  200   200  200
GET    /secrets/{org}/{project}/{env} [deleted]     200   200   200       200    404     404    200  200   200  200   200  200
PATCH  /secrets/{org}/{project}/{env}               200   200   200       403    404     404    403  200   403  200   403  200
PATCH  /secrets/{org}/{project}/{env} [delete]      200   200   200       403    404     404    403  200   403  200   403  200
PATCH  /secrets/{org}/{project}/{env} [generate]    200   200   200       403    404     404    403  200   403  200   403  200
GET    /secrets/{org}/{project}/{env}/{key}         200   200   200       200    404     404    200  200   200  200   200  200
PUT    /secrets/{org}/{project}/{env}/{key}         201   201   201       403    404     404    403  201   403  201   403  201
PUT    /secrets/{org}/{project}/{env}/{key} [again] 200   200   200       403    404     404    403  200   403  200   403  200
DELETE /secrets/{org}/{project}/{env}/{key}         204   204   204       403    404     404    403  204   403  204   403  204

GET    /versions/{org}/{project}/{env}/{key}        200   200   200       200    404     404    200  200   200  200   200  200
POST   /versions/{org}/{project}/{env}/{key}/rollback 201 201   201       403    404     404    403  201   403  201   403  201
GET    /versions/{org}/{project}/{env}/{key}/{version} 200 200  200       200    404     404    200  200   200  200   200  200
POST   /versions/{org}/{project}/{env}/{key}/{version}/destroy 200 200 403 403   404     404    403  403   403  403   403  403

GET    /snapshots/{org}/{project}/{env}             200   200   200       200    404     404    200  200   200  200   200  200
POST   /snapshots/{org}/{project}/{env}             201   201   201       403    404     404    403  201   403  201   403  201
POST   /snapshots/{org}/{project}/{env}/restore     200   200   200       403    404     404    403  200   403  200   403  200
POST   /snapshots/{org}/{project}/{env}/restore [dry] 200 200   200       403    404     404    403  200   403  200   403  200
POST   /snapshots/{org}/{project}/{env}/prune       200   200   403       403    404     404    403  403   403  403   403  403
POST   /snapshots/{org}/{project}/{env}/prune [dry] 200   200   403       403    404     404    403  403   403  403   403  403
GET    /snapshots/{org}/{project}/{env}/{id}        200   200   200       200    404     404    200  200   200  200   200  200
GET    /snapshots/{org}/{project}/{env}/{id}/diff   200   200   200       200    404     404    200  200   200  200   200  200
DELETE /snapshots/{org}/{project}/{env}/{id}        204   204   403       403    404     404    403  403   403  403   403  403
GET    /snapshots/{id}                              200   200   200       200    404     404    200  200   200  200   200  200

GET    /service-tokens/{org}                        200   200   403       403    404     404    403  403   403  403   403  403
POST   /service-tokens/{org}                        201   201   403       403    404     404    403  403   403  403   403  403
GET    /service-tokens/{org}/{id}                   200   200   403       403    404     404    403  403   403  403   403  403
DELETE /service-tokens/{org}/{id}                   204   204   403       403    404     404    403  403   403  403   403  403
POST   /service-tokens/{org}/{id}/rotate            200   200   403       403    404     404    403  403   403  403   403  403
POST   /service-tokens/{org}/{id}/reinstate         200   200   403       403    404     404    403  403   403  403   403  403

GET    /audit                                       403   403   403       403    403     200    403  403   403  403   403  403
GET    /audit/{org}                                 200   200   403       403    404     404    403  403   403  403   403  403

GET    /fleet/{org}                                 200   200   200       200    404     404    200  200   200  200   200  200

GET    /changes/{org}/{project}/{env}               200   200   200       200    404     404    200  200   200  200   200  200
GET    /changes/{org}/{project}/{env} [stream]      200   200   200       200    404     404    200  200   200  200   200  200
POST   /changes/{org}/{project}/{env}/{revision}/revert 200 200 200      403    404     404    403  200   403  200   403  200
POST   /changes/{org}/{project}/{env}/{revision}/revert [dry] 200 200 200 403   404     404    403  200   403  200   403  200
`;

/** Targets that are not the actor's own, or are not at all. */
export const foreignTargets = [
  'sibling environment',
  'sibling project',
  'foreign organization',
  'missing environment',
  'missing project',
  'missing organization',
  'deleted environment',
  'deleted project',
  'deleted organization',
] as const;

export type ForeignTarget = (typeof foreignTargets)[number];
/** `=`: as on the own target. */
export type ForeignAnswer = number | '=';

/** People have their roles in both organizations that are deleted, and in none of the foreign one. */
const foreignTable = `
                       owner admin developer viewer stranger instance- organization project    environment
                                                             admin      r    rw     r    rw    r    rw
sibling environment      =     =     =         =      404     404       =    =      =    =     404  404
sibling project          =     =     =         =      404     404       =    =      404  404   404  404
foreign organization     404   404   404       404    404     404       404  404    404  404   404  404
missing environment      404   404   404       404    404     404       404  404    404  404   404  404
missing project          404   404   404       404    404     404       404  404    404  404   404  404
missing organization     404   404   404       404    404     404       404  404    404  404   404  404
deleted environment      404   404   404       404    404     404       404  404    404  404   404  404
deleted project          404   404   404       404    404     404       404  404    404  404   404  404
deleted organization     404   404   404       404    404     404       404  404    404  404   404  404
`;

/** A purge is the instance admins' wherever it is, and reveals to no other caller what exists. What lives is not purged. */
const foreignPurges = `
                       owner admin developer viewer stranger instance- organization project    environment
                                                             admin      r    rw     r    rw    r    rw
sibling environment      403   403   403       403    403     204       403  403    403  403   403  403
sibling project          403   403   403       403    403     204       403  403    403  403   403  403
foreign organization     403   403   403       403    403     204       403  403    403  403   403  403
missing environment      403   403   403       403    403     404       403  403    403  403   403  403
missing project          403   403   403       403    403     404       403  403    403  403   403  403
missing organization     403   403   403       403    403     404       403  403    403  403   403  403
`;

/** An undeletion finds what is deleted, for those who may undelete it. Under something deleted it is a conflict. */
const foreignEnvironmentUndeletions = `
                       owner admin developer viewer stranger instance- organization project    environment
                                                             admin      r    rw     r    rw    r    rw
sibling environment      =     =     =         =      404     404       =    =      =    =     404  404
sibling project          =     =     =         =      404     404       =    =      404  404   404  404
foreign organization     404   404   404       404    404     404       404  404    404  404   404  404
missing environment      404   404   404       404    404     404       404  404    404  404   404  404
missing project          404   404   404       404    404     404       404  404    404  404   404  404
missing organization     404   404   404       404    404     404       404  404    404  404   404  404
deleted environment      =     =     404       404    404     404       404  404    404  404   404  404
deleted project          409   409   404       404    404     404       404  404    404  404   404  404
deleted organization     409   409   404       404    404     404       404  404    404  404   404  404
`;

const foreignProjectUndeletions = `
                       owner admin developer viewer stranger instance- organization project    environment
                                                             admin      r    rw     r    rw    r    rw
sibling project          =     =     =         =      404     404       =    =      404  404   404  404
foreign organization     404   404   404       404    404     404       404  404    404  404   404  404
missing project          404   404   404       404    404     404       404  404    404  404   404  404
missing organization     404   404   404       404    404     404       404  404    404  404   404  404
deleted project          =     =     404       404    404     404       404  404    404  404   404  404
deleted organization     409   409   404       404    404     404       404  404    404  404   404  404
`;

/** That of an organization is the instance admins', like a purge. */
const foreignOrganizationUndeletions = `
                       owner admin developer viewer stranger instance- organization project    environment
                                                             admin      r    rw     r    rw    r    rw
foreign organization     403   403   403       403    403     200       403  403    403  403   403  403
missing organization     403   403   403       403    403     404       403  403    403  403   403  403
deleted organization     403   403   403       403    403     200       403  403    403  403   403  403
`;

/** So is the appointment of a first owner; one that has an owner gets no other this way. */
const foreignOwnerships = `
                       owner admin developer viewer stranger instance- organization project    environment
                                                             admin      r    rw     r    rw    r    rw
foreign organization     403   403   403       403    403     409       403  403    403  403   403  403
missing organization     403   403   403       403    403     404       403  403    403  403   403  403
deleted organization     403   403   403       403    403     404       403  403    403  403   403  403
`;

/** By line of the table: what allowed callers get if the last name in the path (a key, a version, an id, a user) stands for nothing there. */
export const missingItems: Readonly<Record<string, number>> = {
  'GET /users/{id}': 404,
  'PATCH /users/{id}': 404,
  'POST /users/{id}/personal-tokens': 404,
  'DELETE /users/{id}/personal-tokens': 404,
  'PUT /members/{org}/{user}': 404,
  'DELETE /members/{org}/{user} [another]': 404,
  'DELETE /personal-tokens/{id}': 404,
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

/** What a row's route answers to an actor on a foreign target. */
export function foreignAnswer({ path }: Row, target: ForeignTarget, actor: ActorName): ForeignAnswer | undefined {
  return answersAt(path).get(target)?.[actor];
}

function answersAt(path: string): ReturnType<typeof foreignAnswers> {
  if (path.endsWith('/purge')) return purgeAnswers;
  if (path.endsWith('{env}/undelete')) return environmentUndeletionAnswers;
  if (path.endsWith('{project}/undelete')) return projectUndeletionAnswers;
  if (path.endsWith('{org}/undelete')) return organizationUndeletionAnswers;
  return path.endsWith('/owner') ? ownershipAnswers : tenantAnswers;
}

const tenantAnswers = foreignAnswers(foreignTable);
const purgeAnswers = foreignAnswers(foreignPurges);
const environmentUndeletionAnswers = foreignAnswers(foreignEnvironmentUndeletions);
const projectUndeletionAnswers = foreignAnswers(foreignProjectUndeletions);
const organizationUndeletionAnswers = foreignAnswers(foreignOrganizationUndeletions);
const ownershipAnswers = foreignAnswers(foreignOwnerships);

function foreignAnswers(table: string): ReadonlyMap<string, Readonly<Record<ActorName, ForeignAnswer>>> {
  const entries = linesOf(table).flatMap((line) => {
    const target = foreignTargets.find((name) => line.startsWith(`${name} `));
    const cells = target === undefined ? '' : line.slice(target.length);
    return target === undefined
      ? []
      : [[target, byActor(cells, (cell) => (cell === '=' ? '=' : Number(cell)))] as const];
  });
  return new Map(entries);
}

function byActor<Cell>(cells: string, read: (cell: string) => Cell): Record<ActorName, Cell> {
  const each = cells.trim().split(/ +/);
  if (each.length !== actors.length) throw new Error(`${each.length} cells instead of ${actors.length}: ${cells}`);
  return Object.fromEntries(actors.map((actor, index) => [actor, read(each[index] ?? '')])) as Record<ActorName, Cell>;
}

function linesOf(table: string): string[] {
  return table.split('\n').map((line) => line.trimEnd());
}
