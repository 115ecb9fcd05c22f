/** The pages of a list, one after the other. `read` gets the cursor of a page: undefined for the first. Throws what it throws. */
export async function* pagesOf<Page extends { readonly nextCursor: string | null }>(
  read: (cursor: string | undefined) => Promise<Page>,
): AsyncGenerator<Page> {
  let cursor: string | undefined;
  do {
    const page = await read(cursor);
    yield page;
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
}

/** All pages of a list. Throws what `read` throws. */
export async function allPages<Page extends { readonly nextCursor: string | null }>(
  read: (cursor: string | undefined) => Promise<Page>,
): Promise<readonly Page[]> {
  const pages: Page[] = [];
  for await (const page of pagesOf(read)) pages.push(page);
  return pages;
}
