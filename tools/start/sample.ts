import { randomBytes } from 'node:crypto';
import type { Api } from './api.ts';

/** The sample environment that examples/quickstart.yaml names. */
export const sample = { organization: 'demo', project: 'shop', environment: 'production' } as const;
const environmentPath = `${sample.organization}/${sample.project}/${sample.environment}`;

/** Makes the sample organization, project and environment, and its secrets if it has none: an earlier run's are kept. */
export async function makeSample(api: Api): Promise<void> {
  const taken = [409];
  await api.call('POST', '/organizations', { slug: sample.organization, displayName: 'Demo' }, taken);
  await api.call('POST', `/projects/${sample.organization}`, { slug: sample.project, displayName: 'Shop' }, taken);
  await api.call(
    'POST',
    `/environments/${sample.organization}/${sample.project}`,
    { slug: sample.environment, displayName: 'Production' },
    taken,
  );
  const { secrets } = await api.call<{ secrets: unknown[] }>('GET', `/secrets/${environmentPath}`);
  if (secrets.length > 0) return;
  await api.call('PATCH', `/secrets/${environmentPath}`, {
    set: {
      API_KEY: randomBytes(18).toString('base64url'),
      DATABASE_PASSWORD: randomBytes(18).toString('base64url'),
      LOG_LEVEL: 'info',
    },
    comment: 'sample of npm start',
  });
}
