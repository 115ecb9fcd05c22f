import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';

/** Checks of accessibility by axe-core: WCAG 2.2, levels A and AA, and its good practices. */

const source = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

const check = `axe.run(document, {
  runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
  resultTypes: ['violations'],
}).then(({ violations }) => JSON.stringify(violations.map(({ id, impact, help, nodes }) =>
  id + ' (' + impact + '): ' + help + ' at ' + nodes.map(({ target }) => target.join(' ')).join(', '))))`;

/** What axe finds on a page as it is now, a line each. It runs beside the scripts of the page, whose policy would refuse it. */
export async function axeFaults(page: Page): Promise<readonly string[]> {
  const session = await page.context().newCDPSession(page);
  try {
    const { frameTree } = await session.send('Page.getFrameTree');
    const { executionContextId: contextId } = await session.send('Page.createIsolatedWorld', {
      frameId: frameTree.frame.id,
      worldName: 'axe',
    });
    await session.send('Runtime.evaluate', { expression: source, contextId });
    const { result, exceptionDetails } = await session.send('Runtime.evaluate', {
      expression: check,
      contextId,
      awaitPromise: true,
      returnByValue: true,
    });
    if (exceptionDetails !== undefined) throw new Error(`axe failed: ${JSON.stringify(exceptionDetails)}`);
    return JSON.parse(String(result.value)) as readonly string[];
  } finally {
    await session.detach();
  }
}
