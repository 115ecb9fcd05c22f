import { LRUCache } from 'lru-cache';
import type { Asker } from '../../domain/asker.ts';
import { DomainError } from '../../domain/errors/domain-error.ts';
import type { Plaintext } from '../../domain/plaintext.ts';
import { resourceName, type ServiceTokenPrincipal } from '../../domain/principal.ts';
import type { FoundState, LargerState } from '../../domain/secret-states.ts';
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

// Far more than the sources that are read at the same time. Without its admission, a source is admitted again.
const rememberedAdmissions = 1_000;

/** Reads the sources of the SecretSyncs of one cluster (docs/internals/controller-port.md). */
export class ClusterSources {
  readonly #deps: ClusterSourcesDeps;
  /** Of requests under way, until their values are read: so that these take no second admission. */
  readonly #admitted = new LRUCache<string, ReadingAccess>({ max: rememberedAdmissions });

  constructor(deps: ClusterSourcesDeps) {
    this.#deps = deps;
  }

  /** See `SourcesBackend.read`. */
  async read({ asker, sources, maxKeys }: SourcesQuestion): Promise<SourcesAnswer> {
    const readings = sources.map((asked): Reading => ({ asked }));
    const calls = this.#callsOf(asker, maxKeys);
    const refusal =
      (await forEach(readings, 'token', async (reading) => await identify(reading, calls))) ??
      (await forEach(readings, 'environment', async (reading) => await admit(reading, calls)));
    const isReplaced = refusal === undefined && isAnyReplaced(readings);
    if (refusal !== undefined || isReplaced) return { sources: readings.map(readSource), isReplaced, refusal };
    const later =
      (await forEach(readings, 'environment', async (reading) => await enter(reading))) ??
      (await forEach(readings, 'state', async (reading) => await find(reading, calls)));
    for (const { asked, entry } of readings) {
      if (entry !== undefined) this.#admitted.set(keyOf(asker.requestId, asked.name), entry.access);
    }
    return { sources: readings.map(readSource), isReplaced, refusal: later };
  }

  /** See `SourcesBackend.find`. */
  async find({ source, state, maxKeys }: RevisionQuestion): Promise<FoundState | LargerState> {
    return await this.#deps.secretReader.find(await this.#admittedTo(source), { ...state, maxKeys });
  }

  /** See `SourcesBackend.values`. With a room, it waits there for memory before it reads. */
  async values({ source, state, keys }: ValuesQuestion, room?: ReadRoom): Promise<ReadonlyMap<string, Plaintext>> {
    const access = await this.#admittedTo(source);
    if (state.environmentId !== access.environmentId) throw replacedMeanwhile(source.slugs);
    this.#admitted.delete(keyOf(source.asker.requestId, source.name));
    return await this.#deps.secretReader.read(access, state, keys, room);
  }

  /** The access of a source to the environment that it was admitted to. */
  async #admittedTo(source: AdmittedSource): Promise<ReadingAccess> {
    const { asker, name, slugs, credential, tokenId, environmentId } = source;
    const known = this.#admitted.get(keyOf(asker.requestId, name));
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
  run: (reading: Reading) => Promise<void>,
): Promise<SourceRefusal | undefined> {
  for (const [source, reading] of readings.entries()) {
    try {
      await run(reading);
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
  if (readings.every(({ admission }) => admission === undefined)) return false;
  return readings.some((reading) => {
    const { recordedId } = reading.asked;
    return recordedId !== undefined && recordedId !== environmentIdOf(reading);
  });
}

function environmentIdOf({ entry, admission }: Reading): string | undefined {
  return entry?.access.environmentId ?? admission?.environmentId;
}

function readSource(reading: Reading): ReadSource {
  const { principal, entry, state } = reading;
  return {
    token: entry?.token ?? (principal && tokenOf(principal)),
    environmentId: environmentIdOf(reading),
    clusterRules: entry?.access.clusterRules,
    head: entry === undefined ? undefined : { revision: entry.access.revision, revisionId: entry.access.revisionId },
    state,
  };
}

function tokenOf({ id, credentialId, expiresAt }: ServiceTokenPrincipal): SourceToken {
  return { id, credentialId, expiresAt };
}

function keyOf(requestId: string, source: string | undefined): string {
  return JSON.stringify([requestId, source]);
}
