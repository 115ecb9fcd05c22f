import type { Prepare } from './prepare.ts';

const asItIs: Prepare = () => ({});

const newCluster: Prepare = async ({ founder, succeeds }) => ({
  params: { name: succeeds ? await founder.cluster() : 'any' },
});

// Each cluster of the founder is a home cluster.
const registration = {
  iss: 'https://kubernetes.default.svc',
  jwksUrl: 'https://issuer.example/keys',
  algorithms: ['RS256'],
  subject: 'system:serviceaccount:keyframe:keyframe-controller',
  fromHome: true,
};

/** Those of clusters. */
export const clusterPreparations: Readonly<Record<string, Prepare>> = {
  'GET /clusters': asItIs,
  'PUT /clusters/{name}': async (wanted) => ({ ...(await newCluster(wanted)), body: registration }),
  'POST /clusters/{name}/disable': newCluster,
  'POST /clusters/{name}/enable': newCluster,
  'DELETE /clusters/{name}': newCluster,
  'DELETE /clusters/{name} [plan]': async (wanted) => ({ ...(await newCluster(wanted)), query: '?plan=true' }),
  'GET /organizations/{org}/clusters': asItIs,
  'GET /organizations/{org}/clusters/{name}': newCluster,
  'PUT /organizations/{org}/clusters/{name}': async (wanted) => ({
    ...(await newCluster(wanted)),
    body: { rules: [] },
  }),
  'DELETE /organizations/{org}/clusters/{name}': newCluster,
};
