import type { NamespacedName, ObjectMeta } from '../../../../kube/client/objects.ts';
import { isApiStatus } from '../../../../kube/client/api-error.ts';
import type { Precondition, SecretContent, SecretsClient } from '../../../../kube/client/secrets.ts';
import type { Metrics, SecretOperation } from '../../../../observability/metrics.ts';
import type { SecretSync } from '../../../generated/secret-sync.ts';
import { targetError } from './target-error.ts';
import { encodedRecord, fieldManagerOf, recordAnnotationOf } from './merge-identity.ts';
import { recordTooLong } from '../messages.ts';
import { mergeConflict } from '../ownership-messages.ts';
import { targetOf } from '../spec/resource.ts';
import type { SecretData } from '../data/secret-data.ts';
import { targetMetadata } from './target-metadata.ts';
import { type Decision, type TargetRecord, maxAnnotationBytes } from '../model.ts';

export interface ActDeps {
  readonly secretsClient: Pick<SecretsClient, 'check' | 'create' | 'replace' | 'apply' | 'delete'>;
  readonly metrics: Pick<Metrics, 'secretWrite'>;
}

export interface Write {
  readonly decision: Extract<Decision, { action: 'create' | 'replace' | 'recreate' | 'apply' }>;
  readonly sync: SecretSync;
  readonly data: SecretData;
  /** The record of the data's sources, for the Secret. */
  readonly record: TargetRecord;
  /** Metadata of the version that the decision was made for. */
  readonly existing: ObjectMeta | undefined;
  /** Whether the write undoes what another client did. */
  readonly isRepair: boolean;
}

/** The write failed because the Secret has changed since it was judged. */
class TargetChangedError extends Error {
  override readonly name = 'TargetChangedError';
}

/**
 * Applies a decision and returns the resulting metadata; undefined if the Secret has changed since it was judged and must
 * be observed again. Throws DomainError target_refused or target_too_large if the API server refuses the Secret,
 * merge_conflict if other managers hold its keys, and ApiError for other failures.
 */
export async function act(deps: ActDeps, write: Write): Promise<ObjectMeta | undefined> {
  const { decision, sync, existing } = write;
  const target = targetOf(sync);
  const as = <T extends SecretOperation>(operation: T): T | 'repair' => (write.isRepair ? 'repair' : operation);
  try {
    if (decision.action === 'create') return await create(deps, target, contentOf(write, undefined), as('create'));
    if (decision.action === 'replace') {
      const { secretsClient } = deps;
      const content = contentOf(write, existing);
      return await counted(
        deps,
        as('replace'),
        [404, 409],
        async () => await secretsClient.replace(target.namespace, content, decision.precondition),
      );
    }
    if (decision.action === 'apply') return await apply(deps, write, decision.precondition);
    const content = contentOf(write, existing);
    // A dry run first: if the API server would refuse the new Secret, the present one must stay.
    await deps.secretsClient.check(target.namespace, content);
    await remove(deps, target, decision.precondition);
    return await create(deps, target, content, as('create'));
  } catch (error) {
    if (error instanceof TargetChangedError) return undefined;
    throw targetError(error, sync) ?? error;
  }
}

function contentOf({ sync, data, record }: Write, existing: ObjectMeta | undefined): SecretContent {
  const metadata = targetMetadata(sync, existing, record);
  expectFits(sync, metadata.annotations);
  return { metadata, type: sync.spec.target.type, data: data.data };
}

/** Checks the size before the write, with a clear message: the record of thousands of keys is long. */
function expectFits(sync: SecretSync, annotations: Readonly<Record<string, string>> | undefined): void {
  const sizes = Object.entries(annotations ?? {}).map(
    ([name, text]) => Buffer.byteLength(name) + Buffer.byteLength(text),
  );
  const bytes = sizes.reduce((total, size) => total + size, 0);
  if (bytes > maxAnnotationBytes) throw recordTooLong(sync, bytes, true);
}

async function create(
  deps: ActDeps,
  { namespace }: NamespacedName,
  content: SecretContent,
  operation: SecretOperation,
): Promise<ObjectMeta> {
  return await counted(deps, operation, [409], async () => await deps.secretsClient.create(namespace, content));
}

async function apply(
  deps: ActDeps,
  { sync, data, record, existing, isRepair }: Write,
  precondition: Precondition,
): Promise<ObjectMeta> {
  const content = {
    manager: fieldManagerOf(sync),
    annotations: { [recordAnnotationOf(sync)]: encodedRecord(record) },
    data: data.data,
  };
  expectFits(sync, { ...existing?.annotations, ...content.annotations });
  try {
    return await counted(
      deps,
      isRepair ? 'repair' : 'apply',
      [404, 409],
      async () => await deps.secretsClient.apply(targetOf(sync), content, precondition),
    );
  } catch (error) {
    throw error instanceof TargetChangedError ? (mergeConflict(sync, error.cause) ?? error) : error;
  }
}

async function remove(deps: ActDeps, target: NamespacedName, precondition: Precondition): Promise<void> {
  await counted(deps, 'delete', [404, 409], async () => await deps.secretsClient.delete(target, precondition));
}

/** Runs one write and counts its result. The statuses in `conflicts` mean that the Secret has changed since it was judged. */
async function counted<T>(
  { metrics }: ActDeps,
  operation: SecretOperation,
  conflicts: readonly number[],
  write: () => Promise<T>,
): Promise<T> {
  try {
    const written = await write();
    metrics.secretWrite(operation, 'done');
    return written;
  } catch (error) {
    const isConflict = isApiStatus(error, ...conflicts);
    metrics.secretWrite(operation, isConflict ? 'conflict' : 'failed');
    throw isConflict ? new TargetChangedError('the Secret has changed since it was judged', { cause: error }) : error;
  }
}
