import { callApi } from './client.ts';

interface ListPage {
  readonly nextCursor: string | null;
}

/**
 * All pages of a list.
 *
 * @param path below /api/v1, without a query
 * @throws ApiError if the server refuses a page, or cannot be reached
 */
export async function readPages<Page extends ListPage>(path: string): Promise<readonly Page[]> {
  const pages: Page[] = [];
  let query = '';
  for (;;) {
    const page = await callApi<Page>(path + query);
    pages.push(page);
    if (page.nextCursor === null) return pages;
    query = `?cursor=${encodeURIComponent(page.nextCursor)}`;
  }
}
