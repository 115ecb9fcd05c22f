import { readFileSync } from 'node:fs';
import type { RequestOptions } from 'node:https';
import { dirname, resolve } from 'node:path';
import { parse } from 'yaml';

/** A cluster and a user, as a kubeconfig has them. */
export interface KubeContext {
  readonly file: string;
  /** Paths in it are absolute. */
  readonly cluster: Readonly<Record<string, unknown>> & { readonly server: string };
  readonly user: Readonly<Record<string, unknown>>;
}

interface Kubeconfig {
  readonly clusters?: readonly { readonly name: string; readonly cluster?: KubeContext['cluster'] }[];
  readonly users?: readonly { readonly name: string; readonly user?: KubeContext['user'] }[];
  readonly contexts?: readonly { readonly name: string; readonly context?: { cluster?: string; user?: string } }[];
  readonly 'current-context'?: string;
}

const filesOfCluster = ['certificate-authority'];
const filesOfUser = ['client-certificate', 'client-key'];
const plainInCluster = new Set(['server', 'certificate-authority', 'certificate-authority-data']);
const plainInUser = new Set(['token', ...filesOfUser, ...filesOfUser.map((name) => `${name}-data`)]);

/** Reads what a kubeconfig's current context names. Throws if the file is unreadable or names no cluster. */
export function readContext(kubeconfigFile: string): KubeContext {
  const config: Kubeconfig = (parse(readFileSync(kubeconfigFile, 'utf8')) as Kubeconfig | null) ?? {};
  const context = named(config.contexts, config['current-context'])?.context;
  const cluster = named(config.clusters, context?.cluster)?.cluster;
  if (cluster === undefined) throw new Error(`${kubeconfigFile} has no current context with a cluster.`);
  const folder = dirname(kubeconfigFile);
  return {
    file: kubeconfigFile,
    cluster: { ...withAbsolute(cluster, filesOfCluster, folder), server: cluster.server },
    user: withAbsolute(named(config.users, context?.user)?.user ?? {}, filesOfUser, folder),
  };
}

/**
 * The part of a request's options that depends on the context. Most kubeconfigs hold a token or a certificate, and need no
 * library for that; loading it would take most of a second of CPU time in each test file.
 */
export async function optionsFor(context: KubeContext): Promise<RequestOptions> {
  return plainOptions(context) ?? (await libraryOptions(context));
}

/** Undefined if the context has anything else than an authority and a token or a certificate, such as a plugin or a proxy. */
export function plainOptions({ cluster, user }: Pick<KubeContext, 'cluster' | 'user'>): RequestOptions | undefined {
  const isPlain =
    cluster.server.startsWith('https:') &&
    Object.keys(cluster).every((name) => plainInCluster.has(name)) &&
    Object.keys(user).every((name) => plainInUser.has(name));
  if (!isPlain) return undefined;
  const ca = contentOf(cluster, 'certificate-authority');
  const cert = contentOf(user, 'client-certificate');
  const key = contentOf(user, 'client-key');
  const { token } = user;
  return {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    headers: typeof token === 'string' ? { Authorization: `Bearer ${token}` } : {},
  };
}

async function libraryOptions({ file }: KubeContext): Promise<RequestOptions> {
  const { KubeConfig } = await import('@kubernetes/client-node');
  const config = new KubeConfig();
  config.loadFromFile(file);
  const options: RequestOptions = { headers: {} };
  await config.applyToHTTPSOptions(options);
  return options;
}

/** The content of `name`-data, or of the file `name`. */
export function contentOf(entry: Readonly<Record<string, unknown>>, name: string): Buffer | undefined {
  const data = entry[`${name}-data`];
  if (typeof data === 'string') return Buffer.from(data, 'base64');
  const file = entry[name];
  return typeof file === 'string' ? readFileSync(file) : undefined;
}

function named<T extends { readonly name: string }>(
  entries: readonly T[] | undefined,
  name: string | undefined,
): T | undefined {
  return entries?.find((entry) => entry.name === name);
}

function withAbsolute<T extends Readonly<Record<string, unknown>>>(
  entry: T,
  files: readonly string[],
  folder: string,
): T {
  const paths = files.flatMap((name) =>
    typeof entry[name] === 'string' ? [[name, resolve(folder, entry[name])]] : [],
  );
  return { ...entry, ...Object.fromEntries(paths) };
}
