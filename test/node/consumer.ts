import type { NodeSite } from '../support/node/node-site.ts';

/** What a pod of the application knows of its Secret. */
export interface Consumed {
  readonly pod: string;
  /** Its whole environment. */
  readonly variables: Readonly<Record<string, string>>;
  /** Of the Secret's volume, by name. */
  readonly files: Readonly<Record<string, string>>;
}

const script = `const fs = require('node:fs');
const names = () => fs.readdirSync('/etc/secret').filter((name) => !name.startsWith('..'));
const files = () => Object.fromEntries(names().map((name) => [name, fs.readFileSync('/etc/secret/' + name, 'utf8')]));
const answer = () => JSON.stringify({ pod: require('node:os').hostname(), variables: process.env, files: files() });
require('node:http').createServer((request, response) => response.end(answer())).listen(8080);`;

/** An application of one pod that has a Secret as variables and as files, and reports what it has. */
export class Consumer {
  readonly #url: string;

  private constructor(url: string) {
    this.#url = url;
  }

  /** Makes the Deployment and its Service, and waits until they answer. The Secret has to be there. */
  static async deploy(site: NodeSite, namespace: string, { name, secret }: ConsumerOptions): Promise<Consumer> {
    await site.deploy(namespace, { name, replicas: 1, script, port: 8080, secretEnv: secret, secretFiles: secret });
    return new Consumer(await site.expose(namespace, name));
  }

  async look(): Promise<Consumed> {
    const response = await fetch(this.#url, { headers: { connection: 'close' }, signal: AbortSignal.timeout(5_000) });
    return (await response.json()) as Consumed;
  }
}

interface ConsumerOptions {
  readonly name: string;
  readonly secret: string;
}
