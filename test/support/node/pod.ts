/** A pod of an application: one container with Node.js, within what Pod Security «restricted» allows. */
export interface PodOptions {
  readonly name: string;
  readonly image: string;
  /** JavaScript, as CommonJS. */
  readonly script: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** The port at which the script serves HTTP: the pod is ready when it answers there; absent for a pod that serves nothing. */
  readonly port?: number;
  /** Whether it is asked as often as the chart has the server asked; else once a second, from the start. */
  readonly probes?: 'chart';
  readonly env?: Readonly<Record<string, string>>;
  /** The Secret whose keys become variables. */
  readonly secretEnv?: string;
  /** The Secret whose keys become files in /etc/secret. */
  readonly secretFiles?: string;
}

/** The labels and the spec of a pod, for a Pod or the template of a workload. */
export function podTemplate(options: PodOptions): { metadata: { labels: object }; spec: object } {
  const { name, labels = {}, secretFiles } = options;
  const files = secretFiles === undefined ? [] : [{ name: 'secret', secret: { secretName: secretFiles } }];
  return {
    metadata: { labels: { app: name, ...labels } },
    spec: {
      securityContext: { runAsNonRoot: true, runAsUser: 65532, seccompProfile: { type: 'RuntimeDefault' } },
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      // A script that does not listen for the signal is not waited for.
      terminationGracePeriodSeconds: 2,
      containers: [container(options)],
      volumes: files,
    },
  };
}

function container(options: PodOptions): object {
  const { image, script, port, probes, env = {}, secretEnv, secretFiles } = options;
  return {
    name: 'main',
    image,
    imagePullPolicy: 'Never',
    command: ['node', '-e', script],
    env: Object.entries(env).map(([name, value]) => ({ name, value })),
    envFrom: secretEnv === undefined ? [] : [{ secretRef: { name: secretEnv } }],
    volumeMounts: secretFiles === undefined ? [] : [{ name: 'secret', mountPath: '/etc/secret', readOnly: true }],
    ...(port === undefined ? {} : servingOn(port, probes)),
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    },
  };
}

function servingOn(port: number, probes: PodOptions['probes']): object {
  const httpGet = { path: '/', port: 'http' };
  const asOften = {
    startupProbe: { httpGet, periodSeconds: 1, failureThreshold: 60 },
    readinessProbe: { httpGet, periodSeconds: 2 },
  };
  return {
    ports: [{ name: 'http', containerPort: port }],
    ...(probes === 'chart' ? asOften : { readinessProbe: { httpGet, periodSeconds: 1 } }),
  };
}
