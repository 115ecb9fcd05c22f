import { beforeAll, expect, test } from '@jest/globals';
import type { WaitingRestoreListView } from '../../../../src/wire/waiting-restores.ts';
import type { TestApi } from '../../../support/api/http.ts';
import { stateReport } from '../../../support/api/state-reports.ts';
import { waitingPlan } from '../../../support/api/waiting-plans.ts';
import type { ActorName } from './actors.ts';
import type { Place } from './places.ts';
import type { Site } from './site.ts';
import { withSite } from './with-site.ts';

/**
 * What the lists on the way to a place hold for users with roles by place: the names that lead there, and nothing else.
 * Each also has the same role in places that are deleted, whose names are in no list.
 */
let api: TestApi;
let site: Site;

withSite((given) => ({ api, site } = given));

beforeAll(async () => {
  const { own, foreign } = site.places;
  const places = new Set([own, ...foreign.values()].map(({ environmentId }) => environmentId));
  const reports = [...places].map((environmentId) => stateReport({ environmentId }));
  await api.services.syncStates.report('lab', reports);
  for (const environmentId of places) await api.services.waitingRestores.report('lab', waitingPlan({ environmentId }));
});

interface Named {
  readonly slug: string;
}

/** Reads a list as a caller; the status if that is not 200. */
async function list<T>(name: ActorName, path: string, read: (body: never) => T): Promise<T | number> {
  const { authorization } = site.actor(name);
  const response = await fetch(`http://127.0.0.1:${api.port}/api/v1${path}`, { headers: { authorization } });
  return response.status === 200 ? read((await response.json()) as never) : response.status;
}

const slugsIn =
  (field: string) =>
  (body: Readonly<Record<string, readonly Named[]>>): string[] =>
    (body[field] ?? []).map(({ slug }) => slug);

interface ConsumerListBody {
  readonly consumers: readonly { readonly project: string; readonly environment: string }[];
}

interface Seen {
  readonly organizations: readonly string[] | number;
  readonly projects: readonly string[] | number;
  readonly environments: readonly string[] | number;
  readonly besides: readonly string[] | number;
  readonly fleet: readonly string[] | number;
}

async function seenBy(name: ActorName): Promise<Seen> {
  const { own, foreign } = site.places;
  const { organization, project } = own;
  const sibling = foreign.get('sibling project') as Place;
  const placesOf = (found: readonly { project: string; environment: string }[]): string[] =>
    found.map((one) => `${one.project}/${one.environment}`).toSorted();
  const fleet = await list(name, `/fleet/${organization}`, ({ consumers }: ConsumerListBody) => placesOf(consumers));
  const waiting = await list(name, `/fleet/${organization}/restores`, ({ restores }: WaitingRestoreListView) =>
    placesOf(restores),
  );
  expect(waiting).toEqual(fleet);
  return {
    organizations: await list(name, '/organizations', slugsIn('organizations')),
    projects: await list(name, `/projects/${organization}`, slugsIn('projects')),
    environments: await list(name, `/environments/${organization}/${project}`, slugsIn('environments')),
    besides: await list(name, `/environments/${organization}/${sibling.project}`, slugsIn('environments')),
    fleet,
  };
}

const inProject = {
  projects: ['web'],
  environments: ['prod', 'staging'],
  besides: 404,
  fleet: ['web/prod', 'web/staging'],
};
const inEnvironment = { projects: ['web'], environments: ['prod'], besides: 404, fleet: ['web/prod'] };
const whole = {
  projects: ['api', 'web'],
  environments: ['prod', 'staging'],
  besides: ['prod'],
  fleet: ['api/prod', 'web/prod', 'web/staging'],
};
// Callers who may list what is deleted also see its consumers.
const wholeOfAdmins = { ...whole, fleet: ['api/prod', 'gone/prod', 'web/gone', 'web/prod', 'web/staging'] };
const nothing = { projects: 404, environments: 404, besides: 404, fleet: 404 };

test.each([
  ['viewer', whole],
  ['admin', wholeOfAdmins],
  ['project-admin', inProject],
  ['project-developer', inProject],
  ['project-viewer', inProject],
  ['environment-admin', inEnvironment],
  ['environment-developer', inEnvironment],
  ['environment-viewer', inEnvironment],
  ['organization-group', wholeOfAdmins],
  ['project-group', inProject],
  ['environment-group', inEnvironment],
  ['former-group', nothing],
  ['stranger', nothing],
] as const)('%s', async (name, expected) => {
  const isHidden = expected.projects === 404;
  const organizations = isHidden ? [] : [site.places.own.organization];
  expect(await seenBy(name)).toEqual({ organizations, ...expected });
});

test('the roles that count are in GET /me, and those of a project in its list with the ones beneath', async () => {
  const { organization, project, environment } = site.places.own;
  const at = { organization, project, environment: null, group: null };
  const roles = (body: { readonly rolesByPlace: unknown }): unknown => body.rolesByPlace;
  expect(await list('project-viewer', '/me', roles)).toEqual([{ ...at, role: 'viewer' }]);
  const inGroup = { ...at, environment, group: 'watchers', role: 'viewer' };
  expect(await list('environment-group', '/me', roles)).toEqual([inGroup]);
  expect(await list('former-group', '/me', roles)).toEqual([]);

  interface Listed {
    readonly roles: readonly {
      readonly project: string | null;
      readonly environment: string | null;
      readonly role: string;
      readonly group: string | null;
    }[];
  }
  const listed = (body: Listed): string[] =>
    body.roles.map((one) => [one.project, one.environment, one.group ?? 'user', one.role].join(' ')).toSorted();
  const ofEnvironment = ['admin', 'developer', 'viewer'].map((role) => `web prod user ${role}`);
  const environmentRoles = [...ofEnvironment, 'web prod watchers viewer'];
  const ofProject = ['admin', 'developer', 'viewer'].map((role) => `web  user ${role}`);
  expect(await list('environment-viewer', `/environments/${organization}/web/prod/roles`, listed)).toEqual(
    environmentRoles.toSorted(),
  );
  expect(await list('project-viewer', `/projects/${organization}/web/roles`, listed)).toEqual(
    [...environmentRoles, ...ofProject, 'web  builders developer'].toSorted(),
  );
});

test('a page of the fleet holds what is visible alone, and so does the next one', async () => {
  const { organization } = site.places.own;
  interface Page {
    readonly consumers: readonly { readonly environment: string }[];
    readonly nextCursor: string | null;
  }
  const page = (body: Page): Page => body;
  const first = (await list('project-viewer', `/fleet/${organization}?limit=1`, page)) as Page;
  const cursor = encodeURIComponent(first.nextCursor ?? '');
  const second = (await list('project-viewer', `/fleet/${organization}?limit=1&cursor=${cursor}`, page)) as Page;
  const found = [...first.consumers, ...second.consumers].map((one) => one.environment);
  expect(found.toSorted()).toEqual(['prod', 'staging']);
  expect(second.nextCursor).toBeNull();
});
