import type { KubeObject } from '../../../kube/client/objects.ts';
import type { SecretSync } from '../../generated/secret-sync.ts';
import { restartPrefix } from '../../annotations.ts';

/** A workload that a SecretSync names. */
export type Target = NonNullable<SecretSync['spec']['rollout']>['targets'][number];
export type WorkloadKind = Target['kind'];

/** Of metav1. */
export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: readonly string[];
  }[];
}

/** The part of a Deployment, StatefulSet or DaemonSet (apps/v1) that shows whether its pods are up to date. */
export interface Workload extends KubeObject {
  /** Identifies the pod template, which is not kept; see `templateDigest`. */
  readonly templateDigest?: string;
  readonly spec?: {
    readonly replicas?: number;
    readonly selector?: LabelSelector;
    readonly paused?: boolean;
    readonly updateStrategy?: {
      readonly type?: string;
      readonly rollingUpdate?: { readonly partition?: number } | null;
    };
    readonly template?: { readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> } };
  };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly replicas?: number;
    readonly updatedReplicas?: number;
    readonly availableReplicas?: number;
    readonly readyReplicas?: number;
    readonly desiredNumberScheduled?: number;
    readonly updatedNumberScheduled?: number;
    readonly numberAvailable?: number;
    readonly conditions?: readonly { readonly type: string; readonly reason?: string }[];
  };
}

const plurals: Readonly<Record<WorkloadKind, string>> = {
  Deployment: 'deployments',
  StatefulSet: 'statefulsets',
  DaemonSet: 'daemonsets',
};

export const workloadKinds = Object.keys(plurals) as readonly WorkloadKind[];

/** The collection of a kind of workload in a namespace. */
export function workloadsPath(kind: WorkloadKind, namespace: string): string {
  return `/apis/apps/v1/namespaces/${encodeURIComponent(namespace)}/${plurals[kind]}`;
}

/** `Deployment web`: for messages, and as a key within a namespace. */
export function nameOf({ kind, name }: Target): string {
  return `${kind} ${name}`;
}

/** The kept annotations of a workload's pod template. */
export function templateAnnotations({ spec }: Workload): Readonly<Record<string, string>> {
  return spec?.template?.metadata?.annotations ?? {};
}

/**
 * A workload without unneeded parts, above all the containers of its pods, whose environment may contain secrets. `digest`
 * replaces them.
 */
export function trimmedWorkload({ metadata, spec, status }: Workload, digest: string): Workload {
  const { name, namespace, uid, resourceVersion, generation, deletionTimestamp } = metadata;
  const ours = Object.entries(spec?.template?.metadata?.annotations ?? {}).filter(([key]) =>
    key.startsWith(restartPrefix),
  );
  const deadline = status?.conditions?.filter(({ type }) => type === 'Progressing') ?? [];
  return {
    templateDigest: digest,
    metadata: { name, namespace, uid, resourceVersion, generation, deletionTimestamp } as Workload['metadata'],
    spec: {
      ...picked(spec ?? {}, ['replicas', 'paused', 'selector', 'updateStrategy']),
      template: { metadata: { annotations: Object.fromEntries(ours) } },
    },
    status: {
      ...picked(status ?? {}, statusFields),
      conditions: deadline.map(({ type, reason }) => ({ type, ...(reason === undefined ? {} : { reason }) })),
    },
  };
}

const statusFields = [
  'observedGeneration',
  'replicas',
  'updatedReplicas',
  'availableReplicas',
  'readyReplicas',
  'desiredNumberScheduled',
  'updatedNumberScheduled',
  'numberAvailable',
] as const satisfies readonly (keyof NonNullable<Workload['status']>)[];

function picked<T extends object, K extends keyof T>(from: T, fields: readonly K[]): Partial<Pick<T, K>> {
  const present = fields.filter((field) => from[field] !== undefined);
  return Object.fromEntries(present.map((field) => [field, from[field]])) as Partial<Pick<T, K>>;
}
