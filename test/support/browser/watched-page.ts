import type { BrowserContext, Page, Request } from 'playwright-core';

/** Ends what hangs; a slow machine does not reach it. */
const limitMs = 90_000;

/** What a page did that a person does not see. */
export interface PageRecord {
  readonly page: Page;
  readonly requests: readonly Request[];
  /** Messages of the console, uncaught errors and violations of the content security policy. */
  readonly complaints: string[];
}

/** Opens an empty page of a context, and records what it does. */
export async function watchedPage(context: BrowserContext): Promise<PageRecord> {
  const page = await context.newPage();
  page.setDefaultTimeout(limitMs);
  const requests: Request[] = [];
  const complaints: string[] = [];
  page.on('request', (request) => void requests.push(request));
  page.on('console', (message) => void complaints.push(`${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => void complaints.push(`uncaught: ${error.message}`));
  return { page, requests, complaints };
}
