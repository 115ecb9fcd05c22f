import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { routeTable } from '../../../../src/http/routes/table.ts';
import type { Reply } from '../../../support/api/keep-alive-client.ts';
import type { Actor } from './callers.ts';
import { type Row, deadCredentials, missingItems, rows } from './expectations.ts';
import { type ForeignTarget, foreignAnswer, foreignTargets } from './foreign-targets.ts';
import { preparations, withMissingItem } from './requests.ts';
import { oneOfEach, some } from './sample.ts';
import { type Ready, type Site, comparable, requestIdOf } from './site.ts';
import { withSite } from './with-site.ts';
import { isFull } from '../../../support/fixtures/test-size.ts';
import { sentence } from '../../../support/fixtures/interface-sentences.ts';
import { nonEmpty } from '../../../support/fixtures/non-empty.ts';

let site: Site;

withSite((given) => ({ site } = given));

/** The first line of each route. */
const routes = [...Map.groupBy(rows, ({ route }) => route).values()].flatMap(([first]) => first ?? []);
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

describe('the table in own-targets.ts', () => {
  test('has a line for every route, and a route for every line', () => {
    const served = routeTable.map(({ method, path }) => `${method} ${path}`);
    expect(routes.map(({ route }) => route).toSorted()).toEqual(served.toSorted());
  });

  test('has a request in requests.ts for every line', () => {
    expect(Object.keys(preparations).toSorted()).toEqual(rows.map(({ name }) => name).toSorted());
  });

  test('has a status in `missingItems` for every item that can be missing', () => {
    const withItem = routes
      .filter(({ path }) => /\{(?:key|version|id|name|user|subject)\}/.test(path))
      .map(({ route }) => route);
    // Writing a key makes it, and so does giving a role to a group, setting an issuer, or registering a cluster.
    const answered = [
      ...Object.keys(missingItems).map((name) => rowOf(name).route),
      'PUT /secrets/{org}/{project}/{env}/{key}',
      'PUT /organizations/{org}/roles/{subject}',
      'PUT /trusted-issuers/{name}',
      'PUT /clusters/{name}',
    ];
    expect(answered.toSorted()).toEqual(withItem.toSorted());
  });
});

type Answers = Record<string, number>;

function statusesOf(names: readonly string[], reported: readonly Reply[]): Answers {
  return Object.fromEntries(names.map((name, index) => [name, reported[index]?.status ?? 0]));
}

test('a change shows in what is compared to see that a refusal writes nothing', async () => {
  for (const name of ['PUT /secrets/{org}/{project}/{env}/{key} [again]', 'PATCH /organizations/{org}']) {
    const before = await site.written();
    await site.send(await site.prepare(rowOf(name), site.places.own, { actor: site.actor('owner'), succeeds: true }));
    expect(await site.written()).not.toEqual(before);
  }
});

function prepareAll(row: Row, actors: readonly Actor[]): Promise<Ready[]> {
  const succeeds = (actor: Actor): boolean => row.statuses[actor.name] < 300;
  return Promise.all(actors.map((actor) => site.prepare(row, site.places.own, { actor, succeeds: succeeds(actor) })));
}

// In the default size each service token presents its value and its JWT in turn, on the next day the other way round.
const presented = isFull ? (['a value', 'a JWT'] as const) : (['either'] as const);

describe.each(presented)('on their own target, every caller gets the response of the table (%s):', (presents) => {
  beforeAll(() => void (site.presents = presents));
  afterAll(() => void (site.presents = 'either'));

  test.each(rows.map((row) => [row.name, row] as const))('%s', async (_name, row) => {
    // Users have been asked before, and some of them left the organization.
    const asked = site.actors.filter(({ isUser }) => presents !== 'a JWT' || !isUser);
    const [allowed, refused] = split(asked, ({ name }) => row.statuses[name] < 300);
    const refusals = await site.askInVain(await prepareAll(row, refused));
    const ready = await prepareAll(row, allowed);
    const answers = [...refusals, ...(await Promise.all(ready.map((one) => site.send(one))))];
    const actors = [...refused, ...allowed];
    expect(
      statusesOf(
        actors.map(({ name }) => name),
        answers,
      ),
    ).toEqual(Object.fromEntries(asked.map(({ name }) => [name, row.statuses[name]])));
    await expectAudited(row, actors, answers);
  });
});

