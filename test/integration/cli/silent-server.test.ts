import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { CliRunner } from '../../support/cli/cli.ts';

const sockets = new Set<Socket>();
/** Accepts connections and never answers. */
const silent = createServer((socket) => void sockets.add(socket.on('error', () => undefined)));
const plain = createHttpServer((_, response) => void response.end());
let cli: CliRunner;
let address: string;

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

beforeAll(async () => {
  cli = await CliRunner.create({ token: { reveal: () => 'kf_pat_of_a_test' } });
  address = `http://${await listen(silent)}`;
});

afterAll(() => {
  for (const socket of sockets) socket.destroy();
  silent.close();
  plain.close();
  cli.remove();
});

const scope = ['-o', 'acme', '-p', 'shop', '-e', 'production'];

describe('a server that accepts connections and never answers', () => {
  test('is waited for 10 s by a read, and after 3 s the command says so', async () => {
    const began = performance.now();
    const running = cli.start(['list', ...scope], { env: { KEYFRAME_URL: address } });
    await running.shows(`Waiting for ${address} …`);
    const noted = performance.now() - began;
    const { code, stderr } = await running.ended;
    const ms = performance.now() - began;
    expect(code).toBe(1);
    expect(stderr).toContain(`error: ${address} has not answered for 10 seconds`);
    expect(stderr).toContain('--timeout <seconds>');
    expect(noted).toBeGreaterThan(2_900);
    expect(ms).toBeGreaterThan(9_900);
    expect(ms - noted).toBeGreaterThan(5_000);
  });

  test.each([['list'], ['set', 'A=1'], ['whoami']])('is waited for as long as --timeout says: %j', async (...words) => {
    const { code, stderr } = await cli.run([...words, ...(words[0] === 'whoami' ? [] : scope), '--timeout', '1'], {
      env: { KEYFRAME_URL: address },
    });
    expect(code).toBe(1);
    expect(stderr).toContain('has not answered for 1 second\n');
    expect(stderr.includes('may have been made')).toBe(words[0] === 'set');
  });

  test('is not waited for by login either', async () => {
    const line = ['login', '--token', 'kf_pat_x', '--timeout', '1', '--url', address];
    expect(await cli.run(line)).toMatchObject({ code: 1, stderr: expect.stringContaining('has not answered') });
  });
});

test('an https address of a server that uses http is named as what it is', async () => {
  const host = await listen(plain);
  const { code, stderr } = await cli.run(['whoami'], { env: { KEYFRAME_URL: `https://${host}` } });
  expect(code).toBe(1);
  expect(stderr).toContain(`https://${host} cannot be reached: it does not use https`);
  expect(stderr).toContain(`--url http://${host}`);
  expect(stderr).not.toContain('EPROTO');
});
