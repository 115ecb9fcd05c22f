import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type TestApi, startTestApi } from '../../../support/api/http.ts';
import type { ActorName } from './actors.ts';
import { type Row, rows } from './expectations.ts';
import type { Place } from './places.ts';
import type { Prepared } from './prepare.ts';
import { Site, comparable } from './site.ts';

let api: TestApi;
let site: Site;

beforeAll(async () => {
  api = await startTestApi();
  site = await Site.make(api);
});

afterAll(async () => {
  // Undefined where it could not be made.
  (site as Site | undefined)?.close();
  await api.close();
});

/** A request on the actor's own target, with an id in it that stands for something elsewhere, or nowhere. */
interface Case {
  readonly row: string;
  readonly actor: ActorName;
  readonly status: number;
  /** Something elsewhere. */
  readonly id: (elsewhere: Elsewhere) => string | Promise<string>;
  readonly ask: (id: string) => Prepared;
}

interface Elsewhere {
  readonly sibling: Place;
  readonly foreign: Place;
  readonly gone: Place;
}

const inPath = (id: string): Prepared => ({ params: { id } });
const user = (id: string): Prepared => ({ params: { user: id } });
const tokens = '/service-tokens/{org}';
const projectTokens = '/projects/{org}/{project}/service-tokens';
const snapshots = '/snapshots/{org}/{project}/{env}';
const seed = ({ snapshotId }: Place): string => snapshotId;

