import type { BrowserContext, Page, Request } from 'playwright-core';

/**
 * How long each wait for a page may last. The dashboard does things by itself after 10, 30 and 60 seconds: a longer wait would
 * not distinguish them from what the test did.
 */
export const stepMs = 8_000;

/** What a page did that a person does not see. */
export interface PageRecord {
  readonly page: Page;
  readonly requests: readonly Request[];
  /** Messages of the console, uncaught errors and violations of the content security policy. */
  readonly complaints: string[];
}

/** Opens an empty page of a context, whose waits last `waitMs` at most, and records what it does. */
export async function watchedPage(context: BrowserContext, waitMs = stepMs): Promise<PageRecord> {
  context.setDefaultTimeout(waitMs);
  const page = await context.newPage();
  const requests: Request[] = [];
  const complaints: string[] = [];
  page.on('request', (request) => void requests.push(request));
  page.on('console', (message) => void complaints.push(`${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => void complaints.push(`uncaught: ${error.message}`));
  return { page, requests, complaints };
}
