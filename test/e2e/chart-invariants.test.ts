/** @default What the chart renders is safe with every values file. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import type { KubeObject } from '../../tools/devcluster/cluster/kube-http.ts';
import { exitCodes } from '../../src/config/exit-error.ts';
import { objectsOf, renderChart, valuesFiles } from '../support/cluster/helm.ts';
import { nonEmpty } from '../support/fixtures/non-empty.ts';

/** What holds of every release, whatever its values are. */

const namespace = 'keyframe';

interface Container {
  readonly name: string;
  readonly args?: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value?: string; readonly valueFrom?: object }[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string; readonly readOnly?: boolean }[];
  readonly securityContext?: object;
  readonly resources?: { readonly requests?: object };
  readonly readinessProbe?: { readonly httpGet?: object };
  readonly livenessProbe?: { readonly httpGet?: object };
  readonly startupProbe?: { readonly httpGet?: object };
}

interface PodSpec {
  readonly automountServiceAccountToken?: boolean;
  readonly serviceAccountName?: string;
  readonly securityContext?: object;
  readonly initContainers?: readonly Container[];
  readonly containers: readonly Container[];
  readonly volumes?: readonly { readonly name: string; readonly secret?: object; readonly emptyDir?: object }[];
}

type Labels = Readonly<Record<string, string>>;

/** A pod that an object makes, by that object's name. */
interface Pod {
  readonly owner: string;
  readonly kind: string;
  readonly labels: Labels;
  readonly spec: PodSpec;
  /** Names of the volumes that come with it, also from claims. */
  readonly volumes: readonly string[];
}

interface Workload extends KubeObject {
  readonly spec: {
    readonly replicas?: number;
    readonly strategy?: object;
    readonly selector: { readonly matchLabels: Labels };
    readonly template: { readonly metadata: { readonly labels: Labels }; readonly spec: PodSpec };
    readonly volumeClaimTemplates?: readonly KubeObject[];
  };
}

const rolesThatCall = new Set(['all', 'controller', 'init', 'pre-delete', 'smoke-test']);

function podsOf(objects: readonly KubeObject[]): Pod[] {
  return objects
    .filter(({ kind = '' }) => ['Deployment', 'StatefulSet', 'Job', 'Pod'].includes(kind))
    .map((object) => {
      const { kind = '', metadata } = object;
      const { template, volumeClaimTemplates = [] } = (object as Workload).spec;
      const spec = kind === 'Pod' ? (object as unknown as { spec: PodSpec }).spec : template.spec;
      const labels = kind === 'Pod' ? (metadata.labels ?? {}) : template.metadata.labels;
      const volumes = [...(spec.volumes ?? []), ...volumeClaimTemplates.map((claim) => claim.metadata)];
      return { owner: metadata.name, kind, labels, spec, volumes: volumes.map(({ name }) => name) };
    });
}

function containersOf({ spec: { initContainers = [], containers } }: Pod): readonly Container[] {
  return [...initContainers, ...containers];
}

function ofKind<T extends KubeObject>(objects: readonly KubeObject[], kind: string): T[] {
  return objects.filter((object) => object.kind === kind) as T[];
}

function matches(labels: Labels, selector: Labels): boolean {
  return Object.entries(selector).every(([name, value]) => labels[name] === value);
}

/** The values that turn off what the others have. */
const without: Readonly<Record<string, string>> = {
  NetworkPolicy: 'one-role.yaml',
  PodDisruptionBudget: 'placement.yaml',
  ValidatingAdmissionPolicy: 'bare.yaml',
};

