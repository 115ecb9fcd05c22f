import { parsers } from 'prettier/plugins/markdown';
import { headingAnchors } from './heading-anchors.ts';

/** Renders the Markdown of this project's pages as HTML. Prettier, which formats the pages, reads them. */

/** A part of a page, as mdast describes it. */
interface Part {
  readonly type: string;
  readonly children?: readonly Part[];
  readonly value?: string;
  readonly url?: string;
  readonly alt?: string | null;
  readonly depth?: number;
  readonly ordered?: boolean;
  readonly start?: number | null;
  readonly align?: readonly (string | null)[];
}

export interface Targets {
  /** Where a link leads; undefined for a file that is not served. */
  readonly hrefOf: (link: string) => string | undefined;
  /** Where a picture is; undefined if it is not served. */
  readonly pictureOf: (link: string) => string | undefined;
}

export interface RenderedPage {
  readonly title: string;
  readonly html: string;
}

/** @throws Error on Markdown that no page of this project uses */
export function renderMarkdown(text: string, targets: Targets): RenderedPage {
  const page = parsers.markdown.parse(text, {} as Parameters<typeof parsers.markdown.parse>[1]) as Part;
  const renderer = new Renderer(targets);
  const html = renderer.inside(page);
  const heading = page.children?.find(({ type }) => type === 'heading');
  return { title: heading === undefined ? '' : plainText(heading), html };
}

type Render = (part: Part) => string;

class Renderer {
  readonly #targets: Targets;
  readonly #anchorOf = headingAnchors();
  readonly #renders: Readonly<Record<string, Render>> = {
    text: ({ value }) => escaped(value),
    inlineCode: ({ value }) => `<code>${escaped(value)}</code>`,
    // Wide lines scroll, also by keyboard.
    code: ({ value }) => `<pre tabindex="0"><code>${escaped(value)}\n</code></pre>\n`,
    emphasis: (part) => this.#element('em', part),
    strong: (part) => this.#element('strong', part),
    paragraph: (part) => `${this.#element('p', part)}\n`,
    blockquote: (part) => `${this.#element('blockquote', part)}\n`,
    break: () => '<br />\n',
    thematicBreak: () => '<hr />\n',
    html: ({ value = '' }) => commentless(value),
    heading: (part) => this.#heading(part),
    link: (part) => this.#link(part),
    image: (part) => this.#image(part),
    list: (part) => this.#list(part),
    listItem: (part) => `<li>${this.inside(part)}</li>\n`,
    table: (part) => this.#table(part),
  };

  constructor(targets: Targets) {
    this.#targets = targets;
  }

  inside({ children = [] }: Part): string {
    return children.map((child) => this.#render(child)).join('');
  }

  #render(part: Part): string {
    const render = this.#renders[part.type];
    if (render === undefined) throw new Error(`tools/build/markdown.ts does not render ${part.type}`);
    return render(part);
  }

  #element(name: string, part: Part): string {
    return `<${name}>${this.inside(part)}</${name}>`;
  }

  #heading(part: Part): string {
    const level = `h${part.depth ?? 1}`;
    return `<${level} id="${escaped(this.#anchorOf(plainText(part)))}">${this.inside(part)}</${level}>\n`;
  }

  #link(part: Part): string {
    const href = this.#targets.hrefOf(part.url ?? '');
    return href === undefined ? this.inside(part) : `<a href="${escaped(href)}">${this.inside(part)}</a>`;
  }

  #image({ url = '', alt }: Part): string {
    const source = this.#targets.pictureOf(url);
    const text = escaped(alt ?? '');
    return source === undefined ? `<em>${text}</em>` : `<img src="${escaped(source)}" alt="${text}" />`;
  }

  #list(part: Part): string {
    const start = part.ordered === true && part.start !== 1 ? ` start="${part.start ?? 1}"` : '';
    const name = part.ordered === true ? 'ol' : 'ul';
    return `<${name}${start}>\n${this.inside(part)}</${name}>\n`;
  }

  #table({ children: [head, ...rows] = [] }: Part): string {
    const body = rows.map((row) => this.#row('td', row)).join('');
    return `<table>\n<thead>${head === undefined ? '' : this.#row('th', head)}</thead>\n<tbody>${body}</tbody>\n</table>\n`;
  }

  #row(name: 'td' | 'th', { children = [] }: Part): string {
    return `<tr>${children.map((cell) => this.#element(name, cell)).join('')}</tr>\n`;
  }
}

/** @throws Error on HTML in a page, except comments: the pages are also read without a browser */
function commentless(html: string): string {
  if (html.replaceAll(/<!--[^]*?-->/g, '').trim() !== '') throw new Error(`a page contains HTML: ${html}`);
  return '';
}

function plainText({ value = '', children = [] }: Part): string {
  return value + children.map(plainText).join('');
}

export function escaped(text = ''): string {
  const names: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
  return text.replaceAll(/[&<>"]/g, (character) => names[character] ?? '');
}
