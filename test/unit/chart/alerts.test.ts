import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';

interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: Readonly<Record<string, string>>;
}

const alerts = parse(readFileSync('charts/keyframe/files/alerts.yaml', 'utf8')) as readonly Alert[];
const page = readFileSync('docs/alerts.md', 'utf8');
const sections = [...page.matchAll(/^## (Keyframe\w+)$/gm)].map(([, name]) => name);

describe.each(alerts)('the alert $alert', ({ alert, expr, annotations }) => {
  test('has a summary, a description, and a section of the page as its runbook', () => {
    expect(Object.keys(annotations)).toEqual(['summary', 'description', 'runbook']);
    expect(annotations['runbook']).toBe(`docs/alerts.md#${alert.toLowerCase()}`);
    expect(sections).toContain(alert);
  });

  test("looks at the release's namespace alone", () => {
    const selectors = [...expr.matchAll(/\bkeyframe_\w+(\{[^}]*\})?/g)];
    expect(selectors.length).toBeGreaterThan(0);
    for (const [, labels] of selectors) expect(labels).toContain('namespace="NAMESPACE"');
  });
});

test('the page has no section about an alert that does not exist', () => {
  expect(new Set(sections)).toEqual(new Set(alerts.map(({ alert }) => alert)));
  expect(sections).toHaveLength(alerts.length);
});
