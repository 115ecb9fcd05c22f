import { expect, test } from '@jest/globals';
import type { TestApi } from '../../../support/api/http.ts';
import type { Reply } from '../../../support/api/keep-alive-client.ts';
import type { ActorName } from './actors.ts';
import { type Row, rows } from './expectations.ts';
import { seedKey } from './places.ts';
import { type Ready, type Site } from './site.ts';
import { withSite } from './with-site.ts';

let api: TestApi;
let site: Site;

withSite((given) => ({ api, site } = given));

const machines: readonly ActorName[] = ['organization-r', 'organization-rw', 'environment-rw'];
const people: readonly ActorName[] = ['owner', 'instance-admin', 'developer'];

/** Who may do it and leaves an entry by it: a service token, or else a person who changes something or reads values. */
function auditedActor({ method, path, statuses }: Row): ActorName | undefined {
  const isAuditedForPeople = method !== 'GET' || /^\/(?:secrets|versions)\//.test(path);
  return [...machines, ...(isAuditedForPeople ? people : [])].find((name) => statuses[name] < 300);
}

/** Who may not, which leaves an entry as well. */
function refusedActor({ statuses }: Row): ActorName | undefined {
  return ([...machines, 'viewer', 'stranger'] as const).find((name) => [403, 404].includes(statuses[name]));
}

async function prepareAll(): Promise<{ readonly name: string; readonly ready: Ready }[]> {
  const calls: { name: string; ready: Ready }[] = [];
  for (const row of rows) {
    for (const [name, succeeds] of [
      [auditedActor(row), true],
      [refusedActor(row), false],
    ] as const) {
      if (name === undefined) continue;
      const ready = await site.prepare(row, site.places.own, { actor: site.actor(name), succeeds });
      calls.push({ name: `${row.name} by ${name}`, ready });
    }
  }
  const conditional = calls.filter(({ name }) => /^GET \/secrets.* by organization-r$/.test(name));
  const unchanged = conditional.map(({ name, ready }) => {
    return { name: `${name}, unchanged`, ready: { ...ready, headers: { 'if-none-match': '*' } } };
  });
  return [...calls, ...unchanged];
}

const refuseRows = `CREATE FUNCTION refuse_row() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'full'; END $$;
  CREATE TRIGGER refuse_rows BEFORE INSERT ON audit_entry FOR EACH ROW EXECUTE FUNCTION refuse_row()`;
const takeRows = 'DROP TRIGGER refuse_rows ON audit_entry; DROP FUNCTION refuse_row()';

test('while the audit takes no row, no audited call of any route does or discloses anything', async () => {
  const { pool } = api.services.database;
  const calls = await prepareAll();
  expect(calls.length).toBeGreaterThan(100);
  await pool.query(refuseRows);
  let answers: Reply[];
  try {
    answers = await site.askInVain(calls.map(({ ready }) => ready));
  } finally {
    await pool.query(takeRows);
  }
  const wrong = answers.flatMap(({ status, text }, index) => {
    const isWithheld = status === 500 && !text.includes(seedKey);
    return isWithheld ? [] : [`${calls[index]?.name}: ${status} ${text}`];
  });
  expect(wrong).toEqual([]);
  // The same calls are answered otherwise as soon as the audit takes them.
  const again = await Promise.all(calls.map(({ ready }) => site.send(ready)));
  expect(again.filter(({ status }) => status === 500)).toEqual([]);
});
