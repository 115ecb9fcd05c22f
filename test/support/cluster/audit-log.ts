import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import type { KubeHttp } from '../../../tools/devcluster/cluster/kube-http.ts';
import { adminClient, sharedCluster } from './cluster.ts';
import { waitFor } from '../fixtures/wait-for.ts';

/** One line of the API server's audit log; see https://kubernetes.io/docs/reference/config-api/apiserver-audit.v1/ */
export interface AuditEntry {
  readonly auditID: string;
  /** A watch has an entry when it starts (ResponseStarted) and one when it ends (ResponseComplete); others just the latter. */
  readonly stage: 'ResponseStarted' | 'ResponseComplete' | 'Panic';
  readonly verb: string;
  readonly requestURI: string;
  readonly user: { readonly username: string; readonly groups?: readonly string[] };
  readonly objectRef?: {
    readonly apiGroup?: string;
    readonly resource?: string;
    readonly subresource?: string;
    readonly namespace?: string;
    readonly name?: string;
  };
  readonly responseStatus?: { readonly code?: number };
  readonly requestReceivedTimestamp: string;
  readonly stageTimestamp: string;
}

/** A place in the log: what was requested before it, and what after. */
export type AuditMark = number & { readonly brand: 'AuditMark' };

const markPrefix = '/api/v1/namespaces/audit-mark-';

/** Reads the audit log of a cluster. */
export class AuditLog {
  readonly #path: string;
  readonly #client: KubeHttp;

  constructor({ path, client }: { path: string; client: KubeHttp }) {
    this.#path = path;
    this.#client = client;
  }

  /** A mark behind every request that was answered before this call. */
  async mark(): Promise<AuditMark> {
    // Not from the beginning: the log of a run grows to hundreds of megabytes.
    const { size } = await stat(this.#path);
    return (await this.#readThroughMark(size)).end;
  }

  /** The entries of all requests that were answered since the mark and before this call. */
  async since(mark: AuditMark): Promise<AuditEntry[]> {
    const { lines } = await this.#readThroughMark(mark);
    const entries = lines
      .toString()
      .split('\n')
      .filter((line) => line !== '');
    return entries
      .map((line) => JSON.parse(line) as AuditEntry)
      .filter((entry) => !entry.requestURI.startsWith(markPrefix));
  }

  // An entry is written a moment after its answer is sent. So a request is made that no other client makes: when it is in the
  // log, so are those before it. If `from` lies within a line, so does the beginning of the answer.
  async #readThroughMark(from: number): Promise<{ lines: Buffer; end: AuditMark }> {
    const path = `${markPrefix}${randomUUID()}`;
    await this.#client.send({ path });
    return waitFor(`the audit log to hold ${path}`, async () => {
      const content = await buffer(createReadStream(this.#path, { start: from }));
      // The last line may be half written.
      const lines = content.subarray(0, content.lastIndexOf('\n') + 1);
      return lines.includes(`"${path}"`) && { lines, end: (from + lines.length) as AuditMark };
    });
  }
}

/** The audit log of the shared cluster. Throws where the cluster keeps it to itself. */
export function sharedAuditLog(): AuditLog {
  const { auditLog } = sharedCluster();
  if (auditLog !== undefined) return new AuditLog({ path: auditLog, client: adminClient() });
  throw new Error(
    'The cluster that KEYFRAME_TEST_KUBECONFIG names has to write an audit log (level Metadata, without the stage ' +
      'RequestReceived) to a file that KEYFRAME_TEST_AUDIT_LOG names.',
  );
}

/** The shared cluster's entries since a mark; see AuditLog. */
export function readAuditLog(since: AuditMark): Promise<AuditEntry[]> {
  return sharedAuditLog().since(since);
}
