import { afterAll, beforeAll } from '@jest/globals';
import { type TestApi, startTestApi } from '../../../support/api/http.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/database/postgres.ts';
import { Site } from './site.ts';

/** Starts an API with the site of the matrix before the tests of a file, and ends both after them. */
export function withSite(
  give: (given: { readonly api: TestApi; readonly site: Site }) => void,
  makeDatabase: () => Promise<TestDatabase> = createTestDatabase,
): void {
  let api: TestApi;
  let site: Site | undefined;

  beforeAll(async () => {
    api = await startTestApi({}, { database: await makeDatabase() });
    // For the streams of changes.
    api.services.feed.start();
    site = await Site.make(api);
    give({ api, site });
  });

  afterAll(async () => {
    // Undefined if it could not be made.
    site?.close();
    await api.close();
  });
}
