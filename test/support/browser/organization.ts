import type { HttpClient, TestApi } from '../api/http.ts';
import { type TestUser, createUser } from '../api/services.ts';

/** An organization that a page shows. */
export interface ShownOrganization {
  readonly slug: string;
  /** Made it. */
  readonly owner: TestUser;
  /** The ids of the environments, by `project/environment`. */
  readonly environments: ReadonlyMap<string, string>;
}

/** Creates an organization with environments, each given as `project/environment`. Its owner is `ann` of it. */
export async function createOrganization(
  api: TestApi,
  slug: string,
  places: readonly string[],
): Promise<ShownOrganization> {
  const owner = await createUser(api.services, { instanceAdmin: true, email: `ann@${slug}.example` });
  const client = api.client(owner.token);
  await client.expectStatus(201, 'POST', '/organizations', { slug });
  const environments = new Map<string, string>();
  for (const project of new Set(places.map((place) => place.split('/')[0] ?? ''))) {
    await client.expectStatus(201, 'POST', `/projects/${slug}`, { slug: project });
  }
  for (const place of places) {
    const [project = '', environment = ''] = place.split('/');
    const path = `/environments/${slug}/${project}`;
    const { id } = await client.expectStatus<{ id: string }>(201, 'POST', path, { slug: environment });
    environments.set(place, id);
  }
  return { slug, owner, environments };
}

/** All values at a path of secrets, such as `/secrets/acme/shop/production`. */
export async function valuesAt(client: HttpClient, path: string): Promise<Record<string, string>> {
  const list = await client.expectStatus<{ secrets: { key: string; value: string }[] }>(200, 'GET', path);
  return Object.fromEntries(list.secrets.map(({ key, value }) => [key, value]));
}
