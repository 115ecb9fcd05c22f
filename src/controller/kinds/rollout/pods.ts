import { ApiError, isApiStatus } from '../../../kube/client/api-error.ts';
import type { KubeClient } from '../../../kube/client/client.ts';
import type { KubeObject } from '../../../kube/client/objects.ts';
import * as messages from './messages.ts';
import type { LabelSelector, Workload } from './targets.ts';

/** Why the pods of a restart are not ready. */
export type PodsVerdict =
  /** One of them fails in a way that its data can cause. */
  | { readonly kind: 'failing'; readonly reason: string }
  /** They fail in another way, or not at all. */
  | { readonly kind: 'hindered'; readonly reason: string }
  /** The API server denies access. */
  | { readonly kind: 'forbidden'; readonly reason: string };

interface ContainerStatus {
  readonly name: string;
  readonly ready?: boolean;
  readonly state?: {
    readonly waiting?: { readonly reason?: string };
    readonly running?: object;
    readonly terminated?: { readonly exitCode?: number; readonly reason?: string };
  };
}

/** The part of a pod (core/v1) that shows why it is not ready. */
export interface Pod extends KubeObject {
  readonly status?: {
    readonly phase?: string;
    readonly reason?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly reason?: string }[];
    readonly initContainerStatuses?: readonly ContainerStatus[];
    readonly containerStatuses?: readonly ContainerStatus[];
  };
}

interface PodPage {
  readonly metadata?: { readonly continue?: string };
  readonly items: readonly Pod[];
}

export interface PodsQuery {
  readonly namespace: string;
  readonly workload: Workload;
  /** The annotation of the restart's pods: its name and its value. */
  readonly mark: { readonly name: string; readonly text: string };
}

const pageSize = 250;
// Bounds one observation: the selector is the user's and may match many pods.
const maxPages = 40;

/**
 * Observes the pods of a workload's last restart, page by page, until one is found to fail. Only names of containers and
 * reasons are kept: messages and variables may contain values. Throws ApiError, except if the API server denies access.
 */
export async function observePods(client: Pick<KubeClient, 'request'>, question: PodsQuery): Promise<PodsVerdict> {
  let obstacle: string | undefined;
  try {
    for await (const pod of podsOf(client, question)) {
      const finding = findingOf(pod);
      if (finding?.kind === 'failing') return finding;
      obstacle ??= finding?.reason;
    }
  } catch (error) {
    if (!(error instanceof ApiError) || !isApiStatus(error, 401, 403)) throw error;
    return { kind: 'forbidden', reason: `${error.status} ${error.reason}` };
  }
  return { kind: 'hindered', reason: obstacle ?? messages.noPodFails };
}

async function* podsOf(
  client: Pick<KubeClient, 'request'>,
  { namespace, workload, mark }: PodsQuery,
): AsyncGenerator<Pod> {
  const labelSelector = selectorText(workload.spec?.selector);
  if (labelSelector === '') return;
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods`;
  let next: string | undefined = '';
  for (let page = 0; page < maxPages && next !== undefined; page += 1) {
    const query: Record<string, string> = {
      labelSelector,
      limit: String(pageSize),
      ...(next === '' ? {} : { continue: next }),
    };
    const { metadata, items }: PodPage = await client.request<PodPage>({ method: 'GET', path, query });
    const isOurs = ({ metadata: { annotations, deletionTimestamp } }: Pod): boolean =>
      annotations?.[mark.name] === mark.text && deletionTimestamp === undefined;
    yield* items.filter(isOurs);
    next = metadata?.continue || undefined;
  }
}

/** A label selector as a query parameter; empty if it selects everything or nothing. */
export function selectorText({ matchLabels = {}, matchExpressions = [] }: LabelSelector = {}): string {
  const labels = Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`);
  const expressions = matchExpressions.map(({ key, operator, values = [] }) => {
    if (operator === 'Exists') return key;
    if (operator === 'DoesNotExist') return `!${key}`;
    return `${key} ${operator === 'NotIn' ? 'notin' : 'in'} (${values.join(',')})`;
  });
  return [...labels, ...expressions].join(',');
}

// The kubelet's reasons for a container that fails because of its variables, files or program (kubernetes/kubelet/container).
const failingReasons: ReadonlySet<string> = new Set([
  'CrashLoopBackOff',
  'CreateContainerConfigError',
  'CreateContainerError',
  'RunContainerError',
  'PostStartHookError',
]);

/** Why a pod is not ready; undefined if it is ready. */
export function findingOf({ status = {} }: Pod): Exclude<PodsVerdict, { kind: 'forbidden' }> | undefined {
  const isTrue = (type: string): boolean =>
    status.conditions?.some((condition) => condition.type === type && condition.status === 'True') ?? false;
  if (isTrue('Ready')) return undefined;
  // It was evicted or its node is gone: that ended its containers.
  const end = status.reason ?? (isTrue('DisruptionTarget') ? 'Disruption' : undefined);
  if (end !== undefined) return { kind: 'hindered', reason: messages.podState(word(end)) };
  const inits = (status.initContainerStatuses ?? []).map((container) => containerFinding(container, true));
  const mains = (status.containerStatuses ?? []).map((container) => containerFinding(container, false));
  const findings = [...inits, ...mains].filter((finding) => finding !== undefined);
  return (
    findings.find(({ kind }) => kind === 'failing') ?? findings[0] ?? { kind: 'hindered', reason: podReason(status) }
  );
}

interface ContainerFinding {
  readonly kind: 'failing' | 'hindered';
  readonly reason: string;
}

function containerFinding({ name, ready, state = {} }: ContainerStatus, isInit: boolean): ContainerFinding | undefined {
  const { waiting, running, terminated } = state;
  const as = (kind: ContainerFinding['kind'], reason: string): ContainerFinding => {
    return { kind, reason: messages.containerState(name, word(reason)) };
  };
  if (terminated !== undefined) return endedFinding(terminated, as);
  if (waiting !== undefined) return as(isFailing(waiting) ? 'failing' : 'hindered', waiting.reason ?? 'Waiting');
  // A running init container is not a failure.
  const isUnready = running !== undefined && ready === false;
  return isUnready && !isInit ? as('failing', 'NotReady') : undefined;
}

function endedFinding(
  { exitCode = 0, reason = 'Error' }: NonNullable<NonNullable<ContainerStatus['state']>['terminated']>,
  as: (kind: 'failing', reason: string) => ContainerFinding,
): ContainerFinding | undefined {
  return exitCode === 0 ? undefined : as('failing', reason);
}

function isFailing({ reason = '' }: { readonly reason?: string }): boolean {
  return failingReasons.has(reason);
}

function podReason({ conditions = [], phase }: NonNullable<Pod['status']>): string {
  const unscheduled = conditions.find(({ type, status }) => type === 'PodScheduled' && status !== 'True');
  return messages.podState(word(unscheduled?.reason ?? phase ?? 'Pending'));
}

/** A pod's status is untrusted input. */
function word(reason: string): string {
  return /^[A-Za-z]{1,64}$/.test(reason) ? reason : 'Unknown';
}
