import { globSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { checkoutDirectory } from '../../../tools/checkout.ts';
import { goldenStates, kinds, resourceIn } from '../../support/fixtures/golden-states.ts';

/** The states that the health checks of Flux and Argo CD judge (test/e2e/gitops-health.test.ts) are all that exist. */

const folder = join(checkoutDirectory, 'src/controller/kinds');

/** `SecretSync` → `secret-sync`. */
const folderOf = (kind: string): string => kind.replaceAll(/(?<!^)[A-Z]/g, '-$&').toLowerCase();

/** The reasons of Ready that the files of a kind name, beside those of errors. */
function reasonsInSource(kind: string): string[] {
  const files = globSync('**/*.ts', { cwd: join(folder, folderOf(kind)) });
  const texts = files.map((file) => readFileSync(join(folder, folderOf(kind), file), 'utf8'));
  const claims = texts.flatMap((text) =>
    Array.from(text.matchAll(/progress: [^,]+,\s*reason: (?<reason>[^,}]+)[,}]/g), ({ groups }) => groups?.['reason']),
  );
  const calls = texts.flatMap((text) => Array.from(text.matchAll(/\bworking\((?<reason>'\w+'),/g), ([, one]) => one));
  const quoted = [...claims, ...calls].flatMap((text = '') => Array.from(text.matchAll(/'(\w+)'/g), ([, one]) => one));
  return [...new Set(quoted)].map(String).toSorted();
}

// Written out, because the expectations of gitops-health.test.ts follow the catalogue, whatever that says.
const faultsOfPeople = [
  'deletion_blocked',
  'environment_deleted',
  'key_conflict',
  'merge_conflict',
  'merge_refused',
  'snapshot_gone',
  'snapshot_mismatch',
  'source_replaced',
  'target_not_owned',
  'target_too_large',
  'target_type_unmet',
  'template_invalid',
  'template_key_missing',
  'template_value_binary',
  'value_not_base64',
  'version_destroyed',
];

test.each(faultsOfPeople)('%s is stalled immediately for a SecretSync, because only a person can fix it', (fault) => {
  const states = goldenStates().filter(({ kind, code }) => kind === 'SecretSync' && code === fault);
  expect(states.map(({ claim }) => claim.progress)).toEqual(['stalled']);
});

test('every kind has states', () => {
  const definitions = readdirSync(join(checkoutDirectory, 'crds'))
    .filter((name) => name.endsWith('.yaml'))
    .map(
      (file) =>
        parse(readFileSync(join(checkoutDirectory, 'crds', file), 'utf8')) as { spec: { names: { kind: string } } },
    );
  expect(kinds.toSorted()).toEqual(definitions.map(({ spec }) => spec.names.kind).toSorted());
});

describe.each(kinds.map((kind) => [kind]))('%s', (kind) => {
  const states = goldenStates().filter((state) => state.kind === kind);

  test('has a state for each reason in its source', () => {
    const reasons = reasonsInSource(kind);
    expect(reasons.length).toBeGreaterThan(1);
    const judged = new Set(states.filter(({ code }) => code === undefined).map(({ claim }) => claim.reason));
    expect(reasons.filter((reason) => !judged.has(reason))).toEqual([]);
  });

  test('is never in progress for ever', () => {
    const dayMs = 86_400_000;
    const lasting = states.filter((state) =>
      resourceIn(state, dayMs).status?.conditions?.some(
        ({ type, status }) => type === 'Reconciling' && status === 'True',
      ),
    );
    expect(lasting.map(({ claim }) => claim.reason)).toEqual([]);
  });
});
