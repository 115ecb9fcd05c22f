/** @default What the tests of the controller take for granted about an API server. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, test } from '@jest/globals';
import { KubeClient } from '../../src/kube/client/client.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { contractCases } from '../support/cluster/api-contract/cases.ts';
import { ContractSite } from '../support/cluster/api-contract/site.ts';
import { createNamespace, discardNamespace, sharedCluster } from '../support/cluster/cluster.ts';

let client: KubeClient;
let site: ContractSite;

beforeAll(() => {
  client = KubeClient.load({ kubeconfigFile: sharedCluster().kubeconfig, clock: systemClock });
});

afterAll(() => client.close());

beforeEach(async () => {
  site = new ContractSite(client, await createNamespace());
});

afterEach(async () => {
  site.close();
  await discardNamespace(site.namespace);
});

describe.each(contractCases)('on an API server, %s', (_, cases) => {
  test.each(cases)('$title', async ({ expectHolds }) => await expectHolds(site));
});