describe.each(valuesFiles)('with the values of %s', (values) => {
  let objects: KubeObject[];
  let pods: Pod[];

  beforeAll(async () => {
    objects = objectsOf(await renderChart({ namespace, values }));
    pods = podsOf(objects);
  });

  test('no container can write to its root file system, raise its rights or run as root', () => {
    expect(pods.length).toBeGreaterThan(1);
    for (const pod of pods) {
      expect(pod.spec.securityContext).toMatchObject({
        runAsNonRoot: true,
        seccompProfile: { type: 'RuntimeDefault' },
      });
      for (const { name, securityContext } of nonEmpty(containersOf(pod)))
        expect({ name, securityContext }).toEqual({
          name,
          securityContext: {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] },
          },
        });
    }
  });

  test('only pods that call the API server hold a token for it', () => {
    for (const { owner, kind, spec } of nonEmpty(pods)) {
      const calls = spec.containers.some(({ args: [role = ''] = [] }) => rolesThatCall.has(role));
      expect([owner, kind, spec.automountServiceAccountToken]).toEqual([owner, kind, calls]);
    }
  });

  test('a pod is ready by /readyz and alive by /healthz, on the port of the metrics', () => {
    for (const { spec } of nonEmpty(pods.filter(({ kind }) => kind === 'Deployment'))) {
      const own = spec.containers.filter(({ name }) => name === 'keyframe');
      expect(own).toHaveLength(1);
      for (const { readinessProbe, livenessProbe, startupProbe, ports = [] } of own) {
        expect(readinessProbe?.httpGet).toEqual({ path: '/readyz', port: 'metrics' });
        expect(livenessProbe?.httpGet).toEqual({ path: '/healthz', port: 'metrics' });
        expect(startupProbe?.httpGet).toEqual({ path: '/healthz', port: 'metrics' });
        expect(ports).toContainEqual({ name: 'metrics', containerPort: 8701 });
      }
    }
  });

  test('an upgrade or a drain never leaves too few pods', () => {
    const deployments = nonEmpty(ofKind<Workload>(objects, 'Deployment'));
    for (const { spec } of deployments)
      expect(spec.strategy).toEqual({ type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } });
    const budgets = ofKind<KubeObject & { spec: { selector: { matchLabels: Labels } } }>(
      objects,
      'PodDisruptionBudget',
    );
    const scaled = ofKind<KubeObject & { spec: { maxReplicas: number } }>(objects, 'HorizontalPodAutoscaler');
    const several = deployments.filter(({ spec: { replicas = scaled[0]?.spec.maxReplicas ?? 1 } }) => replicas > 1);
    expect(budgets).toHaveLength(values === without['PodDisruptionBudget'] ? 0 : several.length);
    for (const { spec } of budgets) {
      expect(spec).toMatchObject({ maxUnavailable: 1, unhealthyPodEvictionPolicy: 'AlwaysAllow' });
      expect(pods.filter(({ labels }) => matches(labels, spec.selector.matchLabels))).toHaveLength(1);
    }
  });

  test('a value that is secret is mounted as a file that cannot be changed, and stands in no variable', () => {
    for (const pod of pods) {
      const secrets = new Set(pod.spec.volumes?.filter(({ secret }) => secret !== undefined).map(({ name }) => name));
      for (const { name, env = [], volumeMounts = [] } of containersOf(pod)) {
        const mounts = volumeMounts.filter((mount) => secrets.has(mount.name));
        expect(mounts.filter(({ readOnly }) => readOnly !== true)).toEqual([]);
        expect([name, volumeMounts.map((mount) => mount.name).filter((mount) => !pod.volumes.includes(mount))]).toEqual(
          [name, []],
        );
        const text = JSON.stringify(env.map(({ value, valueFrom }) => [value, valueFrom]));
        expect(text).not.toMatch(/secretKeyRef|postgresql:\/\/|kf_(?:pat|svc|cls)_/);
      }
    }
  });

  test('a separate controller is given nothing of a database or a root key, and does not migrate', () => {
    for (const { spec } of pods.filter(({ owner, kind }) => kind === 'Deployment' && owner.endsWith('-controller'))) {
      const [main] = spec.containers;
      expect(main?.args).toEqual(['controller']);
      expect(main?.env?.map(({ name }) => name)).toEqual(expect.arrayContaining(['KEYFRAME_SERVER_URL']));
      expect(spec.initContainers?.map(({ name }) => name) ?? []).not.toContain('migrate');
      expect(JSON.stringify([main, spec.volumes])).not.toMatch(/database|postgres|root.?key/i);
    }
  });

  test('every account that a pod names is made, or said to exist', () => {
    const made = ofKind(objects, 'ServiceAccount').map(({ metadata }) => metadata.name);
    const named = pods.map(({ spec }) => spec.serviceAccountName).filter((name) => name !== undefined);
    const expected = values === 'bare.yaml' ? ['ready-made', 'default'] : made;
    expect(named.filter((name) => !expected.includes(name))).toEqual([]);
  });

  test('Services and NetworkPolicies select the pods that they are for, and name ports that these have', () => {
    const servers = pods.filter(({ kind }) => kind === 'Deployment').map(({ owner }) => owner);
    const selected = (selector: Labels): string[] => {
      const found = pods.filter(({ labels }) => matches(labels, selector));
      return found.map(({ owner }) => owner);
    };
    const expected: Readonly<Record<string, readonly string[]>> = {
      server: servers.filter((name) => !name.endsWith('-controller')),
      cluster: servers.filter((name) => !name.endsWith('-controller')),
      controller: servers.filter((name) => name.endsWith('-controller')),
      metrics: servers,
      postgres: pods.filter(({ kind }) => kind === 'StatefulSet').map(({ owner }) => owner),
    };
    const services = ofKind<KubeObject & { spec: { selector: Labels; ports: { targetPort: string }[] } }>(
      objects,
      'Service',
    );
    // The API has one of its own.
    expect(services.length).toBeGreaterThan(servers.includes('keyframe') ? 1 : 0);
    for (const { metadata, spec } of services) {
      expect(selected(spec.selector)).toEqual(expected[metadata.labels?.['app.kubernetes.io/component'] ?? '']);
      for (const pod of pods.filter(({ labels }) => matches(labels, spec.selector))) {
        const ports = containersOf(pod).flatMap((container) => container.ports?.map(({ name }) => name) ?? []);
        expect(ports).toEqual(expect.arrayContaining(spec.ports.map(({ targetPort }) => targetPort)));
      }
    }
    const policies = ofKind<KubeObject & { spec: { podSelector: { matchLabels: Labels } } }>(objects, 'NetworkPolicy');
    expect(policies.length > 0).toBe(values !== without['NetworkPolicy']);
    for (const { metadata, spec } of policies) {
      const [, component = 'server'] = /-(controller|postgres)$/.exec(metadata.name) ?? [];
      expect(selected(spec.podSelector.matchLabels)).toEqual(expected[component]);
    }
  });

  test('the policy of approvals denies what it cannot judge, in every namespace that the controller serves', () => {
    const policies = ofKind<KubeObject & { spec: object }>(objects, 'ValidatingAdmissionPolicy');
    const bindings = ofKind<KubeObject & { spec: object }>(objects, 'ValidatingAdmissionPolicyBinding');
    expect(policies).toHaveLength(values === without['ValidatingAdmissionPolicy'] ? 0 : 1);
    expect(bindings).toHaveLength(policies.length);
    const variables = pods.flatMap(containersOf).flatMap(({ env = [] }) => env);
    const served = variables.find(({ name }) => name === 'KEYFRAME_WATCH_NAMESPACES')?.value;
    const byName = { key: 'kubernetes.io/metadata.name', operator: 'In', values: served?.split(',') };
    const where = served === undefined ? {} : { matchResources: { namespaceSelector: { matchExpressions: [byName] } } };
    for (const { metadata, spec } of policies) {
      expect(spec).toMatchObject({ failurePolicy: 'Fail' });
      expect(bindings.map((binding) => binding.spec)).toEqual([
        { policyName: metadata.name, validationActions: ['Deny'], ...where },
      ]);
    }
  });
});

