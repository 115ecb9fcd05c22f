import type { Asker } from '../../../../domain/asker.ts';
import { DomainError } from '../../../../domain/errors/domain-error.ts';
import type { KeyRules } from '../../../../domain/chosen-keys.ts';
import type { Plaintext } from '../../../../domain/plaintext.ts';
import type { FoundState, SizedKey } from '../../../../domain/secret-states.ts';
import type {
  AdmittedSource,
  AskedSource,
  ReadSource,
  RevisionQuestion,
  SourceIdentity,
  SourceRefusal,
  ValueSelection,
} from '../../../../domain/source-reads.ts';
import { callOnce } from '../../../../lib/call-once.ts';
import type { SourcesBackend } from '../../../backend/sources.ts';
import { noteRules } from '../../../frame/cluster-ceiling.ts';
import { Seen } from '../../../frame/dependencies.ts';
import { type AskerDeps, describeAsker } from '../../asker-of.ts';
import type { SourceFacts, SyncContext, TargetSource } from '../model.ts';
import { noSources } from '../source-messages.ts';
import { pinText } from '../spec/pin.ts';
import { targetOf } from '../spec/resource.ts';
import { environmentPath, slugsOf } from '../../../environment-ref.ts';
import { type Source, sourcesOf } from '../spec/source.ts';
import type { SourceToken } from '../tokens/token-place.ts';
import { referencedKeys } from '../data/template.ts';
import type { BoundedReads } from './bounded-reads.ts';
import { GrantVerdicts, confirmKeyless } from './keyless.ts';
import { SourceRefusedError, refusedAccess, refusedSource } from './refusals.ts';
import { type Presented, type TokenDeps, type TokenSource, presentAgain, presentTokens } from './source-tokens.ts';
import { type StateDeps, type StateReading, type WantedState, askedState, readState, wantedOf } from './state.ts';

export interface ReadDeps extends TokenDeps, StateDeps, AskerDeps {
  readonly sources: SourcesBackend;
}

/** What a source provides: the keys of the state that was found, before any of them is chosen. */
export interface SourceReading {
  readonly facts: SourceFacts;
  readonly source: Source;
  readonly secrets: readonly SizedKey[];
  readonly admitted: AdmittedSource;
  /** The state that the values are read from; undefined for one that never had any. */
  readonly found: FoundState | undefined;
  /** What the Secret needs of it, if the answer has it. */
  readonly values: ReadonlyMap<string, Plaintext> | undefined;
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
   * The environments that the Secret holds data of, in the order of the spec. No keyless token is created for others;
   * sources with other tokens are judged after the read.
   */
  readonly recordedIds: readonly (string | undefined)[];
  /** Why these environments must not be read, if one of them is not the recorded one. */
  readonly objection: (sources: readonly TargetSource[]) => DomainError | undefined;
  /** The state at which a source is read. Default: the one that its spec asks for. */
  readonly stateOf?: (source: Source) => WantedState;
  readonly reads: BoundedReads;
}

interface SourceToRead extends TokenSource {
  readonly wanted: WantedState;
  readonly recordedId: string | undefined;
}

interface PresentedSource extends SourceToRead {
  readonly presented: Presented;
}

/** A source with what the backend answered. */
interface AnsweredSource extends PresentedSource {
  readonly read: ReadSource;
  readonly refusal: SourceRefusal | undefined;
}

interface Answered {
  readonly sources: readonly AnsweredSource[];
  readonly isReplaced: boolean;
}

/**
 * Reads all sources of a SecretSync, one after the other: first all tokens, then the access of each to its environment, and
 * then the keys. The values are read once it is decided which of them the Secret gets. Each environment is read at a
 * separate moment. Throws SourceRefusedError for the first source that cannot be read, and ApiError.
 */
