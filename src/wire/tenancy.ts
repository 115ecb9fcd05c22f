import { z } from 'zod';
import { booleanText, name, slug } from './fields.ts';

/** Organizations, projects and environments. */

/** The body that creates an organization, project or environment. */
export const createTenantBody = z.strictObject({ slug, displayName: name.exactOptional() });

/** The body that changes an organization, project or environment. */
export const updateTenantBody = z.strictObject({ displayName: name });

/** The body that changes an environment. */
export const updateEnvironmentBody = z
  .strictObject({
    displayName: name.exactOptional(),
    /** Whether only admins, and machines with access to this environment itself, may change its secrets. */
    protected: z.boolean().exactOptional(),
    /** Returns what would be, and changes nothing. */
    dryRun: z.boolean().exactOptional(),
  })
  .refine((body) => body.displayName !== undefined || body.protected !== undefined, {
    error: 'must have displayName or protected',
  });

/** The body that forbids or allows impersonation. */
export const setImpersonationBody = z.strictObject({ forbidden: z.boolean() });

/** `true` lists what is deleted and not purged, instead of the rest. */
export const tenantListQuery = z.strictObject({ deleted: booleanText.exactOptional() });

/** `environments=true` adds the environments of each project. The deleted ones are listed without. */
export const projectListQuery = tenantListQuery.extend({ environments: booleanText.exactOptional() });

/** `all=true` lists also the organizations that the caller has no role in. The deleted ones are always all. */
export const organizationListQuery = tenantListQuery.extend({ all: booleanText.exactOptional() });

/**
 * The paths of routes for instance admins. Their slugs are input and not an access target, because an instance admin needs
 * no role there.
 */
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

export const organizationView = z.strictObject(organizationFields).meta({ id: 'Organization' });
/** `role` is the role of the caller in the organization; null for a service token. */
const listedOrganizationView = z.strictObject({
  ...organizationFields,
  role: z.enum(['owner', 'admin', 'developer', 'viewer']).nullable(),
});
export const projectView = z.strictObject(tenantFields).meta({ id: 'Project' });
export const environmentView = z
  .strictObject({
    ...tenantFields,
    /** Number of the newest revision of its secrets; 0 before the first change. */
    revision: z.int(),
    revisionId: z.guid(),
    /** Whether it is protected. */
    protected: z.boolean(),
  })
  .meta({ id: 'Environment' });
/** An environment after a change. */
export const updatedEnvironmentView = environmentView
  .extend({
    /** The service tokens that lose write access, by name, if the environment becomes protected. */
    tokensWithoutAccess: z
      .array(z.strictObject({ id: z.guid(), name: z.string(), scope: z.enum(['organization', 'project']) }))
      .exactOptional(),
  })
  .meta({ id: 'UpdatedEnvironment' });
/** When it was deleted; only in the list of what is deleted. */
const deletedAt = z.iso.datetime().exactOptional();
/** An owner of an organization. A disabled one cannot use it. */
const organizationOwnerView = z.strictObject({ userId: z.guid(), email: z.string(), disabled: z.boolean() });
/** The owners by e-mail address; only in the lists for instance admins. */
const owners = z.array(organizationOwnerView).exactOptional();
export const organizationListView = z
  .strictObject({
    organizations: z.array(listedOrganizationView.extend({ owners, deletedAt })),
    nextCursor,
  })
  .meta({ id: 'OrganizationList' });
/** Only with `environments=true`. */
const environments = z.array(environmentView).exactOptional();
export const projectListView = z
  .strictObject({
    projects: z.array(projectView.extend({ environments, deletedAt })),
    nextCursor,
  })
  .meta({ id: 'ProjectList' });
export const environmentListView = z
  .strictObject({
    environments: z.array(environmentView.extend({ deletedAt })),
    nextCursor,
  })
  .meta({ id: 'EnvironmentList' });

export type OrganizationView = z.infer<typeof organizationView>;
export type OrganizationListView = z.infer<typeof organizationListView>;
export type ProjectView = z.infer<typeof projectView>;
export type EnvironmentView = z.infer<typeof environmentView>;
export type UpdatedEnvironmentView = z.infer<typeof updatedEnvironmentView>;
