import { beforeEach, describe, expect, test } from '@jest/globals';
import { Expectations } from '../../../src/controller/frame/expectations.ts';
import type { KubeObject } from '../../../src/kube/client/objects.ts';

let writes: Expectations<KubeObject>;

beforeEach(() => {
  writes = new Expectations();
});

function at(resourceVersion: string, uid = 'u'): KubeObject {
  return { metadata: { name: 'app', namespace: 'ns', uid, resourceVersion } };
}

describe('what is current', () => {
  test('is what the watch shows, where nothing was written', () => {
    expect(writes.current(at('1'))).toEqual(at('1'));
    expect(writes.current(undefined)).toBeUndefined();
  });

  test('is our own write as long as the watch shows what it replaced, or nothing yet', () => {
    writes.record('1', at('2'));
    expect(writes.current(at('1'))).toEqual(at('2'));
    expect(writes.current(undefined)).toEqual(at('2'));
  });

  test('is the last of several writes that the watch is behind', () => {
    writes.record('1', at('2'));
    writes.record('2', at('3'));
    expect(writes.current(at('1'))).toEqual(at('3'));
    expect(writes.current(at('2'))).toEqual(at('3'));
  });

  test('is the later of two writes if the answer to the earlier one comes last', () => {
    // The watch showed the earlier write before its answer came.
    writes.observe('2');
    writes.record('2', at('3'));
    writes.record('1', at('2'));
    expect(writes.current(at('2'))).toEqual(at('3'));
    expect(writes.observe('3')).toBe(false);
    expect(writes.current(at('3'))).toEqual(at('3'));
    expect(writes.isAhead).toBe(false);
  });

  test("is someone else's version where the watch shows one", () => {
    writes.record('1', at('2'));
    expect(writes.current(at('9'))).toEqual(at('9'));
  });

  test('is nothing where the watch showed the end of what we wrote', () => {
    writes.record('1', at('2'));
    expect(writes.observeGone('u')).toBe(true);
    expect(writes.current(undefined)).toBeUndefined();
  });
});

describe('news', () => {
  test('is every version of someone else, once', () => {
    expect(writes.observe(at('1').metadata.resourceVersion)).toBe(true);
    expect(writes.observe(at('1').metadata.resourceVersion)).toBe(false);
    expect(writes.observe(at('2').metadata.resourceVersion)).toBe(true);
  });

  test('is neither the echo of our write nor what it replaced', () => {
    writes.record('1', at('2'));
    expect(writes.observe(at('1').metadata.resourceVersion)).toBe(false);
    expect(writes.observe(at('2').metadata.resourceVersion)).toBe(false);
    expect(writes.observe(at('2').metadata.resourceVersion)).toBe(false);
  });

  test('is none of several own writes, whose echoes come late', () => {
    writes.record('1', at('2'));
    writes.record('2', at('3'));
    expect(['1', '2', '3'].map((version) => writes.observe(at(version).metadata.resourceVersion))).toEqual([
      false,
      false,
      false,
    ]);
  });

  test('is an old version that comes back after the watch had caught up, as from a restored backup', () => {
    writes.record('1', at('2'));
    writes.observe(at('2').metadata.resourceVersion);
    expect(writes.observe(at('1').metadata.resourceVersion)).toBe(true);
    expect(writes.current(at('1'))).toEqual(at('1'));
  });

  test('is a version in between that we did not write', () => {
    writes.record('1', at('5'));
    expect(writes.observe(at('7').metadata.resourceVersion)).toBe(true);
    expect(writes.current(at('7'))).toEqual(at('7'));
  });

  test('is not the end of the object that we ourselves replaced by one of another uid', () => {
    writes.record('1', at('5', 'new'));
    expect(writes.observeGone('u')).toBe(false);
    expect(writes.current(undefined)).toEqual(at('5', 'new'));
    expect(writes.observeGone('new')).toBe(true);
  });

  test('is an end whose uid is not known', () => {
    writes.record('1', at('5'));
    expect(writes.observeGone(undefined)).toBe(true);
  });
});

test('a write that changed nothing leaves no trace, because no event reports it', () => {
  writes.record('2', at('2'));
  expect(writes.current(at('2'))).toEqual(at('2'));
  expect(writes.observe(at('2').metadata.resourceVersion)).toBe(true);
});

test('a watch that never catches up makes no list without end', () => {
  for (let version = 1; version <= 1000; version += 1) writes.record(String(version), at(String(version + 1)));
  expect(writes.observe(at('1000').metadata.resourceVersion)).toBe(false);
  expect(writes.observe(at('1').metadata.resourceVersion)).toBe(true);
});
