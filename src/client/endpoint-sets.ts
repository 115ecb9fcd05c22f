/** Endpoints that exist for each of several places, by their place. */

export const roleEndpoints = {
  organization: {
    list: 'GET /organizations/{org}/roles',
    set: 'PUT /organizations/{org}/roles/{subject}',
    remove: 'DELETE /organizations/{org}/roles/{subject}',
  },
  project: {
    list: 'GET /projects/{org}/{project}/roles',
    set: 'PUT /projects/{org}/{project}/roles/{subject}',
    remove: 'DELETE /projects/{org}/{project}/roles/{subject}',
  },
  environment: {
    list: 'GET /environments/{org}/{project}/{env}/roles',
    set: 'PUT /environments/{org}/{project}/{env}/roles/{subject}',
    remove: 'DELETE /environments/{org}/{project}/{env}/roles/{subject}',
  },
} as const;

export type RoleEndpoints = (typeof roleEndpoints)[keyof typeof roleEndpoints];

const serviceTokenEndpoints = {
  organization: {
    list: 'GET /service-tokens/{org}',
    create: 'POST /service-tokens/{org}',
    get: 'GET /service-tokens/{org}/{id}',
    rotate: 'POST /service-tokens/{org}/{id}/rotate',
    reinstate: 'POST /service-tokens/{org}/{id}/reinstate',
    revoke: 'DELETE /service-tokens/{org}/{id}',
  },
  project: {
    list: 'GET /projects/{org}/{project}/service-tokens',
    create: 'POST /projects/{org}/{project}/service-tokens',
    get: 'GET /projects/{org}/{project}/service-tokens/{id}',
    rotate: 'POST /projects/{org}/{project}/service-tokens/{id}/rotate',
    reinstate: 'POST /projects/{org}/{project}/service-tokens/{id}/reinstate',
    revoke: 'DELETE /projects/{org}/{project}/service-tokens/{id}',
  },
} as const;

/** The endpoints of service tokens in one of the projects of an organization; in the organization without a project. */
export function tokenEndpoints({
  project,
}: {
  readonly project?: string | undefined;
}): (typeof serviceTokenEndpoints)[keyof typeof serviceTokenEndpoints] {
  return serviceTokenEndpoints[project === undefined ? 'organization' : 'project'];
}
