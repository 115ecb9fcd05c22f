import { expect, test } from '@jest/globals';
import {
  type ClaimsDraft,
  claimsOf,
  missingClaims,
  neededClaims,
  noClaims,
  typedValues,
  usageOf,
} from '../../../src/dashboard/text/federation.ts';
import { presetFault } from '../../../src/domain/issuer-presets.ts';
import { type IssuerPreset, sufficientClaims } from '../../../src/wire/issuer-presets.ts';

const presets: readonly IssuerPreset[] = ['github', 'gitlab', 'kubernetes', 'none'];
const sets = presets.flatMap((preset) => sufficientClaims(preset).map((_, set) => ({ preset, set })));

test.each(sets)('a form that is filled in with set $set of $preset is enough', ({ preset, set }) => {
  const empty: ClaimsDraft = { ...noClaims, set };
  const needed = neededClaims(preset, empty);
  const values = Object.fromEntries(needed.filter(({ is }) => is === undefined).map(({ name }) => [name, '1']));
  const draft = { ...empty, values };
  expect(missingClaims(draft, preset)).toEqual([]);
  expect(presetFault(preset, claimsOf(draft, preset))).toBeUndefined();
  const open = needed.filter(({ is }) => is === undefined).map(({ name }) => `federation.claims.${name}`);
  expect(missingClaims(empty, preset).map(({ field }) => field)).toEqual(open);
});

test('each line is a value, and a claim without a name or value is left out', () => {
  const draft: ClaimsDraft = {
    set: 0,
    values: { repository_id: ' 1 \n\n2', environment: ' \n' },
    further: [
      { id: 'a', name: ' actor_id ', values: '7' },
      { id: 'b', name: '', values: '8' },
      { id: 'c', name: 'ref', values: '' },
      { id: 'd', name: 'repository_id', values: '3' },
    ],
  };
  expect(claimsOf(draft, 'github')).toEqual({ repository_id: ['1', '2', '3'], actor_id: ['7'] });
  expect(missingClaims(draft, 'github').map(({ field }) => field)).toEqual(['federation.claims.environment']);
});

test('a claim of another set is left out', () => {
  const draft: ClaimsDraft = { set: 1, values: { repository_id: '1', environment: 'production' }, further: [] };
  expect(claimsOf(draft, 'github')).toEqual({ repository_id: ['1'] });
});

test('a claim that may have one value only has it at first', () => {
  const [, , , isProtected] = neededClaims('gitlab', noClaims);
  expect(isProtected).toEqual({ name: 'ref_protected', is: 'true' });
  expect(isProtected && typedValues(noClaims, isProtected)).toBe('true');
});

test.each(presets)('the usage of %s names the audience wherever there are lines to copy', (preset) => {
  const { text, lines } = usageOf({ audience: 'keyframe/i/service-tokens/1' }, preset);
  expect(text).not.toBe('');
  expect(lines ?? 'keyframe/i/service-tokens/1').toContain('keyframe/i/service-tokens/1');
  expect(lines === undefined).toBe(preset === 'none');
});