/** They read no values, and write nothing. */
const unauditedForPeople: ReadonlySet<string> = new Set([
  'GET /secrets/{org}/{project}/{env} [filtered]',
  'GET /secrets/{org}/{project}/{env} [deleted]',
]);

/** Who may leave an organization, and is in it by a group only: nothing is hidden, there is no membership. */
function isNoMember({ name }: Row, actor: Actor | undefined): boolean {
  return name === 'DELETE /members/{org}/{user} [oneself]' && actor?.name === 'organization-group';
}

/** A service token's requests, all refusals and all changes leave one entry each; so do reads of values and versions. */
async function expectAudited(row: Row, actors: readonly Actor[], answers: readonly Reply[]): Promise<void> {
  const entries = await site.audited(answers);
  const isAudited = row.method !== 'GET' || /^\/(?:secrets|versions)\//.test(row.path);
  const discloses = isAudited && !unauditedForPeople.has(row.name);
  const outcomes = answers.map((reported) => entries.get(requestIdOf(reported)) ?? []);
  const expected = answers.map(({ status }, index) => {
    if (status >= 400) return [[409, 422].includes(status) || isNoMember(row, actors[index]) ? 'failed' : 'denied'];
    if (actors[index]?.isUser === true && !discloses) return outcomes[index];
    // A copy is audited in both environments.
    return row.path.endsWith('/copy') ? ['success', 'success'] : ['success'];
  });
  const named = (all: readonly unknown[]): object =>
    Object.fromEntries(all.map((one, index) => [actors[index]?.name ?? '', one]));
  expect(named(outcomes)).toEqual(named(expected));
}

describe(`with a credential that is not live, everything is 401 and nothing is written ${sentence('4.0.1')}:`, () => {
  test.each(methods)('%s', async (method) => {
    const cells = routes
      .flatMap((row, place) => some(deadCredentials, 3, place).map((name) => ({ row, name })))
      .filter(({ row }) => row.method === method);
    const owner = { actor: site.actor('owner'), succeeds: false };
    const ready = await Promise.all(
      cells.map(async ({ row, name }) => ({
        ...(await site.prepare(row, site.places.own, owner)),
        authorization: site.credentials.headers.get(name),
      })),
    );
    const reported = await site.askInVain(ready);
    const names = cells.map(({ row, name }) => `${row.route} with ${name}`);
    expect(statusesOf(names, reported)).toEqual(Object.fromEntries(names.map((name) => [name, 401])));
    for (const { headers } of nonEmpty(reported)) expect(headers['www-authenticate']).toMatch(/^Bearer /);
  });

  test('but those who hold them would be let in with live ones', async () => {
    const row = rowOf('PUT /secrets/{org}/{project}/{env}/{key}');
    for (const authorization of nonEmpty(site.credentials.alive)) {
      const ready = await site.prepare(row, site.places.own, { actor: site.actor('owner'), succeeds: true });
      expect(await site.send({ ...ready, authorization })).toMatchObject({ status: 201 });
    }
  });
});

describe('with the token of a cluster, everything is 401 and nothing is written:', () => {
  test.each(methods)('%s', async (method) => {
    const cells = Object.entries(await site.clusterTokens(`remote-${method}`)).flatMap(([name, token]) =>
      routes.filter((row) => row.method === method).map((row) => ({ row, name, token })),
    );
    const owner = { actor: site.actor('owner'), succeeds: false };
    const ready = await Promise.all(
      cells.map(async ({ row, token }) => ({
        ...(await site.prepare(row, site.places.own, owner)),
        authorization: `Bearer ${token}`,
      })),
    );
    const names = cells.map(({ row, name }) => `${row.route} with ${name}`);
    const answers = statusesOf(names, await site.askInVain(ready));
    expect(answers).toEqual(Object.fromEntries(names.map((name) => [name, 401])));
  });
});

