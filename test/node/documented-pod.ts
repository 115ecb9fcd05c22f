import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CliRunner } from '../support/cli/cli.ts';
import { fencedBlocks, readPage } from '../support/fixtures/documentation.ts';
import type { NodeSite } from '../support/node/node-site.ts';
import type { Release } from '../support/node/release.ts';
import { runAsReader } from './chart-notes.ts';

/**
 * Follows the section of docs/ci.md about pods: its commands and its manifest as they are printed, but for the namespace, the
 * address of the server, the audience, the image, and the issuer of the node's cluster. Returns what the pod printed.
 */
export async function followPodSection(site: NodeSite, release: Release, namespace: string): Promise<string> {
  const page = readPage('docs/ci.md');
  const script = fencedBlocks(page, 'sh').find(({ text }) => text.includes('openid/v1/jwks'))?.text ?? '';
  const manifest = fencedBlocks(page, 'yaml').find(({ text }) => text.startsWith('# report.yaml\n'))?.text ?? '';
  const [{ token }, url, discovery] = await Promise.all([
    release.admin(),
    release.url(),
    site.kubectl(['get', '--raw', '/.well-known/openid-configuration']),
  ]);
  const { issuer } = JSON.parse(discovery) as { issuer: string };
  const cli = await CliRunner.create({ url, token: { reveal: () => token } });
  try {
    const commands = script
      .replaceAll('https://kubernetes.default.svc ', `${issuer} `)
      .replace('serviceaccount:shop:', `serviceaccount:${namespace}:`)
      .trimEnd();
    const created = await runAsReader(`export KEYFRAME_INSECURE_HTTP=1\n${commands} --output json`, {
      cli,
      cluster: site.node,
    });
    if (created.code !== 0) throw new Error(`the commands ended with ${created.code}: ${created.stderr}`);
    const json = created.stdout.slice(created.stdout.lastIndexOf('\n{') + 1);
    const { federation } = JSON.parse(json) as { federation: { audience: string } };
    const insecure = `        - name: KEYFRAME_INSECURE_HTTP\n          value: '1'\n`;
    const applied = manifest
      .replaceAll('namespace: shop', `namespace: ${namespace}`)
      .replace('https://keyframe.example.com', url)
      .replace(/(?<= {8}- name: KEYFRAME_URL\n.*\n)/, insecure)
      .replace(/keyframe\/[a-z2-7]{26}\/service-tokens\/[0-9a-f-]{36}/, federation.audience)
      .replace(/registry\.example\.com\/keyframe:\S+/, site.images.keyframe);
    const path = join(cli.folder, 'report.yaml');
    writeFileSync(path, applied);
    await site.kubectl(['apply', '-f', path]);
    const pod = ['-n', namespace, 'wait', 'pod/report', '--for=jsonpath={.status.phase}=Succeeded', '--timeout=60s'];
    await site.kubectl(pod).catch(async (error: unknown) => {
      const seen = await site.kubectl(['-n', namespace, 'get', 'pod/report', '-o', 'jsonpath={.status}']);
      throw new Error(`${await site.logs(namespace, 'pod/report').catch(() => '')}\n${seen}`, { cause: error });
    });
    return await site.logs(namespace, 'pod/report');
  } finally {
    cli.remove();
  }
}
