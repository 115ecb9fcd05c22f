import type { Prepare } from './prepare.ts';

const asItIs: Prepare = () => ({});

const ownServiceToken: Prepare = async ({ founder, place, succeeds }) => ({
  params: { id: succeeds ? (await founder.serviceToken(place, { scope: 'organization' })).id : place.serviceTokenId },
});

const ownFederatedToken: Prepare = async ({ founder, place, succeeds }) => {
  if (!succeeds) return { params: { id: place.serviceTokenId } };
  return { params: { id: (await founder.serviceToken(place, await founder.federatedToken())).id } };
};

const ownProjectToken: Prepare = async ({ founder, place, succeeds }) => {
  if (!succeeds) return { params: { id: place.serviceTokenId } };
  const { id } = await founder.serviceToken(place, { scope: 'project', projectId: place.projectId });
  return { params: { id } };
};

const ownKeylessToken: Prepare = async ({ founder, place, succeeds }) => ({
  params: { id: succeeds ? await founder.keylessToken(place) : place.serviceTokenId },
});

/** Those of service tokens. */
export const tokenPreparations: Readonly<Record<string, Prepare>> = {
  'GET /service-tokens/{org}': asItIs,
  'POST /service-tokens/{org}': () => ({ body: { name: 'ci', scope: 'organization', permission: 'read' } }),
  'POST /service-tokens/{org} [federated]': async ({ founder }) => ({ body: await founder.federatedToken() }),
  'GET /service-tokens/{org}/{id}': ({ place }) => ({ params: { id: place.serviceTokenId } }),
  'DELETE /service-tokens/{org}/{id}': ownServiceToken,
  'POST /service-tokens/{org}/{id}/rotate': async (wanted) => ({ ...(await ownServiceToken(wanted)), body: {} }),
  'POST /service-tokens/{org}/{id}/reinstate': ownKeylessToken,
  'POST /service-tokens/{org}/{id}/accept-issuer': async (wanted) => ({
    ...(await ownFederatedToken(wanted)),
    body: { generation: 1 },
  }),
  'POST /service-tokens/{org}/{id}/explain': async (wanted) => ({
    ...(await ownFederatedToken(wanted)),
    body: { jwt: 'e30.e30.e30' },
  }),

  'GET /projects/{org}/{project}/service-tokens': asItIs,
  'POST /projects/{org}/{project}/service-tokens': ({ place: { projectId } }) => ({
    body: { name: 'ci', scope: 'project', projectId, permission: 'read' },
  }),
  'GET /projects/{org}/{project}/service-tokens/{id}': ownProjectToken,
  'DELETE /projects/{org}/{project}/service-tokens/{id}': ownProjectToken,
  'POST /projects/{org}/{project}/service-tokens/{id}/rotate': async (wanted) => ({
    ...(await ownProjectToken(wanted)),
    body: {},
  }),
  'POST /projects/{org}/{project}/service-tokens/{id}/reinstate': ownKeylessToken,
};
