import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { checkoutDirectory } from '../../../tools/checkout.ts';
import { openApiDocument } from '../../../src/http/openapi/document.ts';
import { pages, readPage } from '../../support/fixtures/documentation.ts';
import { type Matcher, type Selector, isMatched, readQuery } from './promql.ts';
import { type Series, sampleMetrics, targetLabels } from '../../support/api/metric-samples.ts';
import { nonEmpty } from '../../support/fixtures/non-empty.ts';

/** Every alert and every panel asks for series that the server can have: a misspelled one would be silent for ever. */

const chart = join(checkoutDirectory, 'charts', 'keyframe', 'files');

interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: Readonly<Record<string, string>>;
}

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string; readonly legendFormat?: string }[];
}

interface Dashboard {
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly name: string; readonly query: string }[] };
}

const alerts = parse(readFileSync(join(chart, 'alerts.yaml'), 'utf8')) as Alert[];
const dashboard = JSON.parse(readFileSync(join(chart, 'dashboard.json'), 'utf8')) as Dashboard;

let series: Series[];
let missing: string[];

beforeAll(async () => {
  const kinds = readdirSync(join(checkoutDirectory, 'crds'))
    .filter((name) => name.endsWith('.yaml'))
    .map((file) => {
      const text = readFileSync(join(checkoutDirectory, 'crds', file), 'utf8');
      return (parse(text) as { spec: { names: { kind: string } } }).spec.names.kind;
    });
  const described = pages.filter((page) => page.startsWith('docs/resources/')).map(readPage);
  const rows = described.flatMap((text) =>
    Array.from(text.matchAll(/^\| (?:(?:True|False|Unknown) +\| )?([^|]+)/gm), ([, cell = '']) => cell),
  );
  const reasons = new Set(
    rows.flatMap((cell) => Array.from(cell.matchAll(/`([A-Z][A-Za-z]+)`/g), ([, name = '']) => name)),
  );
  const operations = Object.values(openApiDocument().paths ?? {}).flatMap((path) => Object.values(path as object));
  const statuses = new Set(
    operations.flatMap(({ responses }: { responses: object }) => Object.keys(responses).map(Number)),
  );
  const sampled = await sampleMetrics({ kinds, reasons: [...reasons], statuses: [...statuses] });
  ({ series, missing } = sampled);
});

test('test/support/api/metric-samples.ts gives every metric of the server a series', () => {
  expect(missing).toEqual([]);
});

/**
 * The selectors that a selector stands for, one for each plain alternative of its expressions: one that never occurs would be
 * hidden by the others. What it excludes has to occur as well, or the exclusion is misspelled.
 */
function alternatives({ matchers }: Selector): Selector[] {
  return matchers.reduce<Selector[]>(
    (found, matcher) => {
      const { operator, value } = matcher;
      const isList = operator === '=~' || operator === '!~';
      const values = isList && /^\w+(?:\|\w+)+$/.test(value) ? value.split('|') : [value];
      const asked: Matcher = { ...matcher, operator: isList ? '=~' : '=' };
      return found.flatMap((selector) =>
        values.map((one) => ({ matchers: [...selector.matchers, { ...asked, value: one }] })),
      );
    },
    [{ matchers: [] }],
  );
}

/** What is wrong with a selector: no series has its name, one of its labels, or a value that passes its matchers. */
function faultOf({ matchers }: Selector): string | undefined {
  let left = series;
  for (const matcher of matchers.filter(({ label }) => !targetLabels.has(label))) {
    const { label, operator, value } = matcher;
    left = left.filter((labels) => labels[label] !== undefined && isMatched(labels[label] ?? '', matcher));
    if (left.length === 0) return `no series has ${label}${operator}${JSON.stringify(value)}`;
  }
  return undefined;
}

function labelsOf(selectors: readonly Selector[]): ReadonlySet<string> {
  const names = selectors.map(({ matchers }) => matchers.find(({ label }) => label === '__name__'));
  const found = series.filter(({ __name__ = '' }) =>
    names.some((name) => name !== undefined && isMatched(__name__, name)),
  );
  return new Set([...found.flatMap((labels) => Object.keys(labels)), ...targetLabels]);
}

/** What is wrong with a query, in words. */
function faultsOf(text: string): string[] {
  const { selectors, grouping } = readQuery(text);
  const labels = labelsOf(selectors);
  return [
    ...(selectors.length === 0 ? ['it asks for nothing'] : []),
    ...selectors
      .flatMap(alternatives)
      .map(faultOf)
      .filter((fault) => fault !== undefined),
    ...grouping.filter((label) => !labels.has(label)).map((label) => `no series has the label ${label}`),
  ];
}

/** Labels that the result of a query has. */
function resultLabels(text: string): ReadonlySet<string> {
  const { selectors, grouping } = readQuery(text);
  return grouping.length > 0 ? new Set(grouping) : labelsOf(selectors);
}

