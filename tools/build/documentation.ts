import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { buildIfStale, dist } from './if-stale.ts';
import { checkoutDirectory } from '../checkout.ts';
import { compress } from './compress.ts';
import { escaped, renderMarkdown } from './markdown.ts';

/** The folder of the pages that the server has at /docs. */
export const documentationFolder = join(dist, 'documentation');

/** The folders with pages for users. Those of docs/ have their names below /docs, such as /docs/install.md. */
const pageFolders = ['docs', 'docs/resources'];
const otherPages = ['CHANGELOG.md', 'SECURITY.md', 'charts/keyframe/README.md', 'examples/README.md'];
/** Drawings that pages show, and the schemas for editors. */
const fileFolders = { docs: '.svg', 'docs/plots': '.svg', 'docs/schemas/keyframe.dev': '.json' };
/** Only for developers: it leads to the sources. */
const leftOut = 'docs/ARCHITECTURE.md';
/** What the server has elsewhere. */
const served: Readonly<Record<string, string>> = { 'docs/openapi.json': '/openapi.json' };

const style = `:root { color-scheme: light dark; --line: light-dark(#c6c9cf, #4a4e57); --shade: light-dark(#f0f1f4, #262930); }
html { background: light-dark(#fff, #16181c); color: light-dark(#1c1e21, #e6e7ea); }
a { color: light-dark(#0a4fc4, #8ab4f8); }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 56rem; margin: 0 auto; padding: 0 1rem 4rem; overflow-wrap: break-word; }
nav { display: flex; flex-wrap: wrap; gap: 1rem; padding: 1rem 0; border-bottom: 1px solid var(--line); }
h1, h2, h3, h4 { line-height: 1.25; margin: 2em 0 0.5em; }
h1 { margin-top: 1em; }
code { font-size: 0.9em; background: var(--shade); padding: 0.1em 0.25em; border-radius: 3px; }
pre { background: var(--shade); padding: 0.75rem 1rem; overflow-x: auto; border-radius: 6px; }
pre code { background: none; padding: 0; }
table { display: block; overflow-x: auto; border-collapse: collapse; }
th, td { border: 1px solid var(--line); padding: 0.35rem 0.6rem; text-align: left; vertical-align: top; }
td { min-width: 8rem; }
blockquote { margin: 1em 0; padding-left: 1em; border-left: 3px solid var(--line); }
img { max-width: 100%; background: #fff; }
`;

/**
 * Builds the pages if they have changed since the last build; once, even if several processes ask at the same time. Returns the
 * first page, which lies in `documentationFolder`.
 */
export function buildDocumentation(): Promise<string> {
  const tools = ['documentation', 'markdown', 'heading-anchors', 'compress'].map((name) => `tools/build/${name}.ts`);
  return buildIfStale({
    name: 'documentation',
    sources: ['docs', ...otherPages, ...tools],
    program: join(documentationFolder, 'README.md.html'),
    build: async () => writePages(),
  });
}

/** From the top of the repository. */
export function publishedPages(): readonly string[] {
  const inFolders = pageFolders.flatMap((folder) =>
    readdirSync(join(checkoutDirectory, folder))
      .filter((name) => name.endsWith('.md'))
      .map((name) => `${folder}/${name}`),
  );
  return [...inFolders.filter((page) => page !== leftOut), ...otherPages].sort();
}

function writePages(): void {
  const fresh = `${documentationFolder}.${process.pid}`;
  const pages = publishedPages();
  for (const page of pages) write(join(fresh, `${placeOf(page)}.html`), htmlOf(page, new Set(pages)));
  for (const file of Object.entries(fileFolders).flatMap(([folder, ending]) => filesIn(folder, ending)))
    write(join(fresh, placeOf(file)), readFileSync(join(checkoutDirectory, file), 'utf8'));
  write(join(fresh, 'pages.css'), style);
  rmSync(documentationFolder, { recursive: true, force: true });
  renameSync(fresh, documentationFolder);
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  compress(file);
}

/** Without screenshots of the dashboard, which are larger than all pages. */
function filesIn(folder: string, ending: string): string[] {
  const names = readdirSync(join(checkoutDirectory, folder)).filter((name) => name.endsWith(ending));
  return names.map((name) => `${folder}/${name}`);
}

/** `docs/install.md` → `install.md`, and pages elsewhere as they are. */
function placeOf(path: string): string {
  return path.replace(/^docs\//, '');
}

function htmlOf(page: string, pages: ReadonlySet<string>): string {
  const targetOf = (link: string): string => join(dirname(page), link);
  const { title, html } = renderMarkdown(readFileSync(join(checkoutDirectory, page), 'utf8'), {
    hrefOf: (link) => {
      if (/^(?:https?:|mailto:|#)/.test(link)) return link;
      const [path = '', anchor] = link.split('#');
      const target = targetOf(path);
      const href = pages.has(target) ? `/docs/${placeOf(target)}` : served[target];
      return href === undefined || anchor === undefined ? href : `${href}#${anchor}`;
    },
    pictureOf: (link) => (link.endsWith('.svg') ? `/docs/${placeOf(targetOf(link))}` : undefined),
  });
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>${escaped(title || basename(page))} · Keyframe</title>
    <link rel="icon" type="image/png" href="/favicon.ico" />
    <link rel="stylesheet" href="/docs/pages.css" />
  </head>
  <body>
    <nav><a href="/docs/README.md">All pages</a><a href="/docs/api">HTTP interface</a><a href="/">Keyframe</a></nav>
    <main>
${html}    </main>
  </body>
</html>
`;
}
