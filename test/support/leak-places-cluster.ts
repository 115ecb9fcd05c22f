import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { KubeHttp, KubeObject } from '../../scripts/cluster/kube-http.ts';
import { AuditLog } from './audit-log.ts';
import { Etcd } from './etcd.ts';
import type { LeakPlace, SearchedPiece } from './leak-search.ts';

/** The places of the cluster: etcd, objects that people and tools read, and the API server's audit log. */

interface ListedObject extends KubeObject {
  readonly data?: unknown;
}

/**
 * Every key of etcd and its value as it is stored, except those of the Secrets (`namespace/name`) that rightfully hold
 * values. `socket` is etcd's client socket.
 */
export function etcdKeys(
  socket: string,
  { kube, namespace, exempt }: { kube: KubeHttp; namespace: string; exempt: () => readonly string[] },
): LeakPlace {
  return {
    name: 'etcd',
    async *contents() {
      const exempted = new Set(exempt().map((secret) => `/registry/secrets/${secret}`));
      for await (const entry of etcdEntries(socket)) if (!exempted.has(entry.name)) yield entry;
    },
    plant: (text) => plantObject(kube, `/api/v1/namespaces/${namespace}/configmaps`, { data: { note: text } }),
  };
}

/** The Events of all namespaces. */
export function events(kube: KubeHttp, namespace: string): LeakPlace {
  return {
    name: 'Events',
    contents: () => eachObject(kube, '/api/v1/events'),
    plant: (note) =>
      plantObject(kube, `/apis/events.k8s.io/v1/namespaces/${namespace}/events`, {
        eventTime: new Date().toISOString().replace('Z', '000Z'),
        action: 'Leak',
        reason: 'Leak',
        type: 'Normal',
        reportingController: 'keyframe.dev/test',
        reportingInstance: 'test',
        regarding: { kind: 'Namespace', name: namespace, namespace },
        note,
      }),
  };
}

/** All SecretSyncs, metadata and status included. `planted` is the path of one whose status may be overwritten. */
export function secretSyncs(kube: KubeHttp, planted: () => string): LeakPlace {
  return {
    name: 'SecretSyncs',
    contents: () => eachObject(kube, '/apis/keyframe.dev/v1alpha1/secretsyncs'),
    async plant(message) {
      const path = `${planted()}/status`;
      const { status } = await kube.json<{ status?: { conditions?: unknown } }>({ path });
      const condition = {
        type: 'Ready',
        status: 'False',
        reason: 'Leak',
        message,
        lastTransitionTime: new Date().toISOString(),
      };
      await mergePatch(kube, path, { status: { conditions: [condition] } });
      return () => mergePatch(kube, path, { status: { conditions: status?.conditions ?? null } });
    },
  };
}

/** Names, labels, annotations and the rest of all Secrets but their data. */
export function secretMetadata(kube: KubeHttp, namespace: string): LeakPlace {
  return {
    name: 'metadata of Secrets',
    contents: () => eachObject(kube, '/api/v1/secrets'),
    plant: (note) =>
      plantObject(kube, `/api/v1/namespaces/${namespace}/secrets`, {
        metadata: { annotations: { 'keyframe.dev/leak': note } },
      }),
  };
}

/** The API server's audit log. What was planted there stays in the file; its removal only stops looking that far back. */
export function auditLog(path: string, kube: KubeHttp): LeakPlace {
  const log = new AuditLog({ path, client: kube });
  let from = 0;
  return {
    name: 'audit log',
    async *contents() {
      await log.mark();
      yield { name: path, bytes: (await readFile(path)).subarray(from) };
    },
    async plant(text) {
      await kube.send({ path: `/api/v1/namespaces?leak=${encodeURIComponent(text)}` });
      return async () => {
        from = await log.mark();
      };
    },
  };
}

async function* eachObject(kube: KubeHttp, path: string): AsyncIterable<SearchedPiece> {
  const { items = [] } = await kube.json<{ items?: ListedObject[] }>({ path });
  for (const { data: _data, ...shown } of items) {
    yield {
      name: `${path}: ${shown.metadata.namespace}/${shown.metadata.name}`,
      bytes: Buffer.from(JSON.stringify(shown)),
    };
  }
}

async function plantObject(
  kube: KubeHttp,
  path: string,
  content: { readonly metadata?: object; readonly [field: string]: unknown },
): Promise<() => Promise<void>> {
  const name = `planted-${randomBytes(4).toString('hex')}`;
  await kube.json({ method: 'POST', path, body: { ...content, metadata: { ...content.metadata, name } } });
  return async () => void (await kube.json({ method: 'DELETE', path: `${path}/${name}` }));
}

async function mergePatch(kube: KubeHttp, path: string, body: unknown): Promise<void> {
  await kube.json({ method: 'PATCH', path, contentType: 'application/merge-patch+json', body });
}

async function* etcdEntries(socket: string): AsyncIterable<SearchedPiece> {
  const etcd = await Etcd.open(socket);
  try {
    let from: Buffer | undefined = Buffer.from([0]);
    while (from !== undefined) {
      const { entries, next } = await etcd.page(from);
      for (const { key, value } of entries) yield { name: key.toString(), bytes: value };
      from = next;
    }
  } finally {
    await etcd.close();
  }
}
