import type { Locator } from 'playwright-core';

/** The rows of a plan, as the eye and as a screen reader has them: class, sign, hidden word and key of each. */
export function planLooks(plan: Locator): Promise<readonly string[]> {
  return plan
    .locator('.plan-row')
    .evaluateAll((rows) =>
      rows.map((row) =>
        [
          row.className,
          ...['.plan-sign', '.visually-hidden', '.mono'].map((part) => row.querySelector(part)?.textContent),
        ]
          .map((text) => text?.trim() ?? 'none')
          .join(' '),
      ),
    );
}
