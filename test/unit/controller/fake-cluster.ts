import { randomUUID } from 'node:crypto';
import { ApiError } from '../../../src/kube/client/api-error.ts';
import type { ApiCall, KubeClient } from '../../../src/kube/client/client.ts';
import type { KubeObject, ObjectMeta } from '../../../src/kube/client/objects.ts';
import { applied } from './server-side-apply.ts';
import { fits } from './selectors.ts';
import { merged } from './merge-patch.ts';

/** An object with whatever it has beside its metadata. */
export type AnyObject = KubeObject & Record<string, unknown>;

const listed =
  /(?:secrets|secretsyncs|accessgrants|servicetokens|secretsnapshots|snapshotrestores|snapshotschedules|secretenvironments|\/namespaces|\/deployments|\/pods)$/;

type Hook = (call: ApiCall) => void | Promise<void>;

interface Change {
  readonly path: string;
  readonly before: AnyObject | undefined;
  /** What is left, or the last of what is gone. */
  readonly object: AnyObject;
  readonly isGone: boolean;
}

interface Watch {
  readonly call: Omit<ApiCall, 'method' | 'body'>;
  readonly send: (type: string, object: AnyObject) => void;
  readonly end: () => void;
}

/**
 * As much of an API server as the controller sees, in memory: resource versions, uids, preconditions, selectors,
 * metadata-only answers, finalizers and watches. Hooks step in between a call and what it does, to play races.
 */
export class FakeCluster implements Pick<KubeClient, 'request' | 'watch'> {
  /** `METHOD path` of every call but lists and watches, without the query. */
  readonly calls: string[] = [];
  readonly events: Record<string, unknown>[] = [];
  readonly #objects = new Map<string, AnyObject>();
  readonly #watches = new Set<Watch>();
  /** All changes so far: a watch begins behind the version that was listed. */
  readonly #changes: Change[] = [];
  /** Called before each call does anything, and after its work but before its answer; Events aside. */
  onStep: ((step: string) => void | Promise<void>) | undefined;
  readonly #hooks: { readonly pattern: RegExp; readonly hook: Hook }[] = [];
  readonly #finished: { readonly pattern: RegExp; readonly hook: Hook }[] = [];
  #held: { readonly sends: (() => void)[]; readonly isHeld: (watch: string) => boolean } | undefined;
  #away: (() => never) | undefined;
  #version = 1000;

  /** Runs once, before the next call that fits does anything; what it throws is the call's answer. */
  before(pattern: RegExp, hook: Hook): void {
    this.#hooks.push({ pattern, hook });
  }

  /** Runs once, when the next call that fits has done its work and has not answered yet. */
  beforeAnswer(pattern: RegExp, hook: Hook): void {
    this.#finished.push({ pattern, hook });
  }

