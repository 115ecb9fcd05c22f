import type { LRUCache } from 'lru-cache';
import type { Asker } from '../../domain/asker.ts';
import { comparisonsOf, neededKeys } from '../../domain/chosen-keys.ts';
import { DomainError } from '../../domain/errors/domain-error.ts';
import type { Plaintext } from '../../domain/plaintext.ts';
import { resourceName, type ServiceTokenPrincipal } from '../../domain/principal.ts';
import { type FoundState, type LargerState, refOf } from '../../domain/secret-states.ts';
import type { EnvironmentSlugs } from '../../domain/slugs.ts';
import type {
  AdmittedSource,
  AskedRevision,
  AskedSource,
  AskedState,
  ReadSource,
  ReadStep,
  RevisionQuestion,
  SourceFault,
  SourceIdentity,
  SourceRefusal,
  SourceToken,
  SourcesAnswer,
  SourcesQuestion,
  ValueSelection,
  ValuesQuestion,
} from '../../domain/source-reads.ts';
import { callOnce } from '../../lib/call-once.ts';
import type { Access, EnvironmentAccess, ReadingAccess } from '../access/access.ts';
import { type Authentication, AuthenticationRefusal } from '../access/authentication.ts';
import { syncReader } from '../access/cluster-access.ts';
import { type KeylessAccess, type KeylessAdmission, KeylessTokenRefusal } from '../access/keyless.ts';
import { replacedMeanwhile } from '../access/refusals.ts';
import type { ReadRoom } from '../secrets/read-sizes.ts';
import type { SecretReader } from '../secrets/secret-reader.ts';
import type { ClusterDeps } from './cluster-deps.ts';

export interface ClusterSourcesDeps extends Pick<ClusterDeps, 'cluster' | 'sourceAddress'> {
  readonly authentication: Pick<Authentication, 'authenticate'>;
  readonly access: Pick<Access, 'environment'>;
  readonly keyless: Pick<KeylessAccess, 'admit'>;
  readonly secretReader: Pick<SecretReader, 'find' | 'read'>;
  /** What reads gave access to, until their values are read, so that these take no second admission; undefined to keep nothing. */
  readonly admissions?: Admissions | undefined;
}

/** By the request and the name of the source. */
export type Admissions = LRUCache<string, ReadingAccess>;

/** What one answer to another process has room and time for. */
export interface AnswerRoom {
  /** Takes room for values; false if they do not fit. */
  takeValues(bytes: number): boolean;
  /** Takes time to compare keys with globs so often; false if that would take too long. */
  takeComparisons(count: number): boolean;
  /** Throws DomainError overloaded if the answer was sent. */
  expectOpen(): void;
}

/** A token that is valid, and belongs to a user. */
class PersonalTokenError extends DomainError {
  constructor() {
    super('unauthenticated', 'the token is a personal token; use a service token');
  }
}

/** A source on its way through the steps of a read. */
interface Reading {
  readonly asked: AskedSource;
  principal?: ServiceTokenPrincipal;
  admission?: KeylessAdmission;
  entry?: { readonly access: ReadingAccess; readonly token: SourceToken };
  state?: FoundState | LargerState | undefined;
  values?: ReadonlyMap<string, Plaintext>;
}

/** How far a read went. */
interface Found extends Omit<SourcesAnswer, 'sources'> {
  readonly readings: readonly Reading[];
}

/** The calls of one read. Equal ones are made once, except admissions, which name the source. */
interface ReadCalls {
  readonly admission: (source: SourceIdentity) => Promise<KeylessAdmission>;
  readonly authenticate: (token: Plaintext | undefined) => Promise<ServiceTokenPrincipal>;
  readonly environment: (
    principal: ServiceTokenPrincipal,
    slugs: EnvironmentSlugs,
  ) => Promise<EnvironmentAccess<'secret.list'>>;
  readonly find: (access: ReadingAccess, state: AskedState) => Promise<FoundState | LargerState>;
}

