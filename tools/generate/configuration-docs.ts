import { variableRows } from '../../src/config/variable-text.ts';
import { markdownTable } from './markdown-table.ts';

const [begin, end] = ['<!-- The table is generated from src/config/variables.ts. -->', '<!-- End of the table. -->'];

/** The page docs/configuration.md with the table of src/config/variables.ts between its two markers. */
export function configurationDocs(page: string): string {
  const [before, after] = [page.indexOf(begin), page.indexOf(end)];
  if (before === -1 || after < before) throw new Error(`docs/configuration.md lacks ${begin} or, after it, ${end}`);
  return `${page.slice(0, before)}${begin}\n\n${markdownTable(variableRows())}\n\n${page.slice(after)}`;
}
