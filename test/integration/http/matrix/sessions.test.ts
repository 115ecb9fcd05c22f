import { describe, expect, test } from '@jest/globals';
import { needsRecentSignIn } from '../../../../src/domain/recent-sign-in.ts';
import { routeTable } from '../../../../src/http/routes/table.ts';
import { pageHeaders } from '../../../support/api/browser-session.ts';
import type { Reply } from '../../../support/api/keep-alive-client.ts';
import type { Actor } from './callers.ts';
import { type Row, rows } from './expectations.ts';
import type { Ready, Site } from './site.ts';
import { withSite } from './with-site.ts';

let site: Site;

withSite((given) => ({ site } = given));

/** Whether a request gives lasting access, of the actions whose input decides. */
const givesLastingAccess: Readonly<Record<string, boolean>> = {
  'PUT /organizations/{org}/impersonation': true,
  'PUT /organizations/{org}/impersonation [forbidden]': false,
  'PUT /members/{org}/{user}': true,
  'PUT /members/{org}/{user} [with_a_role]': true,
  'PUT /members/{org}/{user} [another_role]': false,
  'PUT /members/{org}/{user} [confirmed]': true,
  'PUT /members/{org}/{user} [a_new_owner]': true,
  'PUT /members/{org}/{user} [an_owner_demoted]': false,
  'PUT /members/{org}/{user} [oneself_to_owner]': false,
  'PUT /members/{org}/{user} [oneself_to_admin]': false,
  'PUT /organizations/{org}/roles/{subject}': true,
  'PUT /organizations/{org}/roles/{subject} [changed]': false,
  'PUT /organizations/{org}/roles/{subject} [own_group_lowered]': false,
  ...ofRoles('/projects/{org}/{project}/roles'),
  ...ofRoles('/environments/{org}/{project}/{env}/roles'),
  'PATCH /environments/{org}/{project}/{env}': false,
  'PATCH /environments/{org}/{project}/{env} [unprotected]': true,
  'PATCH /users/{id}': false,
  'PATCH /users/{id} [made_admin]': true,
  'PATCH /users/{id} [disabled]': false,
  'PATCH /users/{id} [enabled]': true,
  'PATCH /users/{id} [another_address]': true,
  'POST /users/{id}/personal-tokens': true,
  // It takes away each way to sign in as the user.
  'DELETE /users/{id}/personal-tokens': true,
  'DELETE /users/{id}/sessions': false,
  'DELETE /users/{id}/identities/{identity}': true,
  'DELETE /users/{id}/passkeys/{passkey}': true,
  'POST /users/{id}/passkeys/{passkey}/confirm': true,
  'PUT /sign-in': true,
  'PUT /sign-in [closed]': false,
};

function ofRoles(path: string): Readonly<Record<string, boolean>> {
  return {
    [`PUT ${path}/{subject}`]: true,
    [`PUT ${path}/{subject} [a_member]`]: true,
    [`PUT ${path}/{subject} [a_group]`]: true,
    [`PUT ${path}/{subject} [changed]`]: false,
    [`PUT ${path}/{subject} [oneself]`]: false,
    [`PUT ${path}/{subject} [lowered]`]: false,
  };
}

/** What a session cannot do at any time. */
const forTokensOnly: ReadonlySet<string> = new Set(['POST /sessions']);

type Need = 'always' | 'by_input' | 'never';

function actionOf({ method, path }: Row): string {
  return routeTable.find((route) => route.method === method && route.path === path)?.action ?? '';
}

function needOf(row: Row): Need {
  const needs: Readonly<Record<string, Need>> = needsRecentSignIn;
  return needs[actionOf(row)] ?? 'never';
}

/** The first person who may do it. */
function doerOf({ statuses }: Row): Actor | undefined {
  return site.actors.find(({ name, isUser }) => isUser && statuses[name] < 300);
}

async function sendInSession(row: Row, { actor, headers }: Sender): Promise<Reply> {
  const ready = await site.prepare(row, site.places.own, { actor, succeeds: true });
  return site.send(inSession(ready, { ...headers, cookie: await site.staleCookieOf(actor.name) }));
}

interface Sender {
  readonly actor: Actor;
  readonly headers: Readonly<Record<string, string>>;
}

function inSession(ready: Ready, headers: Readonly<Record<string, string>>): Ready {
  return { ...ready, authorization: undefined, headers: { ...ready.headers, ...headers } };
}

function codeOf({ text }: Reply): unknown {
  return text.startsWith('{') ? (JSON.parse(text) as { code?: unknown }).code : undefined;
}

describe('in a session whose sign-in is not recent', () => {
  test('each line of an action whose input decides is judged, and each such action has lines of both kinds', () => {
    const judged = rows.filter((row) => needOf(row) === 'by_input');
    const possible = judged.filter(({ statuses }) => Object.values(statuses).some((status) => status < 300));
    expect(Object.keys(givesLastingAccess).toSorted()).toEqual(possible.map(({ name }) => name).toSorted());
    for (const [action, ofAction] of Map.groupBy(possible, actionOf)) {
      const kinds = new Set(ofAction.map(({ name }) => givesLastingAccess[name]));
      expect([action, kinds]).toEqual([action, new Set([true, false])]);
    }
  });

  describe('what gives lasting access is refused, and the rest works:', () => {
    test.each(rows.map((row) => [row.name, row] as const))('%s', async (name, row) => {
      const doer = doerOf(row);
      const need = needOf(row);
      const isRefused = need === 'by_input' ? givesLastingAccess[name] === true : need === 'always';
      const reply = await sendInSession(row, { actor: doer ?? site.actor('owner'), headers: pageHeaders });
      const isDone = doer !== undefined && !forTokensOnly.has(name);
      const expected = isDone ? row.statuses[doer.name] : reply.status;
      expect([reply.status, codeOf(reply) === 'recent_sign_in_required']).toEqual([
        isRefused ? 403 : expected,
        isRefused,
      ]);
    });
  });
});

describe('without the header that another site cannot send', () => {
  test('a session changes nothing by any route', async () => {
    const changing = [...Map.groupBy(rows, ({ route }) => route).values()]
      .flatMap(([first]) => first ?? [])
      .filter(({ method }) => method !== 'GET');
    expect(new Set(changing.map(({ method }) => method))).toEqual(new Set(['POST', 'PUT', 'PATCH', 'DELETE']));
    const owner = site.actor('owner');
    const headers = { 'sec-fetch-site': 'same-origin', cookie: await site.staleCookieOf('owner') };
    const asked = await Promise.all(
      changing.map((row) => site.prepare(row, site.places.own, { actor: owner, succeeds: false })),
    );
    const replies = await site.askInVain(asked.map((ready) => inSession(ready, headers)));
    const statuses = changing.map(({ route }, index) => [route, replies[index]?.status]);
    expect(Object.fromEntries(statuses)).toEqual(Object.fromEntries(changing.map(({ route }) => [route, 401])));
    for (const { text } of replies) expect(text).toContain('X-Keyframe-CSRF');
  });
});