// After a longer wait for memory, a source is admitted again: its access may have been withdrawn.
const maxWaitMs = 1_000;

/** Reads the sources of the SecretSyncs of one cluster (docs/internals/controller-port.md). */
export class ClusterSources {
  readonly #deps: ClusterSourcesDeps;

  constructor(deps: ClusterSourcesDeps) {
    this.#deps = deps;
  }

  /** See `SourcesBackend.read`. */
  async read(question: SourcesQuestion): Promise<SourcesAnswer> {
    const found = await this.#find(question);
    for (const { asked, entry } of found.readings) {
      if (entry !== undefined) this.#deps.admissions?.set(keyOf(question.asker.requestId, asked.name), entry.access);
    }
    return answerOf(found);
  }

  /**
   * The same for another process: the answer has the values of the selection if they fit, and the audit has what it
   * discloses. The read ends at its next step once the room is closed.
   */
  async readForAnswer(question: SourcesQuestion, room: AnswerRoom): Promise<SourcesAnswer> {
    const found = await this.#find(question, room);
    const { readings, refusal } = found;
    const keys = refusal === undefined ? chosenAmong(readings, question.selection, room) : undefined;
    const last = await forEach(readings, 'state', async (reading, index) => {
      room.expectOpen();
      await this.#disclose(reading, keys?.[index]);
    });
    // What is not in the audit is not disclosed.
    if (last !== undefined) for (const reading of readings.slice(last.source)) delete reading.state;
    return answerOf({ ...found, refusal: refusal ?? last });
  }

  /** Takes all sources through the steps of a read. Throws what is no DomainError. */
  async #find({ asker, sources, maxKeys }: SourcesQuestion, room?: AnswerRoom): Promise<Found> {
    const readings = sources.map((asked): Reading => ({ asked }));
    const calls = this.#callsOf(asker, maxKeys);
    const step = async (name: ReadStep, run: (reading: Reading) => Promise<void>): Promise<SourceRefusal | undefined> =>
      await forEach(readings, name, async (reading) => {
        room?.expectOpen();
        await run(reading);
      });
    const refusal =
      (await step('token', async (reading) => await identify(reading, calls))) ??
      (await step('environment', async (reading) => await admit(reading, calls)));
    const isReplaced = refusal === undefined && isAnyReplaced(readings);
    if (refusal !== undefined || isReplaced) return { readings, isReplaced, refusal };
    const later =
      (await step('environment', enter)) ?? (await step('state', async (reading) => await find(reading, calls)));
    return { readings, isReplaced, refusal: later };
  }

  /** Audits the read of what an answer to another process has of a source: values of these keys, else all names. */
  async #disclose(reading: Reading, keys: readonly string[] | undefined): Promise<void> {
    const { entry } = reading;
    const [state] = wholeState(reading);
    if (entry === undefined || state === undefined) return;
    const values = await this.#deps.secretReader.read(entry.access, refOf(state), keys ?? []);
    if (keys !== undefined) reading.values = values;
  }

  /** See `SourcesBackend.find`. */
  async find({ source, state, maxKeys }: RevisionQuestion): Promise<FoundState | LargerState> {
    return await this.#deps.secretReader.find(await this.#admittedTo(source), { ...state, maxKeys });
  }

  /** The same for another process: the read of the names is audited before they are returned. */
  async findForAnswer({ source, state, maxKeys }: RevisionQuestion): Promise<FoundState | LargerState> {
    const access = await this.#admittedTo(source);
    const found = await this.#deps.secretReader.find(access, { ...state, maxKeys });
    if ('secrets' in found) await this.#deps.secretReader.read(access, refOf(found), []);
    return found;
  }

  /** See `SourcesBackend.values`. With a room, it waits there for memory before it reads, for another process. */
  async values({ source, state, keys }: ValuesQuestion, room?: ReadRoom): Promise<ReadonlyMap<string, Plaintext>> {
    const access = await this.#admittedTo(source);
    if (state.environmentId !== access.environmentId) throw replacedMeanwhile(source.slugs);
    this.#deps.admissions?.delete(keyOf(source.asker.requestId, source.name));
    const checked = room && admittedAfter(room, async () => await this.#admittedTo(source));
    return await this.#deps.secretReader.read(access, state, keys, checked);
  }

  /** The access of a source to the environment that it was admitted to. */
  async #admittedTo(source: AdmittedSource): Promise<ReadingAccess> {
    const { asker, name, slugs, credential, tokenId, environmentId } = source;
    const known = this.#deps.admissions?.get(keyOf(asker.requestId, name));
    if (known?.environmentId === environmentId && known.caller.principal.id === tokenId) return known;
    const reading: Reading = { asked: { name, slugs, credential, state: 'later', recordedId: environmentId } };
    const calls = this.#callsOf(asker, 0);
    await identify(reading, calls);
    await admit(reading, calls);
    // Before a keyless token is created.
    if (environmentIdOf(reading) !== environmentId) throw replacedMeanwhile(slugs);
    await enter(reading);
    return entered(reading).access;
  }

  #callsOf(asker: Asker<'SecretSync'>, maxKeys: number): ReadCalls {
    const { authentication, access, keyless, secretReader, cluster, sourceAddress } = this.#deps;
    const { requestId } = asker;
    return {
      admission: async ({ name, slugs }) =>
        await keyless.admit(syncReader({ cluster: cluster(), sourceAddress }, asker, name), slugs),
      authenticate: callOnce(
        async (token) => {
          const principal = await authentication.authenticate(token?.reveal());
          if (principal.type !== 'service_token') throw new PersonalTokenError();
          return principal;
        },
        (token) => token?.reveal() ?? '',
      ),
      environment: callOnce(
        async (principal, slugs) => {
          const through = { cluster: cluster(), name: resourceName(asker) };
          return await access.environment({ principal, requestId, sourceAddress, through }, 'secret.list', slugs);
        },
        (principal, slugs) => JSON.stringify([principal, slugs]),
      ),
      find: callOnce(
        async (to, state) => await secretReader.find(to, { ...(isRevision(state) ? state : {}), maxKeys }),
        ({ environmentId }, state) => JSON.stringify([environmentId, state]),
      ),
    };
  }
}