describe('by default', () => {
  let objects: KubeObject[];
  let pods: Pod[];

  beforeAll(async () => {
    objects = objectsOf(await renderChart({ namespace }));
    pods = podsOf(objects);
  });

  function podOf(owner: string): Pod {
    const found = pods.find((pod) => pod.owner === owner);
    if (found === undefined) throw new Error(`${owner} makes no pod`);
    return found;
  }

  test('the pods that serve the API have no account with rights, and no other pod opens its port', () => {
    const servers = pods.filter(({ kind }) => kind === 'Deployment');
    const ports = servers.map(({ spec }) => spec.containers.flatMap(({ ports: open = [] }) => open.map((p) => p.name)));
    expect(servers.map(({ spec }) => spec.containers.map(({ args = [] }) => args))).toEqual([
      [['api']],
      [['controller']],
    ]);
    expect(ports).toEqual([['http', 'cluster', 'metrics'], ['metrics']]);
    const bound = objects.filter(({ kind = '' }) => kind.endsWith('RoleBinding')) as (KubeObject & {
      subjects: { name: string }[];
    })[];
    const account = servers[0]?.spec.serviceAccountName;
    expect(account).toBe('keyframe-api');
    expect(bound.flatMap(({ subjects }) => subjects).filter(({ name }) => name === account)).toEqual([]);
  });

  test('only the ports of the API, the metrics and PostgreSQL are open, and one to the controller', () => {
    const policies = ofKind<KubeObject & { spec: { ingress: { ports: { port: string }[]; from?: object[] }[] } }>(
      objects,
      'NetworkPolicy',
    );
    const open = policies.map(({ metadata, spec }) => [
      metadata.name,
      spec.ingress.flatMap(({ ports }) => ports.map(({ port }) => port)),
    ]);
    expect(Object.fromEntries(open)).toEqual({
      keyframe: ['http', 'metrics', 'cluster'],
      'keyframe-controller': ['metrics'],
      'keyframe-postgres': ['postgres'],
    });
    expect(policies[0]?.spec.ingress.find(({ ports }) => ports[0]?.port === 'cluster')?.from).toEqual([
      { podSelector: { matchLabels: expect.objectContaining({ 'app.kubernetes.io/component': 'controller' }) } },
    ]);
  });

  test('the program connects to PostgreSQL as another role than migrations', () => {
    const { containers, initContainers = [] } = podOf('keyframe').spec;
    const address = (container: Container | undefined): string | undefined =>
      container?.env?.find(({ name }) => name === 'KEYFRAME_DATABASE_URL_FILE')?.value;
    expect([address(containers[0]), address(initContainers[0])]).toEqual([
      '/etc/keyframe/database/url',
      '/etc/keyframe/database-owner/url',
    ]);
    expect(containers[0]?.volumeMounts?.map(({ name }) => name)).not.toContain('database-owner');
  });

  test('the pod of the controller holds the home token and a CA, and nothing of a database or a root key', () => {
    const { spec } = podOf('keyframe-controller');
    expect(spec.initContainers).toBeUndefined();
    expect(spec.volumes).toEqual([
      {
        name: 'cluster-token',
        secret: { secretName: 'keyframe-cluster-token', items: [{ key: 'token', path: 'token' }] },
      },
      { name: 'server-ca', secret: { secretName: 'keyframe-cluster-tls', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
    ]);
    const env = spec.containers[0]?.env?.map(({ name, value }) => `${name}=${value}`) ?? [];
    expect(env.filter((one) => /SERVER|TOKEN/.test(one))).toEqual([
      'KEYFRAME_SERVER_URL=https://keyframe-cluster.keyframe.svc:8702',
      'KEYFRAME_SERVER_CA_FILE=/etc/keyframe/server-ca/ca.crt',
      'KEYFRAME_CLUSTER_TOKEN_FILE=/etc/keyframe/cluster-token/token',
    ]);
  });
});

test('only the migration is given up for an exit code, which no other failure has', async () => {
  const objects = objectsOf(await renderChart({ namespace, values: 'owner.yaml' }));
  const jobs = ofKind<KubeObject & { spec: { podFailurePolicy?: object } }>(objects, 'Job');
  const rules = [
    { action: 'FailJob', onExitCodes: { containerName: 'migrate', operator: 'In', values: [exitCodes.configuration] } },
  ];
  expect(Object.fromEntries(jobs.map(({ metadata, spec }) => [metadata.name, spec.podFailurePolicy]))).toEqual({
    'keyframe-init': undefined,
    'keyframe-migrate': { rules },
    'keyframe-pre-delete': undefined,
  });
});

test('approvals are asked for by default', async () => {
  const objects = objectsOf(await renderChart({ namespace }));
  expect(ofKind(objects, 'ValidatingAdmissionPolicyBinding')).toHaveLength(1);
});

test('PostgreSQL’s port is open to the server’s pods alone, and it may call no one', async () => {
  const objects = objectsOf(await renderChart({ namespace, values: 'network-policies.yaml' }));
  const [policy] = ofKind<KubeObject & { spec: { ingress: { from: { podSelector: { matchLabels: Labels } }[] }[] } }>(
    objects,
    'NetworkPolicy',
  ).filter(({ metadata }) => metadata.name === 'keyframe-postgres');
  expect(policy?.spec).toMatchObject({ policyTypes: ['Ingress', 'Egress'] });
  expect(policy?.spec).not.toHaveProperty('egress');
  const peers = policy?.spec.ingress.flatMap(({ from }) => from) ?? [];
  expect(peers).toHaveLength(1);
  const admitted = podsOf(objects).filter(({ labels }) => matches(labels, peers[0]?.podSelector.matchLabels ?? {}));
  expect(admitted.map(({ owner }) => owner)).toEqual(['keyframe', 'keyframe-controller']);
});
