import { expect, test } from '@jest/globals';
import { kindNameIn, loadArguments } from '../../../tools/devcluster/cluster/kind-image.ts';

test.each([
  ['apiVersion: v1\ncurrent-context: kind-keyframe-1a2b\nkind: Config', 'keyframe-1a2b'],
  ['current-context: keyframe', undefined],
  ['current-context: ""', undefined],
  ['current-context: 7', undefined],
  ['', undefined],
])('the kubeconfig %j is of the kind cluster %s', (kubeconfig, name) => {
  expect(kindNameIn(kubeconfig)).toBe(name);
});

test('an archive is loaded into the cluster of that name alone', () => {
  expect(loadArguments('keyframe-1a2b', '/tmp/keyframe.tar')).toEqual([
    'load',
    'image-archive',
    '/tmp/keyframe.tar',
    '--name',
    'keyframe-1a2b',
  ]);
});
