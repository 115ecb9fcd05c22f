import { randomUUID } from 'node:crypto';
import {
  type DeletedProjectRecord,
  findProject,
  insertProject,
  listDeletedProjects,
  listProjects,
  type ProjectRecord,
  readProject,
  renameProject,
} from '../../store/projects.ts';
import { type EnvironmentRecord, listAllEnvironments } from '../../store/environments.ts';
import type { InstanceAccess, OrganizationAccess, ProjectAccess } from '../access/access.ts';
import { auditedFailure, auditedTokenRead, successRecord } from '../audit/audited.ts';
import { checkName, checkSlug } from '../kernel/checks.ts';
import { makeChange } from '../change/change.ts';
import { type CreateInput, deletedMeanwhile, slugTaken, type UpdateInput } from './organizations.ts';
import type { TenancyDeps } from './tenancy-deps.ts';
import type { ProjectSlugs } from '../../domain/slugs.ts';
import { deleteTenant, purgeTenant } from './tenant-deletion.ts';
import { undeleteTenant } from './tenant-undeletion.ts';

export type { DeletedProjectRecord, ProjectRecord } from '../../store/projects.ts';

export interface ProjectWithEnvironments extends ProjectRecord {
  readonly environments: readonly EnvironmentRecord[];
}

export class Projects {
  readonly #deps: TenancyDeps;

  constructor(deps: TenancyDeps) {
    this.#deps = deps;
  }

  /** Makes a project. Throws DomainError conflict for a slug that is taken, also by a deleted project. */
  async create(access: OrganizationAccess<'project.create'>, input: CreateInput): Promise<ProjectRecord> {
    return auditedFailure(this.#deps.audit, access, async (note) => {
      const { slug, displayName = slug } = input;
      checkSlug('slug', slug);
      checkName('displayName', displayName);
      note({ project: slug });
      const { organizationId } = access;
      return makeChange(this.#deps, access, async (tx) => {
        const result = await insertProject(tx, { id: randomUUID(), organizationId, slug, displayName });
        if (result === undefined) throw slugTaken('project', slug);
        return { result, audit: successRecord(access, { project: slug, projectId: result.id }) };
      });
    });
  }

  /**
   * The projects the caller sees, by slug: all of them, the one that a service token is limited to, or those in which a
   * user has a role.
   */
  async list(access: OrganizationAccess<'project.list'>): Promise<readonly ProjectRecord[]> {
    return auditedTokenRead(this.#deps.audit, access, async () => {
      const { principal } = access.caller;
      const only = principal.type === 'service_token' ? principal.projectId : null;
      return listProjects(this.#deps.database.pool, access.organizationId, { only, visibleTo: access.visibleTo });
    });
  }

  /** Like `list`, each project with the environments in it that the caller sees, by slug. */
  async listWithEnvironments(access: OrganizationAccess<'project.list'>): Promise<readonly ProjectWithEnvironments[]> {
    const projects = await this.list(access);
    const { organizationId, visibleTo } = access;
    const { principal } = access.caller;
    const token = principal.type === 'service_token' ? principal : undefined;
    const environments = await listAllEnvironments(this.#deps.database.pool, organizationId, {
      onlyProject: token?.projectId ?? null,
      only: token?.environmentId ?? null,
      visibleTo,
    });
    const byProject = Map.groupBy(environments, ({ projectId }) => projectId);
    return projects.map((project) => ({ ...project, environments: byProject.get(project.id) ?? [] }));
  }

  async get(access: ProjectAccess<'project.read'>): Promise<ProjectRecord> {
    return auditedTokenRead(this.#deps.audit, access, async () => {
      const project = await findProject(this.#deps.database.pool, access.projectId);
      if (project === undefined) throw deletedMeanwhile('project');
      return project;
    });
  }

  /** Changes the display name. The slug is immutable. */
  async update(access: ProjectAccess<'project.update'>, { displayName }: UpdateInput): Promise<ProjectRecord> {
    return auditedFailure(this.#deps.audit, access, async () => {
      checkName('displayName', displayName);
      return makeChange(this.#deps, access, async (tx) => {
        const result = await renameProject(tx, access.projectId, displayName);
        if (result === undefined) throw deletedMeanwhile('project');
        return { result, audit: successRecord(access, { displayName }) };
      });
    });
  }

  /** Deletes the project with all that is in it, as `deleteTenant` does. */
  async delete(access: ProjectAccess<'project.delete'>): Promise<void> {
    const { organizationId, projectId } = access;
    await deleteTenant(this.#deps, access, { organizationId, projectId });
  }

  /** The projects of the organization that are deleted and not purged, by slug. Only people may ask. */
  async listDeleted({
    organizationId,
  }: OrganizationAccess<'project.list_deleted'>): Promise<readonly DeletedProjectRecord[]> {
    return listDeletedProjects(this.#deps.database.pool, organizationId);
  }

  /** Takes the deletion of the project back, as `undeleteTenant` does. */
  async undelete(access: ProjectAccess<'project.undelete'>): Promise<ProjectRecord> {
    const { organization, project, projectId } = access;
    return undeleteTenant(this.#deps, access, { organization, project }, (tx) => readProject(tx, projectId));
  }

  /** Removes a deleted project for good, its data keys too, as `purgeTenant` does. */
  async purge(access: InstanceAccess<'project.purge'>, { organization, project }: ProjectSlugs): Promise<void> {
    await purgeTenant(this.#deps, access, { organization, project });
  }
}
