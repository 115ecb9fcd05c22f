import type { ClusterPrincipal } from '../../domain/cluster-principal.ts';
import type { ClusterPort } from '../../services/cluster/cluster-port.ts';
import type { ReadRoom } from '../../services/secrets/read-sizes.ts';
import type { ClusterMethodName, RequestOf, ResultOf } from '../../wire/cluster/methods.ts';
import { keysToRead, readItems, valuesToRead } from './reads.ts';

/** What a method works with. */
export interface ClusterCall {
  readonly port: ClusterPort;
  readonly cluster: ClusterPrincipal;
  /** Waits for the memory of a large answer. */
  readonly room: ReadRoom;
  /** Called with an error that is no DomainError, and that does not end the request. */
  readonly onBug: (error: unknown) => void;
  /** Aborted when the controller no longer waits for the answer. */
  readonly gone: AbortSignal;
}

type Handlers = {
  readonly [Name in ClusterMethodName]: (call: ClusterCall, request: RequestOf<Name>) => Promise<ResultOf<Name>>;
};

// A key of a state, with its size, while it is found and sent.
const bytesOfKey = 256;

/** Each method decodes to one call of the port. */
export const clusterHandlers: Handlers = {
  hello: async ({ port, cluster }, request) => {
    const answer = await port.cluster.hello(request);
    // A cluster for which nothing is done needs none.
    const isServed = answer.holder === undefined && answer.state === 'enabled';
    const fingerprintKey = isServed ? port.fingerprintKey().export().toString('base64') : undefined;
    return { ...answer, isHome: cluster.isHome, fingerprintKey };
  },
  compare: async ({ port }, question) => await port.changes.compare(question),
  reads: async ({ port, room, onBug, gone }, question) => {
    await room.enter(keysToRead(question.items) * bytesOfKey + valuesToRead(question.items));
    return await readItems(question, {
      read: async (one, answer) => await port.sources.readForAnswer(one, answer),
      onBug,
      gone,
    });
  },
  states: async ({ port, room }, question) => {
    await room.enter(question.maxKeys * bytesOfKey);
    return await port.sources.findForAnswer(question);
  },
  values: async ({ port, room }, question) => await port.sources.values(question, room),

  'resources/service-tokens/find': async ({ port }, { asker }) => await port.tokens.find(asker),
  'resources/service-tokens/serial-of': async ({ port }, { asker, token }) => await port.tokens.serialOf(asker, token),
  'resources/service-tokens/place-of': async ({ port }, { asker, place }) => await port.tokens.placeOf(asker, place),
  'resources/service-tokens/may-mint': async ({ port }, { asker, place }) => await port.tokens.mayMint(asker, place),
  'resources/service-tokens/mint': async ({ port }, { asker, place, input }) =>
    await port.tokens.mint(asker, place, input),
  'resources/service-tokens/federate': async ({ port }, { asker, place, input }) =>
    await port.tokens.federate(asker, place, input),
  'resources/service-tokens/activate': async ({ port }, { asker, serial, token }) =>
    await port.tokens.activate(asker, serial, token),
  'resources/service-tokens/revoke-serial': async ({ port }, { asker, serial }) =>
    await port.tokens.revokeSerial(asker, serial),
  'resources/service-tokens/revoke': async ({ port }, { asker }) => await port.tokens.revoke(asker),
  'resources/service-tokens/suspend': async ({ port }, { asker, cause }) => await port.tokens.suspend(asker, cause),
  'resources/service-tokens/resume': async ({ port }, { asker, place }) => await port.tokens.resume(asker, place),
  'resources/service-tokens/update': async ({ port }, { asker, place, expiries }) =>
    await port.tokens.update(asker, place, expiries),
  'resources/service-tokens/live': async ({ port }, asked) => await port.tokens.live(asked),

  'resources/snapshots/find': async ({ port }, { asker }) => await port.snapshots.find(asker),
  'resources/snapshots/take': async ({ port }, { asker, slugs, input }) =>
    await port.snapshots.take(asker, slugs, input),
  'resources/snapshots/adopt': async ({ port }, { asker, snapshotId }) => await port.snapshots.adopt(asker, snapshotId),
  'resources/snapshots/delete': async ({ port }, { asker }) => await port.snapshots.delete(asker),

  'resources/restores/find': async ({ port }, { asker }) => await port.restores.find(asker),
  'resources/restores/admit': async ({ port }, { asker, source }) => await port.restores.admit(asker, source),
  'resources/restores/plan': async ({ port }, { asker, source, options, hashes }) =>
    await port.restores.plan(asker, source, options, hashes),
  'resources/restores/restore': async ({ port }, { asker, source, options, planHash }) =>
    await port.restores.restore(asker, source, options, planHash),

  'resources/schedules/list': async ({ port }, { asker }) => await port.schedules.list(asker),
  'resources/schedules/admit': async ({ port }, { asker, slugs }) => await port.schedules.admit(asker, slugs),
  'resources/schedules/record': async ({ port }, { asker, slugs, runs }) =>
    await port.schedules.record(asker, slugs, runs),
  'resources/schedules/extend': async ({ port }, { asker, slugs, child }) =>
    await port.schedules.extend(asker, slugs, child),

  'resources/environments/ensure': async ({ port }, { asker, input }) => await port.environments.ensure(asker, input),
  'resources/environments/appoint-owners': async ({ port }, { asker, input }) =>
    await port.environments.appointOwners(asker, input),
  'resources/environments/find': async ({ port }, { asker }) => await port.environments.find(asker),
  'resources/environments/delete': async ({ port }, { asker, slugs }) => await port.environments.delete(asker, slugs),
  'resources/environments/hand-over': async ({ port }, { asker, input }) =>
    await port.environments.handOver(asker, input),

  'sync-states/report': async ({ port }, { reports }) => await port.fleet.syncStates.report(reports),
  'sync-states/forget': async ({ port }, { uids }) => await port.fleet.syncStates.forget(uids),
  'sync-states/reported': async ({ port }, { after }) => await port.fleet.syncStates.reported(after),
  'sync-states/seen': async ({ port }) => await port.fleet.syncStates.seen(),

  'waiting-restores/forget': async ({ port }, { uids }) => await port.fleet.waitingRestores.forget(uids),
  'waiting-restores/reported': async ({ port }, { after }) => await port.fleet.waitingRestores.reported(after),
};
