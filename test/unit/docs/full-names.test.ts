import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { checkoutDirectory } from '../../../tools/checkout.ts';
import { readText, textFiles } from '../structure/words.ts';

/**
 * Every `kubectl` command that users can copy has the full name of a kind, such as `secretsyncs.keyframe.dev`: other projects
 * have a kind SecretSync too, and in their clusters a short name can mean theirs.
 */

interface Definition {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly names: {
      readonly kind: string;
      readonly plural: string;
      readonly singular: string;
      readonly shortNames: readonly string[];
    };
  };
}

const folder = join(checkoutDirectory, 'crds');
const definitions = readdirSync(folder)
  .filter((name) => name.endsWith('.yaml'))
  .map((file) => parse(readFileSync(join(folder, file), 'utf8')) as Definition);
/** Each word that kubectl takes for a kind → its full name. */
const fullNames: ReadonlyMap<string, string> = new Map(
  definitions.flatMap(({ metadata, spec: { names } }) =>
    [names.plural, names.singular, names.kind, ...names.shortNames].map((word) => [word, metadata.name] as const),
  ),
);

/** What explains the short names, and so may show them. */
const allowed = { path: 'docs/README.md', section: /^## Custom resources\n.*?(?=^## )/ms };

// The messages of the controller are read as it writes them, with sample facts.
const messages = 'test/unit/controller/golden/';
const files = textFiles().filter((path) => !path.startsWith('test/') || path.startsWith(messages));

const verb = String.raw`\b(?:get|describe|delete|annotate|label|patch|edit|wait|explain|can-i|logs|events)\b`;
const isKind = (word: string): boolean => /^[A-Z]/.test(word);
const words = [...fullNames.keys()];
// A word behind a dot or slash belongs to another name. The kind itself is a word of prose unless it stands behind the verb.
const kindWord = new RegExp(
  String.raw`(?<![\w./$-])(${words.filter((word) => !isKind(word)).join('|')}|(?<=${verb} )(?:${words.filter(isKind).join('|')}))` +
    String.raw`(?![\w-])(?:\.[\w.-]*\w)?`,
  'g',
);

/** Each kind without its full name in a command of a text, with its line. Lines that a `\` joins are one command. */
function faultsOf(path: string, text: string): string[] {
  return Array.from(text.matchAll(/kubectl\b(?:\\\n|[^`\n])*/g), ({ 0: command, index }) => ({
    command,
    line: text.slice(0, index).split('\n').length,
  }))
    .filter(({ command }) => new RegExp(verb).test(command))
    .flatMap(({ command, line }) =>
      Array.from(command.matchAll(kindWord), ([name, word = '']) => {
        const full = fullNames.get(word) ?? '';
        return name === full ? [] : [`${path}:${line}: write ${full}, not ${name}`];
      }).flat(),
    );
}

test('every command of kubectl has the full name of each kind', () => {
  const faults = files.flatMap((path) => {
    const text = readText(path) ?? '';
    return faultsOf(path, path === allowed.path ? text.replace(allowed.section, '') : text);
  });
  expect(faults).toEqual([]);
});

test('pages, examples, texts of the chart, definitions, messages and sources are read', () => {
  const places = ['README.md', 'docs/', 'examples/', 'charts/keyframe/templates/NOTES.txt', 'crds/', 'src/', messages];
  for (const place of places) expect(files.filter((path) => path.startsWith(place))).not.toEqual([]);
  const named = files.map((path) => readText(path) ?? '').join('\n');
  expect(named.match(/kubectl[^`\n]* (?:\w+\.keyframe\.dev,?)+/g)?.length).toBeGreaterThan(180);
});

test('the section that may show short names shows one', () => {
  const [section = ''] = allowed.section.exec(readText(allowed.path) ?? '') ?? [];
  expect(faultsOf(allowed.path, section)).not.toEqual([]);
});

describe('what would be found', () => {
  test.each([
    ['the plural', 'kubectl get secretsyncs -A', 'secretsyncs'],
    ['the singular', 'kubectl -n shop describe secretsync web', 'secretsync'],
    ['the kind', 'kubectl get SecretSync', 'SecretSync'],
    ['the short name', '# Look:   kubectl get ksync -A', 'ksync'],
    ['the singular with the group', 'kubectl get secretsync.keyframe.dev', 'secretsync.keyframe.dev'],
    ['another group', 'kubectl get secretsyncs.example.com', 'secretsyncs.example.com'],
    ['a kind before a name', 'npm run -s kubectl -- wait --for=condition=Ready secretsync/web', 'secretsync'],
    ['a kind in the next line', 'kubectl patch --type merge \\\n  secretsync/web', 'secretsync'],
    ['the second of two kinds', 'run `kubectl get secretsyncs.keyframe.dev,secretsync`', 'secretsync'],
  ])('%s', (_case, text, name) => {
    expect(faultsOf('a.md', text)).toEqual([`a.md:1: write secretsyncs.keyframe.dev, not ${name}`]);
  });

  test.each([
    ['prose', '`kubectl apply` of the SecretSyncs\nkubectl get pods (of a SecretSync, {"kinds":["SecretSync"]})'],
    ['Secrets', 'kubectl annotate secret web -n shop keyframe.dev/allow-adoption=web'],
    ['labels and files', 'kubectl get -f crds/secretsyncs.yaml -l keyframe.dev/secretsync'],
    ['definitions', 'kubectl get crd/secretsyncs.keyframe.dev'],
    ['all kinds', 'kubectl get keyframe -A'],
  ])('%s would not', (_case, text) => {
    expect(faultsOf('a.md', text)).toEqual([]);
  });
});
