import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { checkoutDirectory } from '../../../tools/checkout.ts';
import { controllerFaults } from './controller-rules.ts';
import { importCycles } from './import-cycles.ts';
import { importFaults, importsOf } from './import-rules.ts';

const manifest = JSON.parse(readFileSync(join(checkoutDirectory, 'package.json'), 'utf8')) as {
  dependencies: Record<string, string>;
};
const dependencies = new Set(Object.keys(manifest.dependencies));
const sources = readdirSync(join(checkoutDirectory, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((path) => /\.tsx?$/.test(path))
  .map((path) => `src/${path.replaceAll('\\', '/')}`);

describe('every file under src', () => {
  test('is read, in all its rooms', () => {
    const rooms = new Set(sources.map((path) => path.split('/')[1]));
    expect([...rooms]).toEqual(
      expect.arrayContaining(['http', 'services', 'store', 'crypto', 'domain', 'wire', 'kube', 'lib']),
    );
  });

  test('keeps the import rules', () => {
    const read = (path: string): string => readFileSync(join(checkoutDirectory, path), 'utf8');
    expect(sources.flatMap((path) => importFaults(path, read(path), dependencies))).toEqual([]);
  });
});

describe('the files of the controller', () => {
  const isController = (path: string): boolean => path.startsWith('src/controller/');
  const controller = new Map(
    sources.filter(isController).map((path) => [path, readFileSync(join(checkoutDirectory, path), 'utf8')]),
  );

  test('keep the borders between its parts', () => {
    expect([...controller].flatMap(([path, source]) => controllerFaults(path, source))).toEqual([]);
  });

  test.each([
    ['the frame imports a kind', 'frame/a.ts', '../kinds/rollout/b.ts'],
    ['the names import the frame', 'names.ts', './frame/b.ts'],
    ['a kind imports one that it does not name', 'kinds/service-token/a.ts', '../secret-snapshot/b.ts'],
    ['the model of SecretSyncs imports a part above it', 'kinds/secret-sync/model.ts', './judge/b.ts'],
    ['the target imports its judge', 'kinds/secret-sync/target/a.ts', '../judge/b.ts'],
    ['the judge imports what reads', 'kinds/secret-sync/judge/a.ts', '../read/b.ts'],
    ['a part imports the reconciler', 'kinds/secret-sync/data/a.ts', '../reconcile.ts'],
    ['rollouts import SecretSyncs', 'kinds/rollout/a.ts', '../secret-sync/model.ts'],
    ['a kind imports what puts the kinds together', 'kinds/service-token/a.ts', '../../index.ts'],
  ])('would be refused if %s', (_name, path, specifier) => {
    const source = `import type { B } from '${specifier}';`;
    expect(controllerFaults(`src/controller/${path}`, source)).toHaveLength(1);
  });

  test('would be refused in a folder that has no rules', () => {
    expect(() => controllerFaults('src/controller/helpers/a.ts', '')).toThrow('is in no part of the controller');
  });

  test('import each other in no cycle, types included', () => {
    expect(controller.size).toBeGreaterThan(100);
    expect(importCycles(controller)).toEqual([]);
  });

  test.each([
    ['of two files', { 'a/one.ts': `import { b } from './two.ts';`, 'a/two.ts': `import { b } from './one.ts';` }],
    [
      'of types alone, over three files',
      {
        'a/one.ts': `import type { B } from '../b/two.ts';`,
        'b/two.ts': `import type { B } from './three.ts';`,
        'b/three.ts': `import { type B } from '../a/one.ts';`,
      },
    ],
    ['of a file with itself', { 'a/one.ts': `export type { B } from './one.ts';` }],
  ])('would be refused for a cycle %s', (_name, files) => {
    expect(importCycles(new Map(Object.entries(files)))).toEqual([Object.keys(files).sort()]);
  });

  test('may import one file by two ways', () => {
    const files = {
      'one.ts': `import { b } from './two.ts'; import { c } from './three.ts';`,
      'two.ts': `import { c } from './three.ts';`,
      'three.ts': 'export const c = 1;',
    };
    expect(importCycles(new Map(Object.entries(files)))).toEqual([]);
  });
});

describe('a planted import is found:', () => {
  test.each([
    ['http reaches past the services into the store', 'src/http/a.ts', `import { b } from '../store/b.ts';`],
    ['http reaches past the services into crypto', 'src/http/a.ts', `import { b } from '../crypto/b.ts';`],
    ['http imports the controller', 'src/http/routes/a.ts', `import { b } from '../../controller/b.ts';`],
    ['http imports kube', 'src/http/a.ts', `import { b } from '../kube/b.ts';`],
    ['the controller imports a role', 'src/controller/a.ts', `import { b } from '../roles/b.ts';`],
    ['the controller imports http', 'src/controller/a.ts', `import { b } from '../http/b.ts';`],
    ['the controller imports more of crypto than types', 'src/controller/a.ts', `import { b } from '../crypto/b.ts';`],
    ['the controller imports the store', 'src/controller/sync/a.ts', `import { b } from '../../store/b.ts';`],
    ['services import http', 'src/services/a.ts', `import { b } from '../http/b.ts';`],
    ['services import wire', 'src/services/a.ts', `import { b } from '../wire/b.ts';`],
    ['services import kube', 'src/services/a.ts', `import { b } from '../kube/b.ts';`],
    ['store imports services', 'src/store/a.ts', `import { b } from '../services/b.ts';`],
    ['store imports more of crypto than types', 'src/store/a.ts', `import { b } from '../crypto/b.ts';`],
    ['crypto imports store', 'src/crypto/a.ts', `import type { B } from '../store/b.ts';`],
    ['crypto imports services', 'src/crypto/a.ts', `import { b } from '../services/b.ts';`],
    ['identity imports store', 'src/identity/a.ts', `import { b } from '../store/b.ts';`],
    ['wire imports services', 'src/wire/a.ts', `import { b } from '../services/b.ts';`],
    ['domain imports wire', 'src/domain/a.ts', `import { b } from '../wire/b.ts';`],
    ['kube imports domain', 'src/kube/a.ts', `import { b } from '../domain/b.ts';`],
    ['lib imports domain', 'src/lib/a.ts', `import { b } from '../domain/b.ts';`],
    ['cli imports services', 'src/cli/a.ts', `import { b } from '../services/b.ts';`],
    ['the client imports the command', 'src/client/a.ts', `import { b } from '../cli/b.ts';`],
    ['the smoke test imports the command', 'src/roles/smoke-test/a.ts', `import { b } from '../../cli/b.ts';`],
    ['dashboard imports http', 'src/dashboard/a.ts', `import { b } from '../http/b.ts';`],
    ['a room imports main', 'src/http/a.ts', `import { b } from '../main.ts';`],
    ['a room imports compose', 'src/services/a.ts', `import { b } from '../compose.ts';`],
    ['a room imports the configuration', 'src/http/a.ts', `import type { B } from '../config/b.ts';`],
    ['a room imports what compose is made of', 'src/services/a.ts', `import { b } from '../compose/b.ts';`],
    ['the configuration imports a role', 'src/config/a.ts', `import type { B } from '../roles/b.ts';`],
    ['compose imports a role', 'src/compose.ts', `import { b } from './roles/b.ts';`],
    ['a part of compose imports main', 'src/compose/a.ts', `import { b } from '../main.ts';`],
    ['a role imports main', 'src/roles/a.ts', `import { b } from '../main.ts';`],
    ['a role imports http', 'src/roles/init/a.ts', `import { b } from '../../http/b.ts';`],
    ['the configuration imports the store', 'src/config/a.ts', `import { b } from '../store/b.ts';`],
    [
      'a service makes proofs of access itself',
      'src/services/a.ts',
      `import { EnvironmentHandle } from './access/handles.ts';`,
    ],
    ['a service derives a proof of access itself', 'src/services/a.ts', `import { Handle } from './access/handle.ts';`],
    [
      'http imports the door of SecretSyncs',
      'src/http/a.ts',
      `import type { B } from '../services/access/keyless.ts';`,
    ],
    ['domain imports a module of Node', 'src/domain/a.ts', `import { b } from 'node:crypto';`],
    ['domain imports one under its old name', 'src/domain/a.ts', `import { b } from 'crypto';`],
    ['wire imports a module of Node', 'src/wire/a.ts', `import type { B } from 'node:http';`],
    ['production imports a test', 'src/http/a.ts', `import { b } from '../../test/support/b.ts';`],
    ['main imports a test', 'src/main.ts', `import { b } from '../test/support/b.ts';`],
    ['production imports a tool', 'src/http/a.ts', `import { b } from '../../tools/b.ts';`],
    ['production imports what is for development', 'src/crypto/a.ts', `import { gcm } from '@noble/ciphers/aes.js';`],
    ['Express outside http', 'src/services/a.ts', `import express from 'express';`],
    ["Express's types outside http", 'src/wire/a.ts', `import type { Request } from 'express';`],
    ['Express in main', 'src/main.ts', `import express from 'express';`],
    ['Prisma outside store', 'src/services/a.ts', `import { Prisma } from '@prisma/client';`],
    ["Prisma's adapter outside store", 'src/compose.ts', `import { PrismaPg } from '@prisma/adapter-pg';`],
    ['pg outside store', 'src/services/a.ts', `import pg from 'pg';`],
    ['client-node outside kube', 'src/http/a.ts', `import { KubeConfig } from '@kubernetes/client-node';`],
    ['client-node in the controller', 'src/controller/a.ts', `import { KubeConfig } from '@kubernetes/client-node';`],
    ['undici outside kube', 'src/controller/a.ts', `import { Agent } from 'undici';`],
    ['React outside dashboard', 'src/http/a.ts', `import { useState } from 'react';`],
    ['a re-export', 'src/http/a.ts', `export { b } from '../store/b.ts';`],
    ['a re-export of everything', 'src/http/a.ts', `export * from '../store/b.ts';`],
    ['a dynamic import', 'src/http/a.ts', `const b = await import('../store/b.ts');`],
    ['a dynamic import of a computed name', 'src/http/a.ts', 'export const b = (name: string) => import(name);'],
    [
      'a require',
      'src/http/a.ts',
      `declare const require: (name: string) => unknown; const b = require('../store/b.ts');`,
    ],
    ['an imported type', 'src/http/a.ts', `export type B = import('../store/b.ts').B;`],
    ['an import for its effects', 'src/http/a.ts', `import '../store/b.ts';`],
  ])('%s', (_name, path, source) => {
    expect(importFaults(path, source, new Set([...dependencies, 'react']))).toHaveLength(1);
  });
});

describe('a right import is let through:', () => {
  test.each([
    ['main imports any room', 'src/main.ts', `import { b } from './store/b.ts';`],
    [
      'the controller imports the door of SecretSyncs',
      'src/controller/a.ts',
      `import { B } from '../services/access/keyless.ts';`,
    ],
    ['http imports services', 'src/http/routes/a.ts', `import { b } from '../../services/b.ts';`],
    ['http imports a module of Node', 'src/http/a.ts', `import { b } from 'node:http';`],
    ['the port of the keyring is served by store', 'src/store/a.ts', `import type { B } from '../crypto/b.ts';`],
    [
      "client-node's types in the controller",
      'src/controller/a.ts',
      `import type { V1 } from '@kubernetes/client-node';`,
    ],
    ['an import that stands in a comment', 'src/http/a.ts', `// import { b } from '../store/b.ts';`],
    ['an import that stands in a string', 'src/http/a.ts', `export const b = "import { b } from '../store/b.ts'";`],
  ])('%s', (_name, path, source) => {
    expect(importFaults(path, source, dependencies)).toEqual([]);
  });
});

test.each(['src/utils/a.ts', 'src/helpers.ts'])('%s is in no room, and refused', (path) => {
  expect(() => importFaults(path, `import { b } from './b.ts';`, dependencies)).toThrow('is in no room');
});

test('a source that does not parse is refused', () => {
  expect(() => importsOf('src/http/a.ts', 'import {')).toThrow('does not parse');
});
