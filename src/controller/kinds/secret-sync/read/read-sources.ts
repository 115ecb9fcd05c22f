import { DomainError } from '../../../../domain/errors/domain-error.ts';
import { Seen } from '../../../frame/dependencies.ts';
import type { SyncContext, TargetSource } from '../model.ts';
import { pinText } from '../spec/pin.ts';
import { targetOf } from '../spec/resource.ts';
import { type Source, environmentPath, inSource, sourcesOf } from '../spec/source.ts';
import { noSources, notFound } from '../source-messages.ts';
import { isUnsettled } from '../tokens/token-errors.ts';
import type { SourceToken } from '../tokens/token-place.ts';
import { type AdmittedSource, identify } from './admission.ts';
import type { BoundedReads } from './bounded-reads.ts';
import { GrantVerdicts, confirmKeyless } from './keyless.ts';
import { type ReadDeps, type SourceReading, readSource } from './read.ts';
import { sharedCalls } from './shared-calls.ts';
import { type SourceContext, type WantedState, wantedOf } from './state.ts';

/** The sources of a SecretSync could not be read. */
export class SourceRefusedError extends Error {
  override readonly name = 'SourceRefusedError';
  /** Names the source, if it has a name. */
  readonly refusal: DomainError;
  /** Whether the error with a token is about to end or to be explained. */
  readonly isUnsettled: boolean;

  constructor(refusal: DomainError, willSettle: boolean) {
    super(refusal.detail, { cause: refusal });
    this.refusal = refusal;
    this.isUnsettled = willSettle;
  }
}

export interface SourceReadings {
  /** In the order of the spec. */
  readonly readings: readonly SourceReading[];
  /** When the first of the tokens expires; null if none does. */
  readonly tokenExpiresAt: Date | null;
  /** Checks the grants of keyless sources again, in memory only. Throws DomainError forbidden. */
  readonly confirm: () => void;
}

export interface ReadPlan {
  /** The tokens of the sources, in the order of the spec. */
  readonly tokens: readonly SourceToken[];
  /**
   * Why environments must not be read. It is judged before a keyless token is created for them; sources with other tokens
   * are judged after the read.
   */
  readonly objection: (sources: readonly TargetSource[]) => DomainError | undefined;
  /** The state at which a source is read. Default: the one that its spec asks for. */
  readonly stateOf?: (source: Source) => WantedState;
  readonly reads: BoundedReads;
}

interface AskedSource {
  readonly context: SourceContext;
  readonly token: SourceToken;
  readonly wanted: WantedState;
}

/**
 * Reads all sources of a SecretSync, one after the other: first all tokens, then the access of each to its environment, and
 * then the keys. The values are read once it is decided which of them the Secret gets. Each environment is read at a
 * separate moment. Throws SourceRefusedError for the first source that cannot be read, and ApiError.
 */
export async function readSources(
  deps: ReadDeps,
  context: SyncContext,
  { tokens, objection, stateOf = wantedOf, reads }: ReadPlan,
): Promise<SourceReadings> {
  const { resource, requestId } = context;
  const asked = sourcesOf(resource).map((source, index): AskedSource => {
    const token = tokens[index];
    if (token === undefined) throw new Error('a source needs a token');
    return { context: { resource, source, requestId, seen: new Seen() }, token, wanted: stateOf(source) };
  });
  // The definition of the kind enforces sources. A spec without any must never count as one with empty environments.
  if (asked.length === 0) throw noSources();
  const confirm = expectGrants(deps, context, asked);
  const shared = sharedCalls(deps);
  try {
    const identified = await oneByOne(asked, async (one) => {
      return { ...one, admit: await identify(shared, one.context, one.token) };
    });
    const admitted = await oneByOne(identified, async (one) => ({ ...one, admitted: await one.admit() }));
    expectNoObjection(objection, admitted);
    const entered = await oneByOne(admitted, async (one) => ({ ...one, access: await one.admitted.enter() }));
    const readings = await oneByOne(entered, async ({ context: source, access, wanted }) => {
      return await readSource(deps, source, access, { wanted, reads });
    });
    const ends = admitted.flatMap(({ admitted: { expiresAt } }) => expiresAt?.getTime() ?? []);
    return { readings, tokenExpiresAt: ends.length === 0 ? null : new Date(Math.min(...ends)), confirm };
  } finally {
    for (const { context: source } of asked) context.seen.add(source.seen);
  }
}

/** Makes the result depend on the grants of the keyless sources. Returns a function that checks them again. */
function expectGrants(
  { keyless }: ReadDeps,
  { resource, seen }: SyncContext,
  asked: readonly AskedSource[],
): () => void {
  const sources = asked.filter(({ token }) => token === 'keyless').map(({ context }) => context);
  if (sources.length === 0) return () => {};
  const { namespace } = targetOf(resource);
  const verdicts = new GrantVerdicts(
    keyless.grants,
    namespace,
    sources.map(({ source }) => source),
  );
  seen.expect('grants', namespace, verdicts);
  return () => {
    verdicts.renew();
    for (const context of sources) confirmKeyless(keyless, context);
  };
}

function expectNoObjection(
  objection: ReadPlan['objection'],
  sources: readonly (AskedSource & { readonly admitted: AdmittedSource })[],
): void {
  if (!sources.some(({ token }) => token === 'keyless')) return;
  const refusal = objection(
    sources.map(({ context: { source }, admitted: { environmentId } }) => ({
      name: source.name,
      path: environmentPath(source),
      environmentId,
      pin: pinText(source),
    })),
  );
  if (refusal !== undefined) throw new SourceRefusedError(refusal, false);
}

async function oneByOne<A extends AskedSource, T>(asked: readonly A[], step: (one: A) => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  for (const one of asked) {
    try {
      results.push(await step(one));
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      throw refused(one, error);
    }
  }
  return results;
}

function refused({ context: { resource, source, seen }, token }: AskedSource, error: DomainError): SourceRefusedError {
  // A new environment may be the missing one. Without a grant no environment is searched.
  if (error.code === 'not_found' || (error.code === 'forbidden' && token !== 'keyless')) seen.note('environments', '');
  const serviceToken = token === 'keyless' ? undefined : token.serviceToken;
  const refusal = error.code === 'not_found' ? notFound(resource, error) : error;
  return new SourceRefusedError(inSource(source, refusal), isUnsettled(error, serviceToken));
}
