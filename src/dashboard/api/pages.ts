interface ListPage {
  readonly nextCursor: string | null;
}

/**
 * All pages of a list. `read` requests one, and its errors are thrown.
 */
export async function readPages<Page extends ListPage>(
  read: (query: { readonly cursor?: string }) => Promise<Page>,
): Promise<readonly Page[]> {
  const pages: Page[] = [];
  let query = {};
  for (;;) {
    const page = await read(query);
    pages.push(page);
    if (page.nextCursor === null) return pages;
    query = { cursor: page.nextCursor };
  }
}