export async function readSources(deps: ReadDeps, context: SyncContext, plan: ReadPlan): Promise<SourceReadings> {
  const asked = sourcesToRead(context, plan);
  const asker = describeAsker(deps, 'SecretSync', context);
  const confirm = expectGrants(deps, context, asker, asked);
  try {
    const answered = await ask(deps, asker, asked, plan.reads);
    const { sources } = answered;
    for (const source of sources) noteToken(source);
    expectAccess(plan, answered);
    const find = callOnce(
      async (question: RevisionQuestion) => await deps.sources.find(question),
      ({ source: { environmentId }, state: { revision } }) => JSON.stringify([environmentId, revision]),
    );
    const readings: SourceReading[] = [];
    for (const source of sources) readings.push(await readSource({ ...deps, find }, asker, source, plan.reads));
    const ends = sources.flatMap(({ read: { token } }) => token?.expiresAt?.getTime() ?? []);
    return { readings, tokenExpiresAt: ends.length === 0 ? null : new Date(Math.min(...ends)), confirm };
  } finally {
    for (const { context: source } of asked) context.seen.add(source.seen);
  }
}

function sourcesToRead(
  { resource, requestId }: SyncContext,
  { tokens, recordedIds, stateOf = wantedOf }: ReadPlan,
): readonly SourceToRead[] {
  const sources = sourcesOf(resource).map((source, index): SourceToRead => {
    const token = tokens[index];
    if (token === undefined) throw new Error('a source needs a token');
    const context = { resource, source, requestId, seen: new Seen() };
    return { context, token, wanted: stateOf(source), recordedId: recordedIds[index] };
  });
  // The definition of the kind enforces sources. A spec without any must never count as one with empty environments.
  if (sources.length === 0) throw noSources();
  return sources;
}

/** Makes the result depend on the grants of the keyless sources. Returns a function that checks them again. */
function expectGrants(
  { grants }: ReadDeps,
  { resource, seen }: SyncContext,
  asker: Asker<'SecretSync'>,
  asked: readonly SourceToRead[],
): () => void {
  const sources = asked.flatMap(({ token, context }) => (token === 'keyless' ? [context.source] : []));
  if (sources.length === 0) return () => {};
  const { namespace } = targetOf(resource);
  const verdicts = new GrantVerdicts(grants, namespace, sources);
  seen.expect('grants', namespace, verdicts);
  return () => {
    verdicts.renew();
    for (const source of sources) confirmKeyless(asker, source);
  };
}

/** Asks the backend with the tokens of the sources, and again with a newer token in the place of a refused one. */
async function ask(
  deps: ReadDeps,
  asker: Asker<'SecretSync'>,
  asked: readonly SourceToRead[],
  reads: BoundedReads,
): Promise<Answered> {
  const tokenDeps = { ...deps, secretsClient: sharedSecrets(deps) };
  const presented = await presentTokens(tokenDeps, asked);
  let sources = asked.map((source, index): PresentedSource => ({ ...source, presented: at(presented, index) }));
  const { maxKeys } = reads;
  const selection = selectionOf(asked, reads);
  for (;;) {
    const answer = await deps.sources.read({ asker, maxKeys, sources: sources.map(askedSource), selection });
    const { refusal, isReplaced } = answer;
    const newer = refusal === undefined ? undefined : await withNewerToken(tokenDeps, sources, refusal);
    if (newer === undefined) {
      const answered = sources.map((source, index): AnsweredSource => {
        const own = refusal?.source === index ? refusal : undefined;
        return { ...source, read: at(answer.sources, index), refusal: own };
      });
      return { sources: answered, isReplaced };
    }
    sources = newer;
  }
}

/** The sources with the newest token in the place of the refused one; undefined if that was presented. */
async function withNewerToken(
  deps: TokenDeps,
  sources: readonly PresentedSource[],
  refusal: SourceRefusal,
): Promise<PresentedSource[] | undefined> {
  const refused = at(sources, refusal.source);
  const presented = await presentAgain(deps, refused, refused.presented, refusal);
  return presented && sources.with(refusal.source, { ...refused, presented });
}

