import type { Prepare } from './prepare.ts';

const asItIs: Prepare = () => ({});

const content = {
  preset: 'none',
  iss: 'https://issuer.example',
  jwksUrl: 'https://issuer.example/keys',
  algorithms: ['RS256'],
};

const newIssuer: Prepare = async ({ founder, succeeds }) => ({
  params: { name: succeeds ? await founder.issuer(content) : 'any' },
});

/** Those of trusted issuers. */
export const issuerPreparations: Readonly<Record<string, Prepare>> = {
  'GET /trusted-issuers': asItIs,
  'GET /trusted-issuers/{name}': newIssuer,
  'PUT /trusted-issuers/{name}': async (wanted) => ({ ...(await newIssuer(wanted)), body: content }),
  'DELETE /trusted-issuers/{name}': newIssuer,
  'GET /organizations/{org}/trusted-issuers': asItIs,
};
