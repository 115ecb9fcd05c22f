import { z } from 'zod';
import { name, slug } from './fields.ts';

/** Organizations, projects and environments. */

/** The body that creates an organization, project or environment. */
export const createTenantBody = z.strictObject({ slug, displayName: name.exactOptional() });

/** The body that changes an organization, project or environment. */
export const updateTenantBody = z.strictObject({ displayName: name });

/** The body that forbids or allows impersonation. */
export const setImpersonationBody = z.strictObject({ forbidden: z.boolean() });

/** The paths of purges. Their slugs are input and not an access target, because a deleted target has no access. */
export const organizationPath = z.strictObject({ org: slug });
export const projectPath = z.strictObject({ org: slug, project: slug });
export const environmentPath = z.strictObject({ org: slug, project: slug, env: slug });

const tenantFields = {
  id: z.guid(),
  slug: z.string(),
  displayName: z.string(),
  createdAt: z.iso.datetime(),
};
const nextCursor = z.string().nullable();

const organizationFields = {
  ...tenantFields,
  /** Whether only personal tokens that their users created work in the organization. */
  impersonationForbidden: z.boolean(),
};

export const organizationView = z.strictObject(organizationFields);
/** `role` is the role of the caller in the organization; null for a service token. */
export const listedOrganizationView = z.strictObject({
  ...organizationFields,
  role: z.enum(['owner', 'admin', 'developer', 'viewer']).nullable(),
});
export const projectView = z.strictObject(tenantFields);
export const environmentView = z.strictObject({
  ...tenantFields,
  /** Number of the newest revision of its secrets; 0 before the first change. */
  revision: z.int(),
  revisionId: z.guid(),
});
export const organizationListView = z.strictObject({ organizations: z.array(listedOrganizationView), nextCursor });
export const projectListView = z.strictObject({ projects: z.array(projectView), nextCursor });
export const environmentListView = z.strictObject({ environments: z.array(environmentView), nextCursor });

export type OrganizationView = z.infer<typeof organizationView>;
export type ProjectView = z.infer<typeof projectView>;
export type EnvironmentView = z.infer<typeof environmentView>;