/** Takes all readings through one step, one after the other. Returns the first refusal. */
async function forEach(
  readings: readonly Reading[],
  step: ReadStep,
  run: (reading: Reading, index: number) => Promise<void>,
): Promise<SourceRefusal | undefined> {
  for (const [source, reading] of readings.entries()) {
    try {
      await run(reading, source);
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      return { source, step, error, ...refused(error) };
    }
  }
  return undefined;
}

function refused(error: DomainError): Pick<SourceRefusal, 'fault' | 'tokenId' | 'environmentId'> {
  if (error instanceof KeylessTokenRefusal)
    return { fault: undefined, tokenId: error.tokenId, environmentId: error.environmentId };
  const fault: SourceFault | undefined = error instanceof PersonalTokenError ? 'personal' : faultOf(error);
  const principal = error instanceof AuthenticationRefusal ? error.principal : undefined;
  const tokenId = principal?.type === 'service_token' ? principal.id : undefined;
  return { fault, tokenId, environmentId: undefined };
}

function faultOf(error: DomainError): SourceFault | undefined {
  return error instanceof AuthenticationRefusal ? error.fault : undefined;
}

/** Finds out as whom a source reads. A keyless one is admitted to its environment, and nothing is created yet. */
async function identify(reading: Reading, { authenticate, admission }: ReadCalls): Promise<void> {
  const { asked } = reading;
  if (asked.credential === 'keyless') reading.admission = await admission(asked);
  else reading.principal = await authenticate(asked.credential.token);
}

async function admit(reading: Reading, { environment }: ReadCalls): Promise<void> {
  const { asked, principal } = reading;
  if (principal === undefined) return;
  const access = await environment(principal, asked.slugs);
  reading.entry = { access, token: tokenOf(principal) };
}

