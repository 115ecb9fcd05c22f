import { expect, test } from '@jest/globals';
import { type Principal, recordedActor, type ClusterAsker } from '../../../src/domain/principal.ts';
import { resourceCaller } from '../../support/api/resource-caller.ts';
import { keylessToken, serviceToken, user } from './policy-principals.ts';

const through: ClusterAsker = { cluster: 'fra-1', name: 'SecretSync team-a/app' };

test.each<[string, Principal, ClusterAsker | undefined, string | null]>([
  ['a user', user(true), undefined, null],
  ['a service token of a client', serviceToken('environment', 'read'), undefined, null],
  ['a service token with which a SecretSync reads', serviceToken('environment', 'read'), through, 'fra-1'],
  ['a keyless token', keylessToken, undefined, 'prod'],
  ['a custom resource', resourceCaller({ kind: 'SecretSnapshot', cluster: 'ams-1' }).principal, undefined, 'ams-1'],
])('the record of %s has its name and the cluster that vouched', (_, principal, sync, cluster) => {
  const caller = sync === undefined ? { principal } : { principal, through: sync };
  const { type, id, name } = principal;
  expect(recordedActor(caller)).toEqual({ type, id, name, cluster });
});
