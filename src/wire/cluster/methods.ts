import { z } from 'zod';
import type { BodyLimits } from '../contract/body-limits.ts';
import { askedPlace, asker, environmentPlace, environmentSlugs, owner } from './asker.ts';
import { presentState, stateQuestion } from './changes.ts';
import { boundedText, count, plaintext, strict } from './codec.ts';
import {
  ensuredEnvironment,
  ensureEnvironmentInput,
  environmentOrGone,
  firstOwnersInput,
  handOverInput,
} from './environments.ts';
import type { domainError } from './error.ts';
import { after, refusedReports, reportedPage, syncStateReports, uids } from './fleet.ts';
import { hello, helloAnswer } from './hello.ts';
import { readsAnswer, readsQuestion } from './reads.ts';
import { claimedRestore, planHash, planHashes, resourcePlan, restoreOptions, restoreSource } from './restores.ts';
import { recordRunsInput, scheduledChild, scheduleRuns } from './schedules.ts';
import { snapshotOrGone, takeSnapshotInput } from './snapshots.ts';
import { foundState, revisionQuestion, values, valuesQuestion } from './sources.ts';
import {
  allowedPlace,
  federateInput,
  liveTokensAsked,
  liveTokensPage,
  mintedToken,
  mintInput,
  movedExpiries,
  suspensionCause,
  tokenOrGone,
} from './tokens.ts';

const kibibyte = 1024;
const mebibyte = 1024 * kibibyte;
const advice = 'the controller of this release sends no larger one; upgrade the older of controller and server';

/** How large the requests of controllers may be. */
export const clusterBodyLimits = {
  usual: { maxBytes: 64 * kibibyte, maxEntries: 2_000, advice },
  /** With what a namespace is granted, and with selections of keys. */
  granted: { maxBytes: mebibyte, maxEntries: 30_000, advice },
  values: { maxBytes: 4 * mebibyte, maxEntries: 40_000, advice },
  compare: { maxBytes: 512 * kibibyte, maxEntries: 10_010, advice },
  reads: { maxBytes: 2 * mebibyte, maxEntries: 60_100, advice },
  reports: { maxBytes: 2 * mebibyte, maxEntries: 30_000, advice },
} as const satisfies Record<string, BodyLimits>;

/** How many requests of one process are under way at the same time, by their kind. `long`: what can take a minute. */
export const maxUnderWay = { hello: 1, reads: 2, values: 4, others: 2, long: 2 } as const;

export type Flight = keyof typeof maxUnderWay;

/** One method of the port. Each is a POST below `/api/v1/cluster`. */
export interface ClusterMethod<Request, Result> {
  readonly request: z.ZodType<Request>;
  readonly result: z.ZodType<Result>;
  readonly limits: BodyLimits;
  readonly flight: Flight;
  /** How long the controller waits for the answer. */
  readonly timeoutMs: number;
  /** More than any answer has. */
  readonly maxAnswerBytes: number;
}

const usualTimeoutMs = 10_000;
// A restore of a whole environment takes seconds, and nothing is gained by asking again meanwhile.
const longTimeoutMs = 60_000;

/** How large answers may be. JSON can need six times the length of a value. */
const maxAnswerBytes = {
  usual: 4 * mebibyte,
  /** Names and sizes of all keys of an environment, states of 10,000 ids, or names of 10,000 resources. */
  names: 16 * mebibyte,
  /** Names for 250 SecretSyncs, and 2 MiB of values. */
  reads: 32 * mebibyte,
  /** All values of an environment are at most 16 MiB. */
  values: 112 * mebibyte,
} as const;

type MethodOptions = Partial<
  Pick<ClusterMethod<unknown, unknown>, 'limits' | 'flight' | 'timeoutMs' | 'maxAnswerBytes'>
>;

function method<Request extends z.ZodType, Result extends z.ZodType>(
  request: Request,
  result: Result,
  options: MethodOptions = {},
): ClusterMethod<z.output<Request>, z.output<Result>> {
  return {
    request,
    result,
    limits: clusterBodyLimits.usual,
    flight: 'others',
    timeoutMs: usualTimeoutMs,
    maxAnswerBytes: maxAnswerBytes.usual,
    ...options,
  } as unknown as ClusterMethod<z.output<Request>, z.output<Result>>;
}

const nothing = z.void();
const empty = strict({});
const granted = { limits: clusterBodyLimits.granted };
const long = { ...granted, flight: 'long', timeoutMs: longTimeoutMs } as const;
const reports = { ...long, limits: clusterBodyLimits.reports } as const;
const owned = strict({ asker: owner });
const serialOf = { asker: owner, serial: count };
const atPlace = { asker, place: askedPlace };
const atSlugs = { asker, slugs: environmentSlugs };
const ofSnapshot = { asker, source: restoreSource };