/** Creates the keyless token of a source if there is none yet. */
async function enter(reading: Reading): Promise<void> {
  if (reading.admission === undefined) return;
  const { access, tokenId } = await reading.admission.enter();
  reading.entry = { access, token: { id: tokenId, credentialId: null, expiresAt: null } };
}

async function find(reading: Reading, calls: ReadCalls): Promise<void> {
  const { state } = reading.asked;
  const { access } = entered(reading);
  const isAbsent = isRevision(state) && typeof state.revision === 'number' && state.revision > access.revision;
  if (state !== 'later' && !isAbsent) reading.state = await calls.find(access, state);
}

function isRevision(state: AskedState): state is AskedRevision {
  return typeof state !== 'string';
}

function entered({ entry }: Reading): NonNullable<Reading['entry']> {
  if (entry === undefined) throw new Error('a source is read before it has access');
  return entry;
}

/** Whether a keyless token must not be created, because an environment is not the one that the Secret holds data of. */
function isAnyReplaced(readings: readonly Reading[]): boolean {
  return readings.some(({ admission }) => admission !== undefined) && readings.some(isOther);
}

function isOther(reading: Reading): boolean {
  const { recordedId } = reading.asked;
  return recordedId !== undefined && recordedId !== environmentIdOf(reading);
}

/** The keys of each source whose values an answer has. Undefined for none: the Secret may not get them, or they do not fit. */
function chosenAmong(
  readings: readonly Reading[],
  selection: ValueSelection | undefined,
  room: AnswerRoom,
): readonly (readonly string[])[] | undefined {
  const states = readings.flatMap(wholeState);
  if (selection === undefined || states.length < readings.length || readings.some(isOther)) return undefined;
  const offered = states.map(({ secrets }, index) => ({
    rules: selection.rules[index] ?? {},
    keys: secrets.map(({ key }) => key),
  }));
  if (!room.takeComparisons(comparisonsOf(offered))) return undefined;
  const keys = neededKeys(offered, new Set(selection.templateNames));
  const bytes = states.reduce((sum, state, index) => sum + bytesOf(state, keys[index] ?? []), 0);
  return bytes <= selection.maxBytes && room.takeValues(bytes) ? keys : undefined;
}

function wholeState({ state }: Reading): FoundState[] {
  return state !== undefined && 'secrets' in state ? [state] : [];
}

function bytesOf({ secrets }: FoundState, keys: readonly string[]): number {
  const chosen = new Set(keys);
  return secrets.reduce((sum, { key, bytes }) => sum + (chosen.has(key) ? bytes : 0), 0);
}

/** A room after which access is judged again if the wait was long. */
function admittedAfter(room: ReadRoom, admitAgain: () => Promise<unknown>): ReadRoom {
  return {
    enter: async (bytes) => {
      const since = performance.now();
      await room.enter(bytes);
      if (performance.now() - since > maxWaitMs) await admitAgain();
    },
  };
}

function environmentIdOf({ entry, admission }: Reading): string | undefined {
  return entry?.access.environmentId ?? admission?.environmentId;
}

function answerOf({ readings, isReplaced, refusal }: Found): SourcesAnswer {
  return { sources: readings.map(readSource), isReplaced, refusal };
}

function readSource(reading: Reading): ReadSource {
  const { principal, entry, state, values } = reading;
  return {
    token: entry?.token ?? (principal && tokenOf(principal)),
    environmentId: environmentIdOf(reading),
    clusterRules: entry?.access.clusterRules,
    head: entry === undefined ? undefined : { revision: entry.access.revision, revisionId: entry.access.revisionId },
    state,
    values,
  };
}

function tokenOf({ id, credentialId, expiresAt }: ServiceTokenPrincipal): SourceToken {
  return { id, credentialId, expiresAt };
}

function keyOf(requestId: string, source: string | undefined): string {
  return JSON.stringify([requestId, source]);
}