describe('on another target, or a missing one, a caller gets the response of the table:', () => {
  const placed = routes.filter(({ path }) => targetsOf(path).length > 0);

  test.each(placed.map((row, place) => [row.route, row, place] as const))('%s', async (_route, row, place) => {
    // The same ones on every target, so that the responses for each target are compared.
    const actors = some(site.actors, 5, place);
    const cells = targetsOf(row.path).flatMap((target) =>
      actors.flatMap((actor) => {
        const answer = foreignAnswer(row.path, target, actor.name);
        const status = answer === '=' ? row.statuses[actor.name] : answer;
        return status === undefined ? [] : [{ target, actor, status, name: `${actor.name} on a ${target}` }];
      }),
    );
    const [allowed, refused] = split(cells, ({ status }) => status < 300);
    const prepare = ({ target, actor, status }: (typeof cells)[number]): Promise<Ready> =>
      site.prepare(row, site.places.foreign.get(target) ?? site.places.own, { actor, succeeds: status < 300 });
    const vain = await Promise.all(refused.map(prepare));
    // What exists and is hidden from them altogether is asked for as well.
    const outsiders = actors.filter((actor) => row.statuses[actor.name] === 404 && !isNoMember(row, actor));
    const hidden = await Promise.all(
      outsiders.map((actor) => site.prepare(row, site.places.own, { actor, succeeds: false })),
    );
    const [refusals, hiddenToo] = splitAt(await site.askInVain([...vain, ...hidden]), vain.length);
    const ready = await Promise.all(allowed.map(prepare));
    const answers = [...refusals, ...(await Promise.all(ready.map((one) => site.send(one))))];
    const all = [...refused, ...allowed];
    const expected = Object.fromEntries(all.map(({ name, status }) => [name, status]));
    expect(
      statusesOf(
        all.map(({ name }) => name),
        answers,
      ),
    ).toEqual(expected);
    expectAlike([
      ...refusals.map((reported, index) => [refused[index]?.actor.name ?? '', reported, vain[index]] as const),
      ...hiddenToo.map((reported, index) => [outsiders[index]?.name ?? '', reported, hidden[index]] as const),
    ]);
  });
});

/** Expects all answers 404 to an actor to be the same, but for the names that were asked for. */
function expectAlike(all: readonly (readonly [string, Reply, Ready | undefined])[]): void {
  const hidden = all.filter(([, { status }]) => status === 404);
  for (const [actor, answers] of Map.groupBy(hidden, ([name]) => name)) {
    const [first, ...others] = answers.map(([, reported, ready]) => ready && comparable(reported, ready));
    for (const other of others) expect({ actor, ...other }).toEqual({ actor, ...first });
  }
}

/** The foreign targets that a path can name. */
function targetsOf(path: string): readonly ForeignTarget[] {
  // Found by its snapshot alone; one that is missing is missing in no place.
  if (path === '/snapshots/{id}') return foreignTargets.filter((target) => !target.startsWith('missing'));
  return foreignTargets.filter((target) => {
    if (target.endsWith('environment')) return path.includes('{env}');
    return path.includes(target.endsWith('project') ? '{project}' : '{org}');
  });
}

describe('HEAD is answered like GET, without a body:', () => {
  const read = routes.filter(({ method }) => method === 'GET');

  test.each(read.map((row, place) => [row.path, row, place] as const))('%s', async (_path, row, place) => {
    const actors = oneOfEach(site.actors, ({ name }) => row.statuses[name], place);
    const ready = await prepareAll(row, actors);
    const reported = await Promise.all(ready.map((one) => site.send({ ...one, row: { ...row, method: 'HEAD' } })));
    expect(reported.map(({ status }) => status)).toEqual(actors.map(({ name }) => row.statuses[name]));
    expect(reported.map(({ text }) => text).join('')).toBe('');
  });
});

