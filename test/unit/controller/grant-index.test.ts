import { beforeEach, describe, expect, test } from '@jest/globals';
import type { NamespaceState } from '../../../src/controller/frame/namespaces.ts';
import type { AccessGrant } from '../../../src/controller/generated/access-grant.ts';
import { GrantIndex } from '../../../src/controller/kinds/access-grant/grant-index.ts';

/** What all AccessGrants allow a namespace, as they come, change and go. */

type NamespaceListener = (before: NamespaceState | undefined, after: NamespaceState | undefined) => void;

let namespaces: Map<string, NamespaceState>;
let changed: NamespaceListener;
let reached: string[];
let heard: string[][];
let index: GrantIndex;

beforeEach(() => {
  namespaces = new Map();
  reached = [];
  heard = [];
  index = new GrantIndex({
    namespaces: {
      find: (name) => namespaces.get(name),
      all: () => namespaces.values(),
      onChange: (listener) => void (changed = listener),
      get watch(): never {
        throw new Error('no test waits for a watch');
      },
    },
    onReach: (name) => void reached.push(name),
  });
  index.onChange((names) => void heard.push([...names].toSorted()));
});

/** Sets the labels of a namespace; undefined deletes it. */
function setNamespace(name: string, labels: Record<string, string> | undefined): void {
  const before = namespaces.get(name);
  const after = labels === undefined ? undefined : { name, labels, isEnding: false };
  if (after === undefined) namespaces.delete(name);
  else namespaces.set(name, after);
  changed(before, after);
}

type Spec = Partial<AccessGrant['spec']>;

function grant(spec: Spec, metadata: Partial<AccessGrant['metadata']> = {}): AccessGrant {
  const rule = { organization: 'acme', project: 'web', environments: ['dev'] } as const;
  return {
    apiVersion: 'keyframe.dev/v1alpha1',
    kind: 'AccessGrant',
    metadata: { name: 'team', uid: 'uid-1', generation: 1, ...metadata },
    spec: { rules: [{ ...rule, permission: 'Read', kinds: ['SecretSync'] }], ...spec },
  } as AccessGrant;
}

const allows = (namespace: string): boolean => index.rulesFor(namespace).length > 0;

describe('a grant by names', () => {
  test('allows its namespaces, and no other, until it is gone', () => {
    index.grantSeen(grant({ namespaces: ['a', 'b'] }));
    expect([allows('a'), allows('b'), allows('c')]).toEqual([true, true, false]);
    index.grantGone('team');
    expect([allows('a'), allows('b')]).toEqual([false, false]);
    expect(heard).toEqual([
      ['a', 'b'],
      ['a', 'b'],
    ]);
  });

  test('allows nothing from the moment that it is being deleted, although a finalizer holds it', () => {
    index.grantSeen(grant({ namespaces: ['a'] }));
    expect(allows('a')).toBe(true);
    index.grantSeen(grant({ namespaces: ['a'] }, { deletionTimestamp: '2030-01-01T00:00:00Z', finalizers: ['x/y'] }));
    expect(allows('a')).toBe(false);
    expect(heard).toEqual([['a'], ['a']]);
  });

  test('of a new generation replaces the former one, for the namespaces of both', () => {
    index.grantSeen(grant({ namespaces: ['a'] }));
    expect(allows('a')).toBe(true);
    index.grantSeen(grant({ namespaces: ['b'] }, { generation: 2 }));
    expect([allows('a'), allows('b')]).toEqual([false, true]);
    expect(heard.at(-1)).toEqual(['a', 'b']);
  });

  test('of the same name that was created again counts, although its generation is the same', () => {
    index.grantSeen(grant({ namespaces: ['a'] }));
    index.grantSeen(grant({ namespaces: ['b'] }, { uid: 'uid-2' }));
    expect([allows('a'), allows('b')]).toEqual([false, true]);
  });

  test('that changed only in its status is no news', () => {
    index.grantSeen(grant({ namespaces: ['a'] }));
    index.grantSeen(grant({ namespaces: ['a'] }, { resourceVersion: '2' }));
    expect(heard).toEqual([['a']]);
  });
});

describe('a grant by labels', () => {
  test('follows the labels of namespaces', () => {
    setNamespace('a', { team: 'x' });
    setNamespace('b', {});
    index.grantSeen(grant({ namespaceSelector: { matchLabels: { team: 'x' } } }));
    expect([allows('a'), allows('b')]).toEqual([true, false]);
    setNamespace('a', {});
    setNamespace('b', { team: 'x' });
    expect([allows('a'), allows('b')]).toEqual([false, true]);
    expect(heard).toEqual([['a'], ['a'], ['b']]);
    expect(reached).toEqual(['team', 'team']);
  });

  test('allows nothing in a namespace that is gone', () => {
    setNamespace('a', { team: 'x' });
    index.grantSeen(grant({ namespaceSelector: { matchLabels: { team: 'x' } } }));
    expect(allows('a')).toBe(true);
    setNamespace('a', undefined);
    expect(allows('a')).toBe(false);
    expect(index.namespacesFor(grant({ namespaceSelector: { matchLabels: { team: 'x' } } }).spec)).toEqual([]);
  });
});
