import { describe, expect, test } from '@jest/globals';
import { issuerPresets, presetFault, presetText, type RequiredClaims } from '../../../src/domain/issuer-presets.ts';

const github = { repository_id: ['1'] };
const gitlab = { project_id: ['1'] };
const ofRef = { ref: ['main'], ref_type: ['branch'], ref_protected: ['true'] };

describe('claims are enough', () => {
  test.each<[(typeof issuerPresets)[number], RequiredClaims]>([
    ['github', { ...github, environment: ['production'] }],
    ['github', { ...github, ref: ['refs/heads/main'], event_name: ['push', 'workflow_dispatch'] }],
    ['github', { ...github, environment: ['production'], event_name: ['pull_request_target'] }],
    ['gitlab', { ...gitlab, ...ofRef }],
    ['gitlab', { ...gitlab, environment: ['production'], environment_protected: ['true'] }],
    ['kubernetes', { sub: ['system:serviceaccount:shop:ci'] }],
    ['none', { sub: ['a', 'b'], more: ['c'] }],
  ])('for %s with %j', (preset, claims) => expect(presetFault(preset, claims)).toBeUndefined());
});

describe('claims are not enough', () => {
  const taken = (claim: string, thing: string): string =>
    `; ${claim} is missing, and after a rename or deletion others can take the name of the ${thing}, also in sub`;
  const ofRepository = taken('repository_id', 'repository');
  const ofProject = taken('project_id', 'project');
  test.each<[(typeof issuerPresets)[number], string, RequiredClaims]>([
    ['github', ofRepository, {}],
    ['github', ofRepository, { environment: ['production'], sub: ['repo:acme/shop:environment:production'] }],
    ['github', ofRepository, { repository: ['acme/shop'], environment: ['production'] }],
    ['github', '', github],
    ['github', '', { ...github, ref: ['refs/heads/main'] }],
    ['github', '', { ...github, ref: ['refs/heads/main'], event_name: ['push', 'pull_request_target'] }],
    ['github', '', { ...github, environment: [] }],
    ['gitlab', '', { ...gitlab, ref: ['main'], ref_type: ['branch'] }],
    ['gitlab', '', { ...gitlab, ...ofRef, ref_protected: ['true', 'false'] }],
    ['gitlab', ofProject, { ...ofRef, project_path: ['acme/shop'] }],
    ['gitlab', '', { ...gitlab, environment: ['production'] }],
    ['kubernetes', '', { namespace: ['shop'] }],
    ['none', '', { constructor: ['x'] }],
  ])('for %s%s: %j', (preset, why, claims) => {
    expect(presetFault(preset, claims)).toBe(
      `must include ${presetText(preset)}, because the issuer has the preset ${preset}${why}`,
    );
  });

  test.each<[(typeof issuerPresets)[number], string, RequiredClaims]>([
    ['github', 'the number of the repository in repository_id', { repository_id: ['acme/shop'], environment: ['a'] }],
    ['github', 'the number of the repository in repository_id', { repository_id: ['1', '1 '], environment: ['a'] }],
    ['gitlab', 'the number of the project in project_id', { project_id: ['acme/shop'], ...ofRef }],
  ])('for %s, which needs %s', (preset, what, claims) => {
    expect(presetFault(preset, claims)).toBe(`must have ${what}, such as 123456, and not its name`);
  });
});

test('the text of each preset names the claims of which one set is enough', () => {
  expect(Object.fromEntries(issuerPresets.map((preset) => [preset, presetText(preset)]))).toEqual({
    github: 'repository_id and environment, or repository_id, ref and event_name other than pull_request_target',
    gitlab:
      'project_id, ref, ref_type and ref_protected = true, or project_id, environment and environment_protected = true',
    kubernetes: 'sub',
    none: 'sub',
  });
});
