import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { KubeObject } from '../../../src/kube/client/objects.ts';
import { waitFor } from '../../support/fixtures/wait-for.ts';
import { ReflectorRig } from './reflector-rig.ts';
import { type Answer, endingWatch, json, list, object, status, watch } from './scripted-api.ts';

let rig: ReflectorRig;

beforeEach(async () => {
  rig = await ReflectorRig.open();
});

afterEach(() => rig.close());

async function expectHeard(...expected: string[]): Promise<void> {
  await waitFor(`the handler to hear ${expected.join(' ')}`, () => rig.heard.length >= expected.length);
  expect(rig.heard).toEqual(expected);
}

describe('the list', () => {
  test('is read page by page and reported before synced resolves', async () => {
    rig.api.onList(list('7', [object('a', '1'), object('b', '2')], 'next'), list('7', [object('c', '3')]));
    rig.api.onWatch(watch());
    const { synced } = rig.start({ limits: { pageSize: 2 } });
    await synced;
    expect(rig.heard).toEqual(['+a@1', '+b@2', '+c@3']);
    expect(rig.api.lists.map(({ query }) => [query.get('limit'), query.get('continue')])).toEqual([
      ['2', null],
      ['2', 'next'],
    ]);
    await waitFor('the watch', () => rig.api.watches[0]);
    expect(rig.api.watches[0]?.query.get('resourceVersion')).toBe('7');
  });

  test('of no items may lack the field, as a metadata-only one does', async () => {
    rig.api.onList(json({ metadata: { resourceVersion: '7' } }));
    rig.api.onWatch(watch());
    await rig.start().synced;
    expect(rig.heard).toEqual([]);
  });

  test('whose continuation expired is read again from its beginning', async () => {
    rig.api.onList(
      list('7', [object('a', '1')], 'next'),
      status(410, 'Expired'),
      list('9', [object('a', '8'), object('b', '2')]),
    );
    rig.api.onWatch(watch());
    await rig.start().synced;
    expect(rig.heard).toEqual(['+a@8', '+b@2']);
    expect(rig.failures).toEqual(['expired']);
  });

  test('asks for metadata alone where only that is wanted, and passes the selectors on', async () => {
    rig.api.onList(list('7', []));
    rig.api.onWatch(watch());
    const source = { metadataOnly: true, labelSelector: 'x=y', fieldSelector: 'metadata.name=a' };
    await rig.start({ source }).synced;
    await waitFor('the watch', () => rig.api.watches[0]);
    expect(rig.api.requests.map(({ accept }) => accept)).toEqual([
      'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1',
      'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1',
    ]);
    for (const { query } of rig.api.requests) {
      expect([query.get('labelSelector'), query.get('fieldSelector')]).toEqual(['x=y', 'metadata.name=a']);
    }
  });
});

describe('the watch', () => {
  test('reports what was added, changed and deleted, and keeps the copy in step', async () => {
    rig.api.onList(list('7', [object('a', '1')]));
    rig.api.onWatch(watch(['ADDED', object('b', '8')], ['MODIFIED', object('a', '9')], ['DELETED', object('a', '10')]));
    const { synced } = rig.start();
    await synced;
    await expectHeard('+a@1', '+b@8', '+a@9', '-a@10/uid-a');
    expect([...(rig.reflector.keys() ?? [])]).toEqual(['ns/b']);
    expect(rig.reflector.get('ns/b')?.metadata.resourceVersion).toBe('8');
  });

  test('asks for bookmarks and a time limit, and goes on from the last bookmark when it ends', async () => {
    rig.api.onList(list('7', []));
    rig.api.onWatch(endingWatch(['BOOKMARK', { metadata: { resourceVersion: '42' } }]), watch());
    rig.start({ limits: { watchSeconds: 100 } });
    await waitFor('the second watch', () => rig.api.watches[1]);
    expect(rig.api.watches[0]?.query.get('allowWatchBookmarks')).toBe('true');
    const seconds = Number(rig.api.watches[0]?.query.get('timeoutSeconds'));
    expect(seconds).toBeGreaterThanOrEqual(100);
    expect(seconds).toBeLessThanOrEqual(200);
    expect(rig.api.watches[1]?.query.get('resourceVersion')).toBe('42');
    expect(rig.heard).toEqual([]);
    expect(rig.api.lists).toHaveLength(1);
    expect(rig.failures).toEqual([]);
  });

  test('strips managedFields from what is listed and watched', async () => {
    const managed = { managedFields: [{ manager: 'kubectl' }] };
    rig.api.onList(list('7', [object('a', '1', managed)]));
    rig.api.onWatch(watch(['ADDED', object('b', '8', managed)]));
    rig.start();
    await expectHeard('+a@1', '+b@8');
    for (const key of ['ns/a', 'ns/b']) expect(rig.reflector.get(key)?.metadata).not.toHaveProperty('managedFields');
  });

  test('reports a deletion first if an object of the same name has another uid', async () => {
    rig.api.onList(list('7', [object('a', '1')]));
    rig.api.onWatch(watch(['ADDED', object('a', '9', { uid: 'another' })]));
    rig.start();
    await expectHeard('+a@1', '-a@1/uid-a', '+a@9');
  });

  test('reads an event that arrives in pieces, cut within a character', async () => {
    rig.api.onList(list('7', []));
    const line = Buffer.from(
      `${JSON.stringify({ type: 'ADDED', object: object('a', '8', { labels: { l: 'ä' } }) })}\n`,
    );
    const cut = line.indexOf(0xc3) + 1;
    const inPieces: Answer = (response) => {
      response.writeHead(200);
      response.write(line.subarray(0, cut));
      setTimeout(() => response.write(line.subarray(cut)), 20);
    };
    rig.api.onWatch(inPieces);
    rig.start();
    await expectHeard('+a@8');
    expect(rig.reflector.get('ns/a')?.metadata.labels).toEqual({ l: 'ä' });
  });

  test('goes on when a handler throws', async () => {
    rig.api.onList(list('7', [object('a', '1')]));
    rig.api.onWatch(watch(['ADDED', object('b', '8')]));
    const onUpsert = ({ metadata }: KubeObject): void => {
      if (metadata.name === 'a') throw new Error('value of a secret');
    };
    await rig.start({ onUpsert }).synced;
    await expectHeard('+a@1', '+b@8');
    expect(rig.logged.filter(({ level }) => level === 'error').map(({ msg }) => msg)).toEqual([
      'a handler of watch events failed',
    ]);
    expect(JSON.stringify(rig.logged)).not.toContain('value of a secret');
    expect(rig.failures).toEqual([]);
  });
});

test('after a stop nothing more is reported, and the watch is cut', async () => {
  rig.api.onList(list('7', []));
  let response: Parameters<Answer>[0] | undefined;
  let isCut = false;
  rig.api.onWatch((opened) => {
    response = opened;
    opened.writeHead(200);
    opened.flushHeaders();
    opened.on('close', () => {
      isCut = true;
    });
  });
  await rig.start().synced;
  await waitFor('the watch', () => response);
  await rig.reflector.stop();
  await waitFor('the cut', () => isCut);
  expect(rig.heard).toEqual([]);
  expect(rig.api.watches).toHaveLength(1);
  expect(rig.failures).toEqual([]);
});