/** Secrets that several sources name are read once. */
function sharedSecrets({ secretsClient }: ReadDeps): ReadDeps['secretsClient'] {
  const find = callOnce(
    secretsClient.find.bind(secretsClient),
    ({ namespace, name }, notOlderThan) => `${namespace}/${name}/${notOlderThan ?? ''}`,
  );
  return { find };
}

function at<T>(list: readonly T[], index: number): T {
  const found = list[index];
  if (found === undefined) throw new Error('an answer is about all sources that were asked for');
  return found;
}

/** What the Secret needs; undefined if its templates are wrong, which is reported once the keys are known. */
function selectionOf(sources: readonly SourceToRead[], reads: BoundedReads): ValueSelection | undefined {
  const [first] = sources;
  try {
    const templateNames = [...referencedKeys(first?.context.resource.spec.template)];
    const rules = sources.map(({ context: { source } }): KeyRules => source.keys ?? {});
    return { rules, templateNames, maxBytes: reads.maxValueBytes };
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return undefined;
  }
}

function askedSource(one: PresentedSource): AskedSource {
  return { ...identityOf(one), state: askedState(one.wanted), recordedId: one.recordedId };
}

function identityOf({ context: { source }, presented: { credential } }: PresentedSource): SourceIdentity {
  return { name: source.name, slugs: slugsOf(source), credential };
}

function noteToken({ context: { seen }, read: { token, clusterRules } }: AnsweredSource): void {
  if (clusterRules !== undefined) noteRules(seen, clusterRules);
  if (token === undefined) return;
  const { id, credentialId } = token;
  // An event says whether a keyless token works. Of any other, it may be about one of several credentials.
  if (credentialId === null) seen.note('service token', id, 'live');
  else {
    seen.note('service token', id);
    seen.note('credential', credentialId);
  }
}

/** Throws SourceRefusedError if a source has no access, or must not have it. */
function expectAccess({ objection }: ReadPlan, { sources, isReplaced }: Answered): void {
  for (const source of sources) {
    const { refusal, presented } = source;
    if (refusal !== undefined && refusal.step !== 'state') throw refusedAccess(source, presented, refusal);
  }
  if (!isReplaced) return;
  const error = objection(
    sources.map(({ context: { source }, read: { environmentId = '' } }) => ({
      name: source.name,
      path: environmentPath(source),
      environmentId,
      pin: pinText(source),
    })),
  );
  if (error === undefined) throw new Error('only environments that are not the recorded ones are refused');
  throw new SourceRefusedError(error, false);
}

/** Returns the state of a source's environment, its newest or any other, without values. Throws SourceRefusedError. */
async function readSource(
  deps: StateDeps & Pick<SourcesBackend, 'find'>,
  asker: Asker<'SecretSync'>,
  one: AnsweredSource,
  reads: BoundedReads,
): Promise<SourceReading> {
  const { context, wanted, refusal } = one;
  const { token, environmentId, head, state } = one.read;
  if (token === undefined || environmentId === undefined || head === undefined)
    throw new Error('a source without access is refused');
  const { source } = context;
  const admitted = { ...identityOf(one), asker, tokenId: token.id, environmentId };
  const reading: StateReading = {
    ...context,
    environmentId,
    head,
    found: () => {
      if (refusal !== undefined) throw refusal.error;
      if (state === undefined) throw new Error('a state that was asked for is in the answer');
      return reads.take(state);
    },
    findLater: async (revision) =>
      reads.take(await deps.find({ source: admitted, state: { revision }, maxKeys: reads.maxKeys })),
  };
  try {
    const { revision, revisionId, secrets, destroyed, found } = await readState(deps, reading, wanted);
    const facts: SourceFacts = {
      name: source.name,
      path: environmentPath(source),
      environmentId,
      pin: pinText(source),
      revision,
      revisionId,
      keys: [...secrets, ...destroyed].map(({ key }) => key),
    };
    return { facts, source, secrets, admitted, found, values: found === undefined ? undefined : one.read.values };
  } catch (error) {
    throw error instanceof DomainError ? refusedSource(one, error) : error;
  }
}
