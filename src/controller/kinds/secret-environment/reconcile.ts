import { DomainError } from '../../../domain/errors/domain-error.ts';
import type { Asker } from '../../../domain/asker.ts';
import { objectKey } from '../../../kube/client/objects.ts';
import type { EnsuredEnvironment } from '../../../domain/resources/environments.ts';
import type { EnvironmentsBackend } from '../../backend/environments.ts';
import type { SecretEnvironment } from '../../generated/secret-environment.ts';
import type { ReconcileContext } from '../../frame/kind-rules.ts';
import type { Outcome } from '../../frame/outcome.ts';
import { type AskerDeps, askerOf } from '../asker-of.ts';
import { environmentPath, slugsOf } from '../../environment-ref.ts';
import { type Ensured, type MadeEnvironment, judgeConflict, judgeEnsured } from './judge.ts';
import { awaitsFinalizer } from './messages.ts';
import { namersOf, namersVersion } from './naming.ts';
import { lacksFinalizer, successorOf } from './successor.ts';

export interface EnvironmentReconcilerDeps extends AskerDeps {
  readonly backend: { readonly environments: EnvironmentsBackend };
  /** The SecretEnvironments of the cluster that name an environment. A reconcile begins only after all are listed. */
  readonly at: (place: string) => readonly SecretEnvironment[];
  /** Reconciles a SecretEnvironment whose environment has come to it. */
  readonly enqueue: (key: string) => void;
}

type EnvironmentContext = ReconcileContext<SecretEnvironment>;

/** Creates the environment of a SecretEnvironment if it does not exist, and reports it. */
export class EnvironmentReconciler {
  readonly #deps: EnvironmentReconcilerDeps;

  constructor(deps: EnvironmentReconcilerDeps) {
    this.#deps = deps;
  }

  /** Throws DomainError as the backend does. */
  async reconcile(context: EnvironmentContext): Promise<Outcome<SecretEnvironment>> {
    const { spec } = context.resource;
    try {
      const ensured = await this.#ensure(context);
      const made = spec.deletionPolicy === 'Delete' ? await this.#findMade(context) : undefined;
      const refusal = await this.#appointOwners(context, ensured);
      return judgeEnsured(spec, { ...ensured, refusal }, made);
    } catch (error) {
      if (!(error instanceof DomainError) || error.code !== 'conflict') throw error;
      // A taken slug can become free, and what is deleted can be undeleted.
      context.seen.note('slugs', '');
      context.seen.note('environments', '');
      return judgeConflict(spec, error, await this.#findMade(context));
    }
  }

  /**
   * Deletes the environment that a deleted resource created. If another resource names it too, that one takes it over
   * instead. Throws as `reconcile` does, and DomainError conflict if the other one cannot take it over at this moment.
   */
  async cleanup(context: EnvironmentContext): Promise<void> {
    const { backend, at, enqueue } = this.#deps;
    const { resource } = context;
    const place = environmentPath(resource.spec);
    const successor = successorOf(resource, at(place));
    if (successor === undefined) {
      await backend.environments.delete(this.#askerOf(context), slugsOf(resource.spec));
      return;
    }
    const { name, uid } = successor.metadata;
    if (lacksFinalizer(successor)) {
      throw new DomainError('conflict', awaitsFinalizer(place, name));
    }
    const handed = { ...slugsOf(resource.spec), successor: { name, uid } };
    await backend.environments.handOver(this.#askerOf(context), handed);
    // Its condition says whether it created the environment.
    enqueue(objectKey(successor.metadata));
  }

  async #ensure(context: EnvironmentContext): Promise<EnsuredEnvironment & Pick<Ensured, 'otherNamer'>> {
    const { displayName } = context.resource.spec;
    const namers = displayName === undefined ? [] : this.#namersOf(context);
    const slugs = slugsOf(context.resource.spec);
    const wanted = { ...slugs, displayName, namers: namers.map(({ metadata }) => metadata.uid) };
    const ensured = await this.#deps.backend.environments.ensure(this.#askerOf(context), wanted);
    context.seen.note('environment', ensured.environmentId, ensured.revisionId);
    const namer = namers.find(({ metadata }) => metadata.uid === ensured.namer);
    return { ...ensured, otherNamer: namer?.spec.displayName === displayName ? undefined : namer?.metadata.name };
  }

  /** All SecretEnvironments that set the display name of this one's environment. The result depends on them. */
  #namersOf({ resource, seen }: EnvironmentContext): readonly SecretEnvironment[] {
    const place = environmentPath(resource.spec);
    const namers = namersOf(this.#deps.at(place));
    seen.note('display names', place, namersVersion(namers));
    return namers;
  }

  /** Appoints the owners of spec.owners if the organization has none. Returns why it could not. */
  async #appointOwners(
    context: EnvironmentContext,
    { hasOwner }: EnsuredEnvironment,
  ): Promise<DomainError | undefined> {
    const { owners = [], environmentRef } = context.resource.spec;
    if (hasOwner || owners.length === 0) return undefined;
    const { organization } = environmentRef;
    try {
      await this.#deps.backend.environments.appointOwners(this.#askerOf(context), { organization, owners });
      return undefined;
    } catch (error) {
      // A conflict is about a user here, not about a slug.
      if (!(error instanceof DomainError) || !['not_found', 'conflict'].includes(error.code)) throw error;
      return error;
    }
  }

  async #findMade(context: EnvironmentContext): Promise<MadeEnvironment> {
    return await this.#deps.backend.environments.find(this.#askerOf(context));
  }

  #askerOf(context: EnvironmentContext): Asker {
    return askerOf(this.#deps, 'SecretEnvironment', context);
  }
}