  /** Ends all watches and has each new one fail as `away` does, until `mend`. */
  breakWatches(away: () => never): void {
    this.#away = away;
    for (const { end } of this.#watches) end();
  }

  /** Lets everything work again, and drops the hooks that have not come to pass. */
  mend(): void {
    this.#away = undefined;
    this.#hooks.splice(0);
  }

  /** Holds back what the watches of these `path?fieldSelector`, by default all, would say, until the answer lets it go. */
  holdWatches(isHeld: (watch: string) => boolean = () => true): () => void {
    const sends: (() => void)[] = [];
    this.#held = { sends, isHeld };
    return () => {
      this.#held = undefined;
      for (const send of sends) send();
    };
  }

  /** Calls since the last time, without lists and watches. */
  takeCalls(): string[] {
    return this.calls.splice(0);
  }

  get(path: string): AnyObject | undefined {
    return this.#objects.get(path);
  }

  /** What of watches is open, by `path?fieldSelector`. */
  get openWatches(): string[] {
    return [...this.#watches].map(({ call }) => nameOf(call));
  }

  /** Writes as someone else: makes the object or changes it. `version` sets its version, as a restored etcd can. */
  put(collection: string, name: string, change: (object: AnyObject) => void, version?: string): AnyObject {
    const path = `${collection}/${name}`;
    const before = this.#objects.get(path);
    const object = copied(before ?? this.#blank(collection, name));
    change(object);
    return this.#store(path, object, before, version);
  }

  remove(path: string): void {
    const before = this.#objects.get(path);
    if (before === undefined) return;
    this.#objects.delete(path);
    this.#report(before, { ...before, metadata: { ...before.metadata, resourceVersion: this.#next() } }, path, true);
  }

  /** Deletes an object as the garbage collector does: one with finalizers stays until they are taken off. */
  collect(path: string): void {
    const before = this.#objects.get(path);
    if ((before?.metadata.finalizers ?? []).length === 0) this.remove(path);
    else if (before !== undefined && before.metadata.deletionTimestamp === undefined) {
      const metadata = { ...before.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' };
      this.#store(path, { ...before, metadata }, before);
    }
  }

  /** Shows the watches one version of an object, as a list of a server that is behind does. */
  show(path: string, version: AnyObject): void {
    for (const { call, send } of this.#watches) {
      if (this.#objects.has(path) && fits(call, path, version)) send('MODIFIED', version);
    }
  }

  async request<T>(call: ApiCall): Promise<T> {
    const isList = call.method === 'GET' && listed.test(call.path);
    if (!isList) this.calls.push(`${call.method} ${call.path}${call.query?.['dryRun'] === undefined ? '' : '?dryRun'}`);
    await Promise.resolve();
    await this.#reportStep('before', call);
    await this.#step(this.#hooks, call);
    expectUncut(call);
    const answer = copied(isList ? this.#list(call) : this.#carryOut(call));
    await this.#step(this.#finished, call);
    await this.#reportStep('after', call);
    // The caller of a call that is cut does not know whether it was carried out.
    expectUncut(call);
    return answer as T;
  }

  watch(call: Omit<ApiCall, 'method' | 'body'> & { readonly signal: AbortSignal }): Promise<AsyncIterable<Uint8Array>> {
    this.#away?.();
    const lines: Uint8Array[] = [];
    let wake = (): void => {};
    const ending = new AbortController();
    const watch: Watch = {
      call,
      send: (type, object) => {
        const say = (): void => {
          lines.push(Buffer.from(`${JSON.stringify({ type, object: shaped(call.accept, object) })}\n`));
          wake();
        };
        if (this.#held?.isHeld(nameOf(call)) === true) this.#held.sends.push(say);
        else say();
      },
      end: () => {
        ending.abort();
        wake();
      },
    };
    this.#watches.add(watch);
    const since = Number(call.query?.['resourceVersion'] ?? this.#version);
    for (const change of this.#changes.filter(({ object }) => Number(object.metadata.resourceVersion) > since))
      show(watch, change);
    const watches = this.#watches;
    async function* body(): AsyncGenerator<Uint8Array> {
      const aborted = new Promise<never>((_, reject) => {
        const abort = (): void => reject(new Error('aborted'));
        // One that was cut before anything was read of it ends like any other.
        if (call.signal.aborted) abort();
        else call.signal.addEventListener('abort', abort);
      });
      aborted.catch(() => undefined);
      try {
        while (!ending.signal.aborted) {
          yield* lines.splice(0);
          const more = new Promise<void>((resolve) => {
            wake = resolve;
          });
          if (lines.length === 0) await Promise.race([more, aborted]);
        }
      } finally {
        watches.delete(watch);
      }
    }
    return Promise.resolve(body());
  }

  async #reportStep(moment: string, { method, path }: ApiCall): Promise<void> {
    if (!path.endsWith('/events')) await this.onStep?.(`${moment} ${method} ${path}`);
  }

  async #step(hooks: { readonly pattern: RegExp; readonly hook: Hook }[], call: ApiCall): Promise<void> {
    const index = hooks.findIndex(({ pattern }) => pattern.test(`${call.method} ${call.path}`));
    if (index === -1) return;
    const [found] = hooks.splice(index, 1);
    await found?.hook(call);
  }

  #list(call: ApiCall): unknown {
    const items = [...this.#objects].filter(([path, object]) => fits(call, path, object)).map(([, object]) => object);
    return {
      metadata: { resourceVersion: String(this.#version) },
      items: items.map((object) => shaped(call.accept, object)),
    };
  }

  #carryOut(call: ApiCall): unknown {
    if (call.path.endsWith('/events')) {
      this.events.push(call.body as Record<string, unknown>);
      return {};
    }
    return shaped(call.accept, this.#answer(call));
  }

  #answer(call: ApiCall): AnyObject {
    if (call.method === 'POST') return this.#post(call);
    if (call.method === 'PUT') return this.#replace(call);
    if (call.method === 'PATCH') return this.#patch(call);
    return call.method === 'DELETE' ? this.#delete(call) : this.#get(call);
  }

  #get(call: ApiCall): AnyObject {
    return this.#objects.get(call.path) ?? refuse(call, 404, 'NotFound');
  }

  #post(call: ApiCall): AnyObject {
    const body = call.body as AnyObject;
    const path = `${call.path}/${body.metadata.name}`;
    if (this.#objects.has(path)) return refuse(call, 409, 'AlreadyExists');
    const blank = this.#blank(call.path, body.metadata.name).metadata;
    const generation = call.path.includes('/keyframe.dev/') ? { generation: 1 } : {};
    const object = { ...body, metadata: { ...body.metadata, ...blank, ...generation } };
    return call.query?.['dryRun'] === undefined
      ? this.#store(path, { ...object, metadata: { ...object.metadata, ...kept(body.metadata) } }, undefined)
      : object;
  }

  #replace(call: ApiCall): AnyObject {
    const before = this.#get(call);
    const body = call.body as AnyObject;
    checkPrecondition(call, before, body.metadata);
    if (before['immutable'] === true || before['type'] !== body['type']) return refuse(call, 422, 'Invalid');
    const { uid, namespace, creationTimestamp } = before.metadata;
    const fixed = {
      uid,
      ...(namespace === undefined ? {} : { namespace }),
      ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
    } as Partial<ObjectMeta>;
    return this.#store(call.path, { ...body, metadata: { ...body.metadata, ...fixed } }, before);
  }

  #patch(call: ApiCall): AnyObject {
    const path = call.path.replace(/\/status$/, '');
    const before = this.#objects.get(path) ?? refuse(call, 404, 'NotFound');
    const { metadata, spec, status } = call.body as Readonly<{ metadata: ObjectMeta; spec?: object; status?: object }>;
    checkPrecondition(call, before, metadata);
    if (call.contentType === 'application/apply-patch+yaml') return this.#store(path, applied(call, before), before);
    const { finalizers } = metadata;
    if (finalizers !== undefined) {
      const isLast = finalizers.length === 0 && before.metadata.deletionTimestamp !== undefined;
      const stored = this.#store(path, { ...before, metadata: { ...before.metadata, finalizers } }, before);
      if (isLast) this.remove(path);
      return stored;
    }
    if (!call.path.endsWith('/status')) return this.#store(path, withPatch(before, metadata, spec), before);
    const fields = Object.entries({ ...(before['status'] as object | undefined), ...status }).filter(
      ([, value]) => value !== null,
    );
    return this.#store(path, { ...before, status: Object.fromEntries(fields) }, before);
  }

  #delete(call: ApiCall): AnyObject {
    const before = this.#get(call);
    checkPrecondition(call, before, (call.body as { preconditions: Partial<ObjectMeta> }).preconditions);
    this.collect(call.path);
    return this.#objects.get(call.path) ?? before;
  }

  #blank(collection: string, name: string): AnyObject {
    const namespace = /namespaces\/([^/]+)\//.exec(collection)?.[1];
    return {
      metadata: { name, ...(namespace === undefined ? {} : { namespace }), uid: randomUUID(), resourceVersion: '' },
    };
  }

  #store(path: string, object: AnyObject, before: AnyObject | undefined, version?: string): AnyObject {
    const unversioned = (value: AnyObject): string =>
      JSON.stringify({ ...value, metadata: { ...value.metadata, resourceVersion: '' } });
    // As the real one: a write that changes nothing makes no version.
    if (before !== undefined && unversioned(before) === unversioned(object)) return before;
    const stored = { ...object, metadata: { ...object.metadata, resourceVersion: version ?? this.#next() } };
    this.#objects.set(path, stored);
    this.#report(before, stored, path, false);
    return stored;
  }

  #report(before: AnyObject | undefined, object: AnyObject, path: string, isGone: boolean): void {
    const change = { before, object, path, isGone };
    this.#changes.push(change);
    for (const watch of this.#watches) show(watch, change);
  }

  #next(): string {
    this.#version += 1;
    return String(this.#version);
  }
}

/** The path and the field selector of a watch. */
function nameOf({ path, query }: Watch['call']): string {
  return `${path}?${query?.['fieldSelector'] ?? ''}`;
}

/** An object after a merge patch of its metadata and spec. Another spec is another generation. */
function withPatch(before: AnyObject, { labels, annotations, ownerReferences }: ObjectMeta, spec?: object): AnyObject {
  const maps = Object.entries({ labels, annotations }).filter(([, map]) => map !== undefined);
  const patched = merged(before.metadata, Object.fromEntries(maps)) as unknown as ObjectMeta;
  const metadata = { ...patched, ...(ownerReferences === undefined ? {} : { ownerReferences }) };
  if (spec === undefined) return { ...before, metadata };
  const generation = (before.metadata.generation ?? 0) + 1;
  return { ...before, metadata: { ...metadata, generation }, spec: merged(before['spec'], spec) };
}

/** Has a watch show a change, as far as it is of what the watch selects. */
function show({ call, send }: Watch, { path, before, object, isGone }: Change): void {
  const wasShown = before !== undefined && fits(call, path, before);
  if (!isGone && fits(call, path, object)) send(wasShown ? 'MODIFIED' : 'ADDED', object);
  else if (wasShown) send('DELETED', object);
}

function kept({ labels, annotations, ownerReferences, finalizers }: ObjectMeta): Partial<ObjectMeta> {
  const all = { labels, annotations, ownerReferences, finalizers };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

function checkPrecondition(call: ApiCall, { metadata }: AnyObject, wanted: Partial<ObjectMeta>): void {
  const isOther = (field: 'uid' | 'resourceVersion'): boolean =>
    wanted[field] !== undefined && wanted[field] !== metadata[field];
  if (isOther('uid') || isOther('resourceVersion')) refuse(call, 409, 'Conflict');
}

function expectUncut(call: ApiCall): void {
  if (call.signal?.aborted === true) refuse(call, 0, 'Cut');
}

function refuse(call: ApiCall, status: number, reason: string): never {
  throw new ApiError(`${call.method} ${call.path}`, status, reason);
}

function shaped(accept: string | undefined, object: AnyObject): AnyObject {
  return accept?.includes('as=PartialObjectMetadata') === true ? { metadata: object.metadata } : object;
}

/** What went over a wire; a structured clone's prototypes would be those outside Jest's sandbox. */
function copied<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}