const faultOr = (status: number): number | 'a fault' => ([400, 422].includes(status) ? 'a fault' : status);

/** A line, a caller and the place of the line in the table. */
interface Cell {
  readonly row: Row;
  readonly actor: Actor;
}

/** A caller for each answer of each line, of the lines of a method. */
function cellsOf(lines: readonly Row[], method: string, answerOf: (cell: Cell) => unknown): Cell[] {
  return lines.flatMap((row, place) => {
    if (row.method !== method) return [];
    const cells = site.actors.map((actor) => ({ row, actor }));
    return [...oneOfEach(cells, answerOf, place)];
  });
}

/** Asks in vain by all cells at once, after `spoil` changed the requests; the statuses by line and caller. */
async function askSpoiled(cells: readonly Cell[], spoil: (ready: Ready) => Ready): Promise<[string, number][]> {
  const ready = await Promise.all(
    cells.map(({ row, actor }) => site.prepare(row, site.places.own, { actor, succeeds: false })),
  );
  const reported = await site.askInVain(ready.map(spoil));
  return cells.map(({ row, actor }, index) => [`${row.name} by ${actor.name}`, reported[index]?.status ?? 0]);
}

describe('before anything else of a request is judged, what is hidden is 404 and what is denied 403:', () => {
  const wanted = ({ row, actor }: Cell): number | 'a fault' => {
    const status = row.statuses[actor.name];
    return faultOr(status < 300 || isNoMember(row, actor) ? 400 : status);
  };

  test.each(methods)('%s', async (method) => {
    const cells = cellsOf(routes, method, wanted);
    // Faults of every kind: in the path below the target, in the query and in the body.
    const spoil = (ready: Ready): Ready => ({ ...ready, ...spoiledParams(ready), query: '?nonsense=1', body: '{"x":' });
    const statuses = await askSpoiled(cells, spoil);
    const expected = statuses.map(([name], index) => [name, wanted(cells[index] as Cell)]);
    expect(statuses.map(([name, status]) => [name, faultOr(status)])).toEqual(expected);
  });

  /** Of a snapshot that is asked for by its id alone, the id is the target. */
  function spoiledParams({ row, params }: Ready): object {
    if (params === undefined || row.path === '/snapshots/{id}') return {};
    return { params: Object.fromEntries(Object.keys(params).map((name) => [name, '..\u0001 bad'])) };
  }
});

describe('what is not there is 404 to those who may ask for it, and is denied to the others:', () => {
  const wanted = ({ row, actor: { name } }: Cell): number => {
    const answer = missingItems[row.name] ?? 0;
    return row.statuses[name] < 300 ? answer : row.statuses[name];
  };

  test.each(methods.filter((method) => method !== 'PATCH'))('%s', async (method) => {
    const cells = cellsOf(Object.keys(missingItems).map(rowOf), method, wanted);
    const statuses = await askSpoiled(cells, (ready) => ({ ...ready, ...withMissingItem(ready) }));
    expect(statuses).toEqual(statuses.map(([name], index) => [name, wanted(cells[index] as Cell)]));
  });
});

function rowOf(name: string): Row {
  const row = rows.find((candidate) => candidate.name === name);
  if (row === undefined) throw new Error(`the table has no line for ${name}`);
  return row;
}

function splitAt<T>(all: readonly T[], index: number): [T[], T[]] {
  return [all.slice(0, index), all.slice(index)];
}

function split<T>(all: readonly T[], belongs: (one: T) => boolean): [T[], T[]] {
  return [all.filter((one) => belongs(one)), all.filter((one) => !belongs(one))];
}
