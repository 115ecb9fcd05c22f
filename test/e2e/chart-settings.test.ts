import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { KubeObject } from '../../tools/devcluster/cluster/kube-http.ts';
import { chartFolder, objectsOf, renderChart } from '../support/cluster/helm.ts';
import { agentSettings } from './chart-settings/agent.ts';
import { connectionSettings } from './chart-settings/connection.ts';
import { podSettings } from './chart-settings/pods.ts';
import { recoverySettings } from './chart-settings/recovery.ts';
import { serverSettings } from './chart-settings/server.ts';
import { type Setting, type Values, lookUp } from './chart-settings/setting.ts';
import { surroundingSettings } from './chart-settings/surroundings.ts';

/** Every value of the chart does what it is for: without it the same places show something else. */

const settings: readonly Setting[] = [
  ...agentSettings,
  ...connectionSettings,
  ...podSettings,
  ...serverSettings,
  ...recoverySettings,
  ...surroundingSettings,
];

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
}

/** Paths of the values that hold no further ones. */
function leaves(node: Schema, at: readonly string[] = []): string[] {
  if (node.properties === undefined) return [at.join('.')];
  return Object.entries(node.properties).flatMap(([name, inner]) => leaves(inner, [...at, name]));
}

const rendered = new Map<string, Promise<KubeObject[]>>();

/** What the chart renders. The definitions are long: they are left out of rows that do not concern them. */
async function render(values: Values): Promise<KubeObject[]> {
  const more = Object.entries({ 'crds.install': false, ...values }).flatMap(([path, value]) => {
    return ['--set-json', `${path}=${JSON.stringify(value)}`];
  });
  const key = more.join(' ');
  const objects = rendered.get(key) ?? renderChart({ namespace: 'keyframe', more }).then(objectsOf);
  rendered.set(key, objects);
  return await objects;
}

function expectShown(objects: readonly KubeObject[], shows: Setting['shows']): void {
  for (const [place, wanted] of Object.entries(shows))
    for (const found of lookUp(objects, place)) expect({ place, found }).toEqual({ place, found: wanted });
}

test('every value of values.schema.json has a row in the table', () => {
  const schema = JSON.parse(readFileSync(join(chartFolder, 'values.schema.json'), 'utf8')) as Schema;
  // Helm's own, which this chart does not read.
  const values = leaves(schema).filter((path) => path !== 'global');
  expect(values.length).toBeGreaterThan(70);
  expect(settings.map(({ value }) => value).toSorted()).toEqual(values.toSorted());
});

describe('the value', () => {
  test.each(settings)('$value', async ({ value, given = {}, set, shows }) => {
    expectShown(await render({ ...given, [value]: set }), shows);
    // Else the row above would pass whatever the chart does with the value. Some values are required by the others.
    const without = render(given).then((objects) => expectShown(objects, shows));
    await expect(without).rejects.toThrow();
  });
});