const cases: Case[] = [
  ...[`GET ${tokens}/{id}`, `DELETE ${tokens}/{id}`, `POST ${tokens}/{id}/rotate`].map((row): Case => ({
    row,
    actor: 'owner',
    status: 404,
    id: ({ foreign }) => foreign.serviceTokenId,
    ask: (id) => ({ params: { id }, ...(row.startsWith('POST') ? { body: {} } : {}) }),
  })),
  // Tokens of the organization are beyond the admins of a project, as those of others are.
  ...[`GET ${projectTokens}/{id}`, `DELETE ${projectTokens}/{id}`, `POST ${projectTokens}/{id}/rotate`].flatMap((row) =>
    (['sibling', 'foreign'] as const).map((where): Case => ({
      row,
      actor: 'project-admin',
      status: 404,
      id: (elsewhere) => elsewhere[where].serviceTokenId,
      ask: (id) => ({ params: { id }, ...(row.startsWith('POST') ? { body: {} } : {}) }),
    })),
  ),
  ...[`GET ${snapshots}/{id}`, `GET ${snapshots}/{id}/diff`, `DELETE ${snapshots}/{id}`].flatMap((row) =>
    (['sibling', 'foreign', 'gone'] as const).map((where): Case => ({
      row,
      actor: 'owner',
      status: 404,
      id: (elsewhere) => seed(elsewhere[where]),
      ask: (id) => ({ params: { id }, ...(row.endsWith('/diff') ? { query: '?against=current' } : {}) }),
    })),
  ),
  ...(['sibling', 'foreign', 'gone'] as const).flatMap((where): Case[] => {
    const id = (elsewhere: Elsewhere): string => seed(elsewhere[where]);
    return [
      {
        row: `GET ${snapshots}/{id}/diff`,
        actor: 'viewer',
        status: 404,
        id,
        ask: (against) => ({ params: { id: site.places.own.snapshotId }, query: `?against=${against}` }),
      },
      {
        row: `POST ${snapshots}/restore`,
        actor: 'environment-rw',
        status: 404,
        id,
        ask: (snapshotId) => ({ body: { snapshotId } }),
      },
      { row: 'GET /snapshots/{id}', actor: 'environment-rw', status: 404, id, ask: inPath },
      // Their role at the environment, or at a deleted one, opens no snapshot of others.
      ...(['environment-admin', 'environment-group'] as const).map((actor): Case => ({
        row: 'GET /snapshots/{id}',
        actor,
        status: 404,
        id,
        ask: inPath,
      })),
      {
        row: `DELETE ${snapshots}/{id}`,
        actor: 'environment-admin',
        status: 404,
        id,
        ask: inPath,
      },
      {
        row: `POST ${snapshots}/restore`,
        actor: 'environment-developer',
        status: 404,
        id,
        ask: (snapshotId) => ({ body: { snapshotId } }),
      },
    ];
  }),
  ...(['foreign', 'gone'] as const).map((where): Case => ({
    row: 'GET /snapshots/{id}',
    actor: 'project-admin',
    status: 404,
    id: (elsewhere) => seed(elsewhere[where]),
    ask: inPath,
  })),
  // The environment that is copied from is seen by those who may read it alone.
  ...(['sibling', 'gone'] as const).map((where): Case => ({
    row: 'POST /environments/{org}/{project}/{env}/copy',
    actor: 'environment-admin',
    status: 404,
    id: (elsewhere) => (where === 'gone' ? 'gone' : elsewhere.sibling.environment),
    ask: (environment) => ({
      params: { environment },
      body: { from: { project: 'web', environment }, mode: 'changed' },
    }),
  })),
  { row: 'GET /snapshots/{id}', actor: 'owner', status: 404, id: ({ foreign }) => seed(foreign), ask: inPath },
  { row: 'GET /snapshots/{id}', actor: 'owner', status: 404, id: ({ gone }) => seed(gone), ask: inPath },
  {
    row: 'DELETE /personal-tokens/{id}',
    actor: 'admin',
    status: 404,
    id: () => site.personalTokenOf('owner'),
    ask: inPath,
  },
  ...(['accept', 'decline'] as const).map((verb): Case => ({
    row: `POST /invitations/{id}/${verb}`,
    actor: 'admin',
    status: 404,
    id: () => site.invitationOfAnother(site.places.own),
    ask: inPath,
  })),
  {
    row: 'DELETE /organizations/{org}/invitations/{id}',
    actor: 'owner',
    status: 404,
    id: ({ foreign }) => site.invitationOfAnother(foreign),
    ask: inPath,
  },
  {
    row: 'DELETE /sessions/{id}',
    actor: 'admin',
    status: 404,
    id: () => site.sessionOf('owner'),
    ask: inPath,
  },
  {
    row: 'DELETE /identities/{id}',
    actor: 'admin',
    status: 404,
    id: () => site.identityOf('owner'),
    ask: inPath,
  },
  {
    row: 'DELETE /passkeys/{id}',
    actor: 'admin',
    status: 404,
    id: () => site.passkeyOf('owner'),
    ask: inPath,
  },
  {
    row: 'POST /passkeys/{id}/confirm',
    actor: 'admin',
    status: 404,
    id: () => site.passkeyOf('owner'),
    ask: inPath,
  },
  {
    row: 'DELETE /members/{org}/{user} [another]',
    actor: 'owner',
    status: 404,
    id: () => site.actor('stranger').id,
    ask: user,
  },
  ...(['foreign', 'gone'] as const).flatMap((where): Case[] => [
    {
      row: `POST ${tokens}`,
      actor: 'owner',
      status: 422,
      id: (elsewhere) => elsewhere[where].projectId,
      ask: (projectId) => ({ body: { name: 'ci', scope: 'project', projectId, permission: 'read' } }),
    },
    {
      row: `POST ${tokens}`,
      actor: 'owner',
      status: 422,
      id: (elsewhere) => elsewhere[where].environmentId,
      ask: (environmentId) => ({ body: { name: 'ci', scope: 'environment', environmentId, permission: 'read' } }),
    },
  ]),
];

describe('the id of something elsewhere is answered exactly like one that nothing has, and nothing is written:', () => {
  test.each(cases.map((one, index) => [`${one.row} by ${one.actor} (${index + 1})`, one] as const))(
    '%s',
    async (_name, { row: name, actor, status, id, ask }) => {
      const { own, foreign } = site.places;
      const place = (target: Parameters<typeof foreign.get>[0]): Place => foreign.get(target) ?? own;
      const elsewhere = {
        sibling: place('sibling environment'),
        foreign: place('foreign organization'),
        gone: place('deleted project'),
      };
      const asked = [await id(elsewhere), randomUUID()];
      const { authorization } = site.actor(actor);
      const reported = await site.askInVain(
        asked.map((one) => ({ row: rowOf(name), place: own, authorization, ...ask(one) })),
      );
      const [there, nowhere] = reported.map((answer, index) =>
        comparable(answer, { place: own, params: { id: asked[index] ?? '' } }),
      );
      expect(there).toEqual(nowhere);
      expect(reported.map((answer) => answer.status)).toEqual([status, status]);
    },
  );
});

function rowOf(name: string): Row {
  const row = rows.find((candidate) => candidate.name === name);
  if (row === undefined) throw new Error(`the table has no line for ${name}`);
  return row;
}
