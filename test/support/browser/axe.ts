import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { CDPSession, Page } from 'playwright-core';

/** Checks of accessibility by axe-core: WCAG 2.2, levels A and AA, and its good practices. */

const source = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

const check = `axe.run(document, {
  runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
  resultTypes: ['violations'],
}).then(({ violations }) => JSON.stringify(violations.map(({ id, impact, help, nodes }) =>
  id + ' (' + impact + '): ' + help + ' at ' + nodes.map(({ target }) => target.join(' ')).join(', '))))`;

/** axe beside the scripts of a page, whose policy would refuse it, until the page is left. */
export class Axe {
  readonly #session: CDPSession;
  readonly #contextId: number;

  private constructor(session: CDPSession, contextId: number) {
    this.#session = session;
    this.#contextId = contextId;
  }

  static async of(page: Page): Promise<Axe> {
    const session = await page.context().newCDPSession(page);
    const { frameTree } = await session.send('Page.getFrameTree');
    const { executionContextId: contextId } = await session.send('Page.createIsolatedWorld', {
      frameId: frameTree.frame.id,
      worldName: 'axe',
    });
    await session.send('Runtime.evaluate', { expression: source, contextId });
    return new Axe(session, contextId);
  }

  /** What axe finds on the page as it is now, a line each. */
  async faults(): Promise<readonly string[]> {
    const { result, exceptionDetails } = await this.#session.send('Runtime.evaluate', {
      expression: check,
      contextId: this.#contextId,
      awaitPromise: true,
      returnByValue: true,
    });
    if (exceptionDetails !== undefined) throw new Error(`axe failed: ${JSON.stringify(exceptionDetails)}`);
    return JSON.parse(String(result.value)) as readonly string[];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#session.detach();
  }
}
