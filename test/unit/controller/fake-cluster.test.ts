import { describe, test } from '@jest/globals';
import { contractCases } from '../../support/cluster/api-contract/cases.ts';
import { ContractSite } from '../../support/cluster/api-contract/site.ts';
import { FakeCluster } from './fake-cluster.ts';

describe.each(contractCases)('on the cluster in memory, %s', (_, cases) => {
  test.each(cases)('$title', async ({ expectHolds }) => {
    const site = new ContractSite(new FakeCluster(), 'ns');
    await expectHolds(site);
    site.close();
  });
});
