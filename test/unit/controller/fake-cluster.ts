import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { ApiError } from '../../../src/kube/client/api-error.ts';
import type { ApiCall, KubeClient } from '../../../src/kube/client/client.ts';
import { ownManager } from '../../../src/kube/client/managed-fields.ts';
import type { KubeObject, ObjectMeta } from '../../../src/kube/client/objects.ts';
import { pageOf } from './list-pages.ts';
import { merged } from './merge-patch.ts';
import { asStored, changed, checkEvent, checkPrecondition, deleting, isLetGo, refuse } from './object-rules.ts';
import { fits } from './selectors.ts';
import { applied, withManagers } from './server-side-apply.ts';
import { WatchBody } from './watch-body.ts';

/** An object with whatever it has beside its metadata. */
export type AnyObject = KubeObject & Record<string, unknown>;

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
  readonly send: (type: string, object: object) => void;
  readonly end: () => void;
}

// A watch from an earlier version is refused: the server no longer remembers what followed it.
const oldestVersion = 1000;

/**
 * As much of an API server as the controller sees, in memory: resource versions, uids, preconditions, selectors, pages,
 * metadata-only answers, generations, finalizers, server-side apply and watches. Hooks step in between a call and what it
 * does, to play races. The cases of test/support/cluster/api-contract run on it and on a real API server.
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
  #version = oldestVersion;

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

  /** What the API server says of its issuer; undefined if it refuses to. */
  issuer: { readonly iss: string; readonly keys: readonly unknown[] } | undefined;

  /** Calls since the last time, without lists, watches and the issuer discovery. */
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

  /**
   * Writes as another client: makes the object or changes it, its status too. The generation follows from the spec. `version`
   * sets the version, as a restored etcd can.
   */
  put(collection: string, name: string, change: (object: AnyObject) => void, version?: string): AnyObject {
    const path = `${collection}/${name}`;
    const before = this.#objects.get(path);
    const object = copied(before ?? { metadata: this.#blank(collection, name) });
    change(object);
    return this.#store(path, object, before, { manager: 'another', version });
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
      this.#write(path, deleting(before), before);
    }
  }

  /** Shows the watches one version of an object, as a list of a server that is behind does. */
  show(path: string, version: AnyObject): void {
    for (const { call, send } of this.#watches) {
      if (this.#objects.has(path) && fits(call, path, version)) send('MODIFIED', version);
    }
  }

  async request<T>(call: ApiCall): Promise<T> {
    const isList = call.method === 'GET' && isCollection(call.path);
    if (!isList && !isDiscovery(call.path))
      this.calls.push(`${call.method} ${call.path}${call.query?.['dryRun'] === undefined ? '' : '?dryRun'}`);
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
    const body = new WatchBody();
    const watch: Watch = {
      call,
      send: (type, object) => {
        const say = (): void => body.send({ type, object: shaped(call.accept, object) });
        if (this.#held?.isHeld(nameOf(call)) === true) this.#held.sends.push(say);
        else say();
      },
      end: () => body.end(),
    };
    this.#watches.add(watch);
    this.#begin(watch);
    return Promise.resolve(this.#read(watch, body.read(call.signal)));
  }

  async *#read(watch: Watch, lines: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    try {
      yield* lines;
    } finally {
      this.#watches.delete(watch);
    }
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

  /** Shows a watch what happened after its version; without a version, the present objects. */
  #begin(watch: Watch): void {
    const since = Number(watch.call.query?.['resourceVersion'] ?? '');
    if (since === 0) {
      for (const [path, object] of this.#objects) if (fits(watch.call, path, object)) watch.send('ADDED', object);
    } else if (since < oldestVersion) {
      watch.send('ERROR', { kind: 'Status', code: 410, reason: 'Expired' });
      watch.end();
    } else {
      for (const change of this.#changes.filter(({ object }) => Number(object.metadata.resourceVersion) > since))
        show(watch, change);
    }
  }

  #list(call: ApiCall): unknown {
    const { items, ...metadata } = pageOf(call, {
      version: String(this.#version),
      at: (version) => (version === undefined ? this.#objects : this.#objectsAt(Number(version))),
    });
    return { metadata, items: items.map((object) => shaped(call.accept, object)) };
  }

  /** The objects as they were at a version: the pages of a list show one moment. */
  #objectsAt(version: number): ReadonlyMap<string, AnyObject> {
    const objects = new Map<string, AnyObject>();
    for (const { path, object, isGone } of this.#changes) {
      if (Number(object.metadata.resourceVersion) > version) continue;
      if (isGone) objects.delete(path);
      else objects.set(path, object);
    }
    return objects;
  }

  #carryOut(call: ApiCall): unknown {
    if (call.path.endsWith('/events')) {
      checkEvent(call);
      this.events.push(call.body as Record<string, unknown>);
      return {};
    }
    return shaped(call.accept, this.#answer(call));
  }

  #discover({ path }: ApiCall): AnyObject {
    if (this.issuer === undefined) throw new ApiError(`GET ${path}`, 403, 'Forbidden');
    const { iss, keys } = this.issuer;
    return (path.endsWith('/jwks') ? { keys } : { issuer: iss, jwks_uri: 'https://10.0.0.1/' }) as unknown as AnyObject;
  }

  #answer(call: ApiCall): AnyObject {
    if (isDiscovery(call.path)) return this.#discover(call);
    if (call.method === 'POST') return this.#post(call);
    if (call.method === 'PUT') return this.#replace(call);
    if (call.method === 'PATCH') return this.#patch(call);
    return call.method === 'DELETE' ? this.#delete(call) : this.#get(call);
  }

  #get(call: ApiCall): AnyObject {
    // From the future: the cache waits for that version in vain.
    if (Number(call.query?.['resourceVersion'] ?? 0) > this.#version) refuse(call, 504, 'Timeout');
    return this.#objects.get(call.path) ?? refuse(call, 404, 'NotFound');
  }

  #post(call: ApiCall): AnyObject {
    const body = copied(call.body) as AnyObject;
    const path = `${call.path}/${body.metadata.name}`;
    if (this.#objects.has(path)) refuse(call, 409, 'AlreadyExists');
    const object = { ...body, metadata: { ...body.metadata, ...this.#blank(call.path, body.metadata.name) } };
    if (call.query?.['dryRun'] !== undefined) return asStored(path, object, undefined);
    return this.#store(path, object, undefined, { manager: managerOf(call) });
  }

  #replace(call: ApiCall): AnyObject {
    const before = this.#get(call);
    const body = copied(call.body) as AnyObject;
    checkPrecondition(call, before, body.metadata);
    return this.#store(call.path, changed(call, before, body), before, { manager: managerOf(call) });
  }

  #patch(call: ApiCall): AnyObject {
    const path = call.path.replace(/\/status$/, '');
    const body = copied(call.body) as AnyObject;
    const before = this.#objects.get(path);
    if (call.contentType === 'application/apply-patch+yaml') return this.#apply(call, body, before);
    if (before === undefined) return refuse(call, 404, 'NotFound');
    checkPrecondition(call, before, body.metadata);
    const patched = merged(before, body) as AnyObject;
    return this.#store(path, changed(call, before, patched), before, { manager: managerOf(call) });
  }

  #apply(call: ApiCall, body: AnyObject, before: AnyObject | undefined): AnyObject {
    const { uid, resourceVersion, name } = body.metadata as Partial<ObjectMeta>;
    // One that is to have a version cannot be made by an apply.
    if (before === undefined && (uid ?? resourceVersion) !== undefined) return refuse(call, 409, 'Conflict');
    const collection = call.path.slice(0, call.path.lastIndexOf('/'));
    const present = before ?? { metadata: this.#blank(collection, name ?? '') };
    const object = applied(call, present);
    if (before !== undefined) checkPrecondition(call, before, body.metadata);
    return this.#write(call.path, before === undefined ? object : changed(call, before, object), before);
  }

  #delete(call: ApiCall): AnyObject {
    const before = this.#get(call);
    const { preconditions = {} } = (call.body ?? {}) as { readonly preconditions?: Partial<ObjectMeta> };
    checkPrecondition(call, before, preconditions);
    this.collect(call.path);
    return this.#objects.get(call.path) ?? before;
  }

  #blank(collection: string, name: string): ObjectMeta {
    const namespace = /namespaces\/([^/]+)\//.exec(collection)?.[1];
    const place = namespace === undefined ? {} : { namespace };
    return { name, ...place, uid: randomUUID(), resourceVersion: '', creationTimestamp: '2026-01-01T00:00:00Z' };
  }

  #store(
    path: string,
    next: AnyObject,
    before: AnyObject | undefined,
    { manager, version }: { readonly manager: string; readonly version?: string | undefined },
  ): AnyObject {
    return this.#write(path, withManagers(path, { before, next, manager }), before, version);
  }

  #write(path: string, next: AnyObject, before: AnyObject | undefined, version?: string): AnyObject {
    const object = copied(asStored(path, next, before));
    // A write that changes nothing makes no version.
    if (before !== undefined && isDeepStrictEqual(unversioned(before), unversioned(object))) return before;
    if (before !== undefined && isLetGo(before, object)) {
      this.remove(path);
      return object;
    }
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

