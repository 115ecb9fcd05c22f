import { expect, test } from '@jest/globals';
import { readText, textFiles } from './words.ts';

/**
 * Which public names the product, its chart, pages and tools contain. A name that has no owner yet belongs to the first person
 * who registers it, who would then serve images or pages to our users.
 */

// Names that are reserved, so that they have no owner: RFC 2606, RFC 6761, and the private-use domain of ICANN.
const reserved = /(?:^|\.)(?:example(?:\.(?:com|net|org))?|test|invalid|localhost|internal)$/;
// A Service, a socket, a machine of the reader's network, or a placeholder: names without a public domain.
const local = /^[^.]*$|\.(?:svc|keyframe|sock)$|^[\d.]+$/;

/** Projects and standards to which pages and tools refer, each with its known owner. */
const known: readonly string[] = [
  'accounts.google.com',
  'cloudnative-pg.io',
  'coredns.io',
  'etcd.io',
  'github.com/kubernetes-sigs',
  'gitlab.com',
  'go.dev',
  'jestjs.io',
  'jqlang.org',
  'json-schema.org',
  'keepachangelog.com',
  'kind.sigs.k8s.io',
  'kubernetes.io',
  'login.microsoftonline.com',
  'nodejs.org',
  'pypi.org',
  'schemathesis.readthedocs.io',
  'semver.org',
  'token.actions.githubusercontent.com',
  'www.apache.org',
  'www.npmjs.com',
  'www.postgresql.org',
  'www.w3.org',
  // Images that Docker and the projects themselves publish.
  'docker.io/library',
  'gcr.io/distroless',
  'hub.docker.com',
];

const places = [
  // Of any scheme, behind a user and a password.
  /[a-z][a-z0-9+]*:\/\/(?:[^\s/@'"`<>]*@)?([A-Za-z0-9.-]+(?::\d+)?(?:\/[a-z0-9._-]+)?)/g,
  // E-mail addresses.
  /[\w.+-]+@([a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]+)\b/g,
  // Images in a registry.
  /(?<![\w.:/@-])((?:[a-z0-9-]+\.)*(?:docker|ghcr|gcr|quay|registry|mcr)[a-z0-9-]*(?:\.[a-z0-9-]+)*\.[a-z]+(?::\d+)?\/[a-z0-9._-]+)/g,
];

/** Names in a text with no known owner. */
function foreignNames(text: string): string[] {
  const found = places.flatMap((place) => [...text.matchAll(place)].map(([, name = '']) => name));
  return found.filter((name) => {
    const host = name.replace(/[:/].*$/, '').replace(/\.$/, '');
    const isKnown = known.some((owned) => host === owned || name === owned || name.startsWith(`${owned}/`));
    return !(isKnown || reserved.test(host) || local.test(host));
  });
}

const folders = ['charts/', 'crds/', 'docs/', 'examples/', 'src/', 'tools/'];
const files = textFiles().filter(
  (path) =>
    (folders.some((folder) => path.startsWith(folder)) || !path.includes('/')) && !/\.(?:sum|mod)$|lock/.test(path),
);

test('no page, value, default or message has a public name that another person could register', () => {
  expect(files.length).toBeGreaterThan(500);
  const foreign = files.flatMap((path) => foreignNames(readText(path) ?? '').map((name) => `${path}: ${name}`));
  expect(foreign).toEqual([]);
});

test.each([
  ['a repository', 'repository: ghcr.io/keyframe-dev/keyframe'],
  ['an image', 'image: quay.io/keyframe/server:1'],
  ['an image of another account of a known registry', 'FROM docker.io/keyframe/base:1'],
  ['a page', 'See https://docs.keyframe.io/install.'],
  ['a repository of charts', 'helm repo add kf oci://charts.keyframe.sh'],
  ['an account of GitHub', 'https://github.com/keyframe-secrets/keyframe'],
  ['an e-mail address', 'such as ann@your-company.com, or'],
  ['a database', 'postgresql://keyframe:p%40ss@db.nowhere.com:5432/keyframe'],
])('%s would be found', (_case, text) => {
  expect(foreignNames(text)).not.toEqual([]);
});

test.each([
  'https://keyframe.example.com/x',
  'ann@example.com',
  'docker://registry.example.com:5000/platform/keyframe:0.9.0',
  'docker.io/library/postgres:18',
  'http://keyframe.keyframe.svc:80',
  'http://127.0.0.1:8700/healthz',
  'postgresql://keyframe:password@db.internal:5432/keyframe',
])('%s is left alone', (text) => {
  expect(foreignNames(text)).toEqual([]);
});