describe('the alerts', () => {
  test.each(alerts)('$alert asks for series that the server has', ({ expr }) => {
    expect(faultsOf(expr)).toEqual([]);
  });

  test.each(alerts)('$alert describes itself by labels that it has', ({ expr, annotations }) => {
    const named = Array.from(JSON.stringify(annotations).matchAll(/\$labels\.(\w+)/g), ([, label = '']) => label);
    const has = resultLabels(expr);
    expect(named.filter((label) => !has.has(label))).toEqual([]);
  });
});

test('a resource that is not ready is described with its reason, which the alert does not depend on', () => {
  const { expr = '', annotations = {} } = alerts.find(({ alert }) => alert === 'KeyframeResourceNotReady') ?? {};
  const [, format = ''] = /\{\{ range printf ("(?:[^"\\]|\\.)*")/.exec(annotations['description'] ?? '') ?? [];
  const query = (JSON.parse(format) as string).replaceAll('="%s"', '=~".*"');
  expect(faultsOf(query)).toEqual([]);
  expect([...resultLabels(query)]).toContain('reason');
  expect([...resultLabels(expr)]).not.toContain('reason');
});

/** Metrics without a panel, and why. */
const notShown: ReadonlyMap<string, string> = new Map([
  ['keyframe_controller_denied_watches', 'has series only while something is denied; an alert reports it'],
  ['keyframe_controller_clock_skew_seconds', 'is near 0 all the time; an alert reports it'],
  ['keyframe_refused_clusters', 'has series only while a cluster is refused; an alert reports it'],
  ['keyframe_resource_ready', 'has a series for each resource; keyframe_resources counts them'],
  ['keyframe_secret_sync_last_sync_timestamp_seconds', 'has a series for each SecretSync; the stale ones are shown'],
]);

describe('the dashboard', () => {
  const targets = dashboard.panels.flatMap(({ title, targets: all = [] }) =>
    all.map((target) => ({ title, ...target })),
  );

  test.each(targets)('$title asks for series that the server has', ({ expr }) => {
    expect(faultsOf(expr)).toEqual([]);
    const place: Matcher = { label: 'namespace', operator: '=~', value: '$namespace' };
    for (const { matchers } of nonEmpty(readQuery(expr).selectors)) expect(matchers).toContainEqual(place);
  });

  test.each(targets)('$title names its series by labels that they have', ({ expr, legendFormat = '' }) => {
    const has = resultLabels(expr);
    const named = Array.from(legendFormat.matchAll(/\{\{\s*(\w+)\s*\}\}/g), ([, label = '']) => label);
    expect(named.filter((label) => !has.has(label))).toEqual([]);
  });

  test('shows every metric of the server, or says why not', () => {
    const shown = targets.flatMap(({ expr }) => readQuery(expr).selectors);
    const isShown = (name: string): boolean =>
      shown.some(({ matchers }) => matchers.some((by) => by.label === '__name__' && isMatched(name, by)));
    const names = series.map(({ __name__ = '' }) => __name__).filter((name) => name.startsWith('keyframe_'));
    const metrics = new Set(names.map((name) => name.replace(/_(?:bucket|sum|count)$/, '')));
    const absent = [...metrics].filter((metric) => !['', '_bucket', '_count'].some((end) => isShown(metric + end)));
    expect(absent.toSorted()).toEqual([...notShown.keys()].toSorted());
  });

  test('its variables come from series that the server has', () => {
    const queries = dashboard.templating.list.map(({ query }) => /^label_values\((.*), *(\w+)\)$/.exec(query));
    const asked = queries.filter((match) => match !== null);
    expect(asked.length).toBeGreaterThan(0);
    for (const [, selector = '', label = ''] of asked) {
      expect(faultsOf(selector)).toEqual([]);
      expect(labelsOf(readQuery(selector).selectors)).toContain(label);
    }
  });
});

test.each([
  ['sum(rate(keyframe_kubernetes_secret_writes_total{result="failed"}[5m])) > 0', []],
  ['keyframe_kubernetes_secret_writes_total{result="broken"}', ['no series has result="broken"']],
  ['keyframe_kubernetes_secret_writes_total{result=~"failed|broken"}', ['no series has result=~"broken"']],
  ['keyframe_resource_ready{name="web",exported_namespace="shop",reason="RolledBack"}', []],
  ['keyframe_kubernetes_secret_write_total', ['no series has __name__="keyframe_kubernetes_secret_write_total"']],
  ['keyframe_controller_leader{role=~".+"}', ['no series has role=~".+"']],
  ['keyframe_http_request_duration_seconds_count{status=~"6.."}', ['no series has status=~"6.."']],
  ['sum by (state) (keyframe_controller_leader)', ['no series has the label state']],
  ['keyframe_resource_ready{reason!~"Suspended|Suspend"}', ['no series has reason=~"Suspend"']],
  ['1 > 0', ['it asks for nothing']],
])('of the query %s these faults are found: %j', (query, faults) => {
  expect(faultsOf(query)).toEqual(faults);
});