/** All methods, by their path. */
export const clusterMethods = {
  hello: method(hello, helloAnswer, { flight: 'hello' }),
  compare: method(stateQuestion, presentState, {
    limits: clusterBodyLimits.compare,
    maxAnswerBytes: maxAnswerBytes.names,
  }),
  reads: method(readsQuestion, readsAnswer, {
    limits: clusterBodyLimits.reads,
    flight: 'reads',
    maxAnswerBytes: maxAnswerBytes.reads,
  }),
  states: method(revisionQuestion, foundState, { ...granted, maxAnswerBytes: maxAnswerBytes.names }),
  values: method(valuesQuestion, values, {
    limits: clusterBodyLimits.values,
    flight: 'values',
    maxAnswerBytes: maxAnswerBytes.values,
  }),

  'resources/service-tokens/find': method(owned, tokenOrGone.optional()),
  'resources/service-tokens/serial-of': method(strict({ asker: owner, token: plaintext }), count.optional()),
  'resources/service-tokens/place-of': method(strict(atPlace), allowedPlace, granted),
  'resources/service-tokens/may-mint': method(strict(atPlace), nothing, granted),
  'resources/service-tokens/mint': method(strict({ ...atPlace, input: mintInput }), mintedToken, granted),
  'resources/service-tokens/federate': method(strict({ ...atPlace, input: federateInput }), nothing, granted),
  'resources/service-tokens/activate': method(strict({ ...serialOf, token: plaintext }), nothing),
  'resources/service-tokens/revoke-serial': method(strict(serialOf), nothing),
  'resources/service-tokens/revoke': method(owned, nothing),
  'resources/service-tokens/suspend': method(strict({ asker: owner, cause: suspensionCause }), z.boolean()),
  'resources/service-tokens/resume': method(strict(atPlace), nothing, granted),
  'resources/service-tokens/update': method(strict({ ...atPlace, expiries: movedExpiries }), nothing, granted),
  'resources/service-tokens/live': method(liveTokensAsked, liveTokensPage, granted),

  'resources/snapshots/find': method(owned, snapshotOrGone.optional()),
  'resources/snapshots/take': method(strict({ ...atSlugs, input: takeSnapshotInput }), snapshotOrGone, long),
  'resources/snapshots/adopt': method(strict({ asker, snapshotId: boundedText() }), snapshotOrGone, granted),
  'resources/snapshots/delete': method(owned, nothing),

  'resources/restores/find': method(owned, claimedRestore.optional()),
  'resources/restores/admit': method(strict(ofSnapshot), environmentPlace, granted),
  'resources/restores/plan': method(
    strict({ ...ofSnapshot, options: restoreOptions, hashes: planHashes }),
    resourcePlan,
    { ...long, maxAnswerBytes: maxAnswerBytes.names },
  ),
  'resources/restores/restore': method(
    strict({ ...ofSnapshot, options: restoreOptions, planHash: planHash.nullable() }),
    claimedRestore,
    long,
  ),

  'resources/schedules/list': method(owned, scheduleRuns),
  'resources/schedules/admit': method(strict(atSlugs), environmentPlace, granted),
  'resources/schedules/record': method(strict({ ...atSlugs, runs: recordRunsInput }), nothing, granted),
  'resources/schedules/extend': method(strict({ ...atSlugs, child: scheduledChild }), nothing, granted),

  'resources/environments/ensure': method(
    strict({ asker: owner, input: ensureEnvironmentInput }),
    ensuredEnvironment,
    granted,
  ),
  'resources/environments/appoint-owners': method(strict({ asker: owner, input: firstOwnersInput }), nothing),
  'resources/environments/find': method(owned, environmentOrGone.optional()),
  'resources/environments/delete': method(strict({ asker: owner, slugs: environmentSlugs }), nothing),
  'resources/environments/hand-over': method(strict({ asker: owner, input: handOverInput }), nothing),

  'sync-states/report': method(strict({ reports: syncStateReports }), refusedReports, reports),
  'sync-states/forget': method(strict({ uids }), nothing, reports),
  'sync-states/reported': method(strict({ after }), reportedPage, { maxAnswerBytes: maxAnswerBytes.names }),
  'sync-states/seen': method(empty, nothing),

  'waiting-restores/forget': method(strict({ uids }), nothing, reports),
  'waiting-restores/reported': method(strict({ after }), reportedPage, { maxAnswerBytes: maxAnswerBytes.names }),
} as const;

export type ClusterMethodName = keyof typeof clusterMethods;

export type RequestOf<Name extends ClusterMethodName> = z.output<(typeof clusterMethods)[Name]['request']>;
export type ResultOf<Name extends ClusterMethodName> = z.output<(typeof clusterMethods)[Name]['result']>;

/**
 * What a method answers with 200: its result, or the error that the services threw. A result that is undefined is null, so
 * that `{}` of something in between is no success.
 */
export type ClusterAnswer = { readonly result: unknown } | { readonly error: z.input<typeof domainError> };
