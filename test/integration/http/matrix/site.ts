import type { TestApi } from '../../../support/api/http.ts';
import { newHomeToken, registerCluster } from '../../../support/database/cluster-credentials.ts';
import { KeepAliveClient, type Reply } from '../../../support/api/keep-alive-client.ts';
import { prismaOf } from '../../../support/database/prisma.ts';
import { seed } from '../../../support/fixtures/test-size.ts';
import { tableDigests } from '../../../support/database/table-digest.ts';
import { type Actor, type DeadCredentials, makeActors, makeDeadCredentials } from './callers.ts';
import type { ActorName } from './actors.ts';
import type { Row } from './expectations.ts';
import { Founder, type Place, type Places, deletePlaces, makePlaces } from './places.ts';
import type { Prepared } from './prepare.ts';
import { pathOf, preparations } from './requests.ts';

/** A request that is ready to be sent as a caller. */
export interface Ready extends Prepared {
  readonly row: Row;
  readonly place: Place;
  readonly authorization: string | undefined;
}

/** Everything the matrix asks about, and all callers. */
export class Site {
  readonly places: Places;
  readonly actors: readonly Actor[];
  readonly credentials: DeadCredentials;
  readonly #api: TestApi;
  readonly #client: KeepAliveClient;
  readonly #founder: Founder;
  #asked = seed;
  /** What service tokens present; either in turn by default. */
  presents: 'a value' | 'a JWT' | 'either' = 'either';

  private constructor(
    deps: { readonly api: TestApi; readonly client: KeepAliveClient; readonly founder: Founder },
    parts: Pick<Site, 'places' | 'actors' | 'credentials'>,
  ) {
    this.#api = deps.api;
    this.#client = deps.client;
    this.#founder = deps.founder;
    this.places = parts.places;
    this.actors = parts.actors;
    this.credentials = parts.credentials;
  }

  static async make(api: TestApi): Promise<Site> {
    const client = new KeepAliveClient(api.port);
    const founder = await Founder.make({ api, client });
    const places = await makePlaces(founder);
    const actors = await makeActors(api, founder, places.own);
    const credentials = await makeDeadCredentials(api, founder, places);
    await deletePlaces(api, places);
    return new Site({ api, client, founder }, { places, actors, credentials });
  }

  /** Tokens of clusters: the home token, and that of the controller of a new remote cluster. */
  async clusterTokens(name: string): Promise<Readonly<Record<string, string>>> {
    const { pool } = this.#api.services.database;
    const remote = await registerCluster(pool, name);
    return { 'the home token': await newHomeToken(pool), 'the token of a remote cluster': remote.token() };
  }

  /** Prepares what an actor asks by a row, at a place, according to whether it is to be done. */
  async prepare(row: Row, place: Place, { actor, succeeds }: { actor: Actor; succeeds: boolean }): Promise<Ready> {
    const prepare = preparations[row.name];
    if (prepare === undefined) throw new Error(`no request is defined for ${row.name}`);
    const prepared = await prepare({ founder: this.#founder, place, actor, succeeds });
    return { place, ...prepared, row, authorization: this.#presentedBy(actor) };
  }

  #presentedBy({ authorization, jwt = authorization }: Actor): string {
    if (this.presents !== 'either') return this.presents === 'a JWT' ? jwt : authorization;
    this.#asked += 1;
    return this.#asked % 2 === 0 ? jwt : authorization;
  }

  send({ row, place, authorization, ...prepared }: Ready): Promise<Reply> {
    const path = pathOf(row.path, place, prepared);
    const { headers = {}, body } = prepared;
    return this.#client.ask({ method: row.method, path, authorization, headers, body });
  }

  /** Sends all at once. Throws an Error that names the tables if anything but the audit was written. */
  async askInVain(asked: readonly Ready[]): Promise<Reply[]> {
    const before = await this.written();
    const reported = await Promise.all(asked.map((ready) => this.send(ready)));
    const after = await this.written();
    const changed = Object.keys(after).filter((table) => after[table] !== before[table]);
    if (changed.length > 0) throw new Error(`what should be refused has changed ${changed.join(', ')}`);
    return reported;
  }

  /** What the requests between two of these have written, the audit aside, makes them differ. */
  written(): Promise<Record<string, string>> {
    return tableDigests(this.#api.services.database);
  }

  /** Outcomes of the audit entries of answers, by request id. */
  async audited(answers: readonly Reply[]): Promise<ReadonlyMap<string, readonly string[]>> {
    const ids = answers.map(requestIdOf);
    const entries = await prismaOf(this.#api.services.database).auditEntry.findMany({
      where: { requestId: { in: ids } },
    });
    const byRequest = Map.groupBy(entries, ({ requestId }) => requestId);
    return new Map(ids.map((id) => [id, (byRequest.get(id) ?? []).map(({ outcome }) => outcome)]));
  }

  actor(name: ActorName): Actor {
    const actor = this.actors.find((candidate) => candidate.name === name);
    if (actor === undefined) throw new Error(`there is no caller ${name}`);
    return actor;
  }

  /** Id of a live personal token of theirs. */
  personalTokenOf(name: ActorName): Promise<string> {
    return this.#founder.personalToken(this.actor(name).id);
  }

  /** Id of a session of theirs. */
  async sessionOf(name: ActorName): Promise<string> {
    return (await this.#founder.session(this.actor(name).id)).id;
  }

  /** The cookie of a session of theirs whose sign-in is not recent. */
  async staleCookieOf(name: ActorName): Promise<string> {
    return `__Host-keyframe=${(await this.#founder.session(this.actor(name).id)).token}`;
  }

  /** Id of an invitation of a user who is no actor. */
  async invitationOfAnother(place: Place): Promise<string> {
    return this.#founder.invitation(place, (await this.#founder.user()).id);
  }

  /** Id of an identity of theirs. */
  identityOf(name: ActorName): Promise<string> {
    return this.#founder.identity(this.actor(name).id);
  }

  /** Id of a passkey of theirs. */
  passkeyOf(name: ActorName): Promise<string> {
    return this.#founder.passkey(this.actor(name).id);
  }

  close(): void {
    this.#client.close();
  }
}

export function requestIdOf({ headers }: Reply): string {
  return String(headers['x-request-id']);
}

/** An answer without what differs from request to request, and with the names that were asked for replaced. */
export function comparable(
  { status, headers, text }: Reply,
  { place, params = {} }: Prepared & { place: Place },
): object {
  const { 'x-request-id': requestId, 'content-length': _length, date: _date, ...same } = headers;
  const { organization, project, environment } = place;
  const named = [
    [String(requestId), '{request}'],
    [`${organization}/${project}/${environment}`, '{place}'],
    [`${organization}/${project}`, '{place}'],
    [organization, '{place}'],
    ...Object.entries(params).map(([name, value]) => [value, `{${name}}`] as const),
  ] as const;
  return { status, headers: same, text: named.reduce((part, [name, word]) => part.replaceAll(name, word), text) };
}
