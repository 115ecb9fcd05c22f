import { afterAll, describe, expect, test } from '@jest/globals';
import { nodeName } from '../../tools/devcluster/cluster/node/node-users.ts';
import { NodeSite } from '../support/node/node-site.ts';
import { podTemplate } from '../support/node/pod.ts';
import { startLoad, startLoadInPod } from './steady-load.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

const resources = new AsyncDisposableStack();
const site = new NodeSite(resources);

afterAll(() => resources.disposeAsync());

/** Answers every request with the name of its pod. */
const nameServer = `require('node:http')
  .createServer((request, response) => response.end(require('node:os').hostname()))
  .listen(8080)`;

/** Refuses clients without the right token, and reports at /count how many requests of pods it has answered. */
const fussyServer = `let count = 0;
require('node:http').createServer(({ url, headers }, response) => {
  if (url === '/count') return response.end(String(count));
  if (headers.host === 'web') count += 1;
  response.statusCode = headers.authorization === 'Bearer bad' ? 401 : 200;
  response.end();
}).listen(8080)`;

/** The answers to so many requests, each over a connection of its own. */
const askMany = (url: string, count: number): string => `
  const ask = () => new Promise((resolve, reject) => {
    require('node:http').get('${url}', { agent: false }, async (response) => resolve(await response.setEncoding('utf8').reduce((all, part) => all + part, '')))
      .on('error', reject);
  });
  Promise.all(Array.from({ length: ${count} }, ask)).then((names) => console.log(JSON.stringify(names)))`;

describe('The node', () => {
  test('is Ready, and runs the release of Kubernetes that the control plane is of', async () => {
    const table = await site.kubectl(['get', 'nodes', '--no-headers']);
    expect(table.trim().split('\n')).toHaveLength(1);
    const [name, status, , , version] = table.trim().split(/\s+/);
    expect([name, status]).toEqual([nodeName, 'Ready']);
    const server = await site.kube.json<{ gitVersion: string }>({ path: '/version' });
    expect(version).toBe(server.gitVersion);
  });

  test('runs pods whose log can be read and in which commands can be run', async () => {
    const namespace = await site.makeNamespace();
    const script = `console.log('hello from the pod'); setInterval(() => {}, 1e9)`;
    await site.runPod(namespace, { name: 'talker', script, env: { GREETING: 'good morning' } });
    await waitFor('the log', async () => (await site.logs(namespace, 'pod/talker')) === 'hello from the pod\n');
    const printed = await site.exec(namespace, 'pod/talker', ['node', '-p', 'process.env.GREETING + process.getuid()']);
    expect(printed).toBe('good morning65532\n');
  });

  test('resolves the name of a Service in a pod, short and whole, and no name of elsewhere', async () => {
    const namespace = await site.makeNamespace();
    await site.deploy(namespace, { name: 'web', replicas: 1, script: nameServer, port: 8080 });
    const address = new URL(await site.expose(namespace, 'web')).hostname;
    const lookUp = (name: string): Promise<string> =>
      site.exec(namespace, 'deployment/web', [
        'node',
        '-e',
        `require('node:dns').lookup('${name}', (error, address) => console.log(error?.code ?? address))`,
      ]);
    expect(await lookUp('web')).toBe(`${address}\n`);
    expect(await lookUp(`web.${namespace}.svc.cluster.local`)).toBe(`${address}\n`);
    expect(await lookUp(`nowhere.${namespace}.svc.cluster.local`)).toBe('ENOTFOUND\n');
    // CoreDNS says that it is not to be asked, which the C library takes for a trouble that may pass.
    expect(await lookUp('example.com')).toBe('EAI_AGAIN\n');
  });

  test('balances a Service over its pods, for pods and for this machine', async () => {
    const namespace = await site.makeNamespace();
    await site.deploy(namespace, { name: 'web', replicas: 2, script: nameServer, port: 8080 });
    const url = await site.expose(namespace, 'web');
    const pods = (await site.kubectl(['-n', namespace, 'get', 'pods', '-l', 'app=web', '-o', 'name']))
      .trim()
      .split('\n')
      .map((name) => name.replace('pod/', ''));
    expect(pods).toHaveLength(2);
    // That all of 40 go to one of two by chance happens once in 2^39 times.
    const inside = await site.exec(namespace, 'deployment/web', ['node', '-e', askMany('http://web', 40)]);
    expect(new Set(JSON.parse(inside) as string[])).toEqual(new Set(pods));
    const outside = await Promise.all(
      Array.from({ length: 40 }, async () => {
        const response = await fetch(url, { headers: { connection: 'close' } });
        return await response.text();
      }),
    );
    expect(new Set(outside)).toEqual(new Set(pods));
  });

  test('answers a steady load from this machine and from a pod, and a request that fails is counted', async () => {
    const namespace = await site.makeNamespace();
    await site.deploy(namespace, { name: 'web', replicas: 1, script: fussyServer, port: 8080 });
    const url = await site.expose(namespace, 'web');
    const good = startLoad(resources, { url, token: 'good' });
    const bad = startLoad(resources, { url, token: 'bad', clients: 1 });
    const inside = await startLoadInPod(site, namespace, { url: 'http://web', token: 'good' });
    await waitFor('some requests of the pod', async () => Number(await (await fetch(`${url}/count`)).text()) > 50);
    for (const load of [good, inside]) {
      const { requests, failures, slowestMs } = await load.stop();
      expect(requests).toBeGreaterThan(10);
      expect(failures).toEqual([]);
      expect(slowestMs).toBeGreaterThan(0);
    }
    const { requests, failures } = await bad.stop();
    expect(failures).toHaveLength(requests);
    expect(failures[1]).toMatchObject({ what: '401', onKeptConnection: true });
  });

  test('refuses a privileged pod in a namespace that enforces «restricted», and takes it elsewhere', async () => {
    const { metadata, spec } = podTemplate({ name: 'mighty', image: site.images.app, script: '' });
    const containers = [{ name: 'main', image: site.images.app, securityContext: { privileged: true } }];
    const answerIn = async (namespace: string): Promise<{ status: number; body: unknown }> =>
      await site.kube.send({
        method: 'POST',
        path: `/api/v1/namespaces/${namespace}/pods?dryRun=All`,
        body: {
          apiVersion: 'v1',
          kind: 'Pod',
          metadata: { ...metadata, name: 'mighty' },
          spec: { ...spec, containers },
        },
      });
    const refused = await answerIn(await site.makeNamespace('restricted'));
    expect(refused).toMatchObject({ status: 403, body: { message: expect.stringMatching(/restricted.*privileged/) } });
    expect(await answerIn(await site.makeNamespace('privileged'))).toMatchObject({ status: 201 });
  });
});
