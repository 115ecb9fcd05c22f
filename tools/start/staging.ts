import { randomBytes } from 'node:crypto';
import { parseAllDocuments } from 'yaml';
import { apply } from '../devcluster/cluster/apply.ts';
import type { KubeHttp } from '../devcluster/cluster/kube-http.ts';
import { Api } from './api.ts';
import { sample } from './sample.ts';

/**
 * The environment demo/shop/staging: what an environment looks like after some work. It has a history of two people, a
 * snapshot, service tokens of which one leaked and one is revoked, and in the cluster a SecretSync that works, one that fails
 * and a restore that waits for approval.
 */

const { organization, project } = sample;
const place = `${organization}/${project}/staging`;
const snapshotName = 'before-new-checkout';
const taken = [409];

const generated = (): string => randomBytes(18).toString('base64url');

/** Makes the environment and its history, unless an earlier run did. */
export async function makeStaging(api: Api): Promise<void> {
  const body = { slug: 'staging', displayName: 'Staging' };
  const environment = await api.call<{ id?: string }>('POST', `/environments/${organization}/${project}`, body, taken);
  if (environment.id === undefined) return;
  const secrets = `/secrets/${place}`;
  const ann = await makeDeveloper(api);
  await api.call('PATCH', secrets, {
    set: {
      CHECKOUT: 'old',
      DATABASE_PASSWORD: generated(),
      LOG_LEVEL: 'info',
      MAIL_FROM: 'shop@staging.example.com',
      PAYMENT_URL: 'https://pay.example.com/v1',
    },
    comment: 'first values',
  });
  await ann.call('PATCH', secrets, { set: { LOG_LEVEL: 'debug' }, comment: 'find out why orders are slow' });
  await api.call('POST', `/snapshots/${place}`, { name: snapshotName });
  await ann.call('PATCH', secrets, {
    set: { CHECKOUT: 'new', PAYMENT_URL: 'https://pay.example.com/v2', PAYMENT_KEY: generated() },
    delete: ['MAIL_FROM'],
    comment: 'the new checkout',
  });
  await api.call('PATCH', secrets, { set: { DATABASE_PASSWORD: generated() }, comment: 'quarterly rotation' });
  await ann.call('POST', `/versions/${place}/LOG_LEVEL/rollback`, { targetVersion: 1 });
  await makeTokens(api, environment.id);
}

/** A user with the role developer. Their token is known to this process alone. */
async function makeDeveloper(api: Api): Promise<Api> {
  const user = { email: 'ann@localhost', displayName: 'Ann' };
  const { token } = await api.call<{ token?: string }>('POST', '/users', user, taken);
  // A user of this address, who was there before, is left alone: then the admin makes all of the history.
  if (token === undefined) return api;
  const ann = new Api(api.url, token);
  const member = `/members/${organization}/${user.email}`;
  const invitation = await api.call<{ id: string }>('PUT', member, { role: 'developer' });
  await ann.call('POST', `/invitations/${invitation.id}/accept`);
  return ann;
}

async function makeTokens(api: Api, environmentId: string): Promise<void> {
  const tokens = `/service-tokens/${organization}`;
  const common = { scope: 'environment', environmentId, permission: 'read' };
  await api.call('POST', tokens, { ...common, name: 'staging deploy', expiresInDays: 90 });
  await api.call('POST', tokens, { ...common, name: 'staging ci, was in a log', expiresInDays: 90 });
  const former = await api.call<{ id: string }>('POST', tokens, { ...common, name: 'laptop of Dan, who left' });
  await api.call('DELETE', `${tokens}/${former.id}`);
}

/** Applies what the cluster has of the environment. The restore is planned only while its snapshot exists. */
export async function applyStaging(kube: KubeHttp, api: Api, namespace = 'staging'): Promise<void> {
  await apply(kube, `/api/v1/namespaces/${namespace}`, {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: namespace },
  });
  const { snapshots } = await api.call<{ snapshots: { id: string; name: string | null }[] }>(
    'GET',
    `/snapshots/${place}`,
  );
  const snapshot = snapshots.find(({ name }) => name === snapshotName);
  const base = '/apis/keyframe.dev/v1alpha1';
  await apply(kube, `${base}/accessgrants/demo-staging`, manifest(grantOf(namespace)));
  await apply(kube, `${base}/namespaces/${namespace}/secretsyncs/staging-app`, manifest(workingSync));
  await apply(kube, `${base}/namespaces/${namespace}/secretsyncs/staging-mail`, manifest(failingSync));
  if (snapshot === undefined) return;
  const restore = manifest(restoreOf(snapshot.id));
  await apply(kube, `${base}/namespaces/${namespace}/snapshotrestores/old-checkout`, restore);
}

function manifest(text: string): object {
  const [document] = parseAllDocuments(text);
  if (document === undefined) throw new Error('a manifest is one document');
  return document.toJS() as object;
}

const grantOf = (namespace: string): string => `
apiVersion: keyframe.dev/v1alpha1
kind: AccessGrant
metadata: { name: demo-staging }
spec:
  namespaces: [${namespace}]
  rules:
    - { organization: demo, project: shop, environments: [staging], kinds: [SecretSync] }
    - { organization: demo, project: shop, environments: [staging], permission: ReadWrite, kinds: [SnapshotRestore] }
`;

const workingSync = `
apiVersion: keyframe.dev/v1alpha1
kind: SecretSync
metadata: { name: staging-app }
spec:
  environmentRef: { organization: demo, project: shop, name: staging }
  target: { deletionPolicy: Delete }
`;

// The new checkout deleted MAIL_FROM, which this Secret still needs.
const failingSync = `
apiVersion: keyframe.dev/v1alpha1
kind: SecretSync
metadata: { name: staging-mail }
spec:
  environmentRef: { organization: demo, project: shop, name: staging }
  template: { data: { mail.conf: "from = $(MAIL_FROM)" } }
  target: { deletionPolicy: Delete }
`;

const restoreOf = (snapshotId: string): string => `
apiVersion: keyframe.dev/v1alpha1
kind: SnapshotRestore
metadata: { name: old-checkout }
spec: { snapshotId: ${snapshotId}, includeDeleted: true, prune: true }
`;