/** Has a watch show a change, as far as it is of what the watch selects. What it leaves is shown as it was. */
function show({ call, send }: Watch, { path, before, object, isGone }: Change): void {
  const wasShown = before !== undefined && fits(call, path, before);
  const { resourceVersion } = object.metadata;
  if (!isGone && fits(call, path, object)) send(wasShown ? 'MODIFIED' : 'ADDED', object);
  else if (wasShown) send('DELETED', { ...before, metadata: { ...before.metadata, resourceVersion } });
}

/** Whether a path is one of the issuer discovery, which a leader reads once a minute. */
function isDiscovery(path: string): boolean {
  return path === '/.well-known/openid-configuration' || path === '/openid/v1/jwks';
}

/** Whether a path is that of a list: one that ends with a plural, not with a name. */
function isCollection(path: string): boolean {
  const below = path.replace(/^\/(?:api\/[^/]+|apis\/[^/]+\/[^/]+)\/(?:namespaces\/[^/]+\/)?/, '');
  return !below.includes('/');
}

function managerOf({ query }: ApiCall): string {
  return query?.['fieldManager'] ?? ownManager;
}

function unversioned(object: AnyObject): AnyObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion: '' } };
}

function expectUncut(call: ApiCall): void {
  if (call.signal?.aborted === true) refuse(call, 0, 'Cut');
}

function shaped(accept: string | undefined, object: object): object {
  const isShort = accept?.includes('as=PartialObjectMetadata') === true && 'metadata' in object;
  return isShort ? { metadata: object.metadata } : object;
}

/** What went over a wire; a structured clone's prototypes would be those outside Jest's sandbox. */
function copied<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}
