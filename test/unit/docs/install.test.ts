import { expect, test } from '@jest/globals';
import { readPage, scriptsOf } from '../../support/fixtures/documentation.ts';
import { shellCommands } from '../../support/cli/shell-commands.ts';

/** No public registry has the image, so an installation that does not say so first ends in ImagePullBackOff. */
test.each(['README.md', 'docs/install.md', 'charts/keyframe/README.md'])(
  '%s makes the image before it installs it, from the same place',
  (page) => {
    const commands = scriptsOf(page).flatMap(shellCommands);
    const at = commands.findIndex(([program, verb]) => program === 'helm' && verb === 'install');
    const before = commands.slice(0, at).map((words) => words.join(' '));
    expect(before).toContainEqual(expect.stringMatching(/^npm run image /));
    const copied = before.find((text) => text.startsWith('skopeo copy '));
    const repository = /docker:\/\/(\S+):[^:]+$/.exec(copied ?? '')?.[1];
    expect(commands[at]).toContain(`image.repository=${repository}`);
    expect(commands[at]).toContain('bootstrap.adminEmail=you@example.com');
  },
);

test.each([
  ['docs/install.md', '## If it does not start'],
  ['charts/keyframe/templates/NOTES.txt', 'If a pod does not become ready'],
])('%s first shows pods, volumes and events to a reader whose installation does not start', (page, place) => {
  const text = readPage(page);
  const from = text.slice(text.indexOf(place));
  expect(/kubectl .*/.exec(from)?.[0]).toMatch(/^kubectl -n (?:keyframe|\{\{ \$namespace \}\}) get pods,pvc,events$/);
});

test('install.md explains each state in which the kubelet or the scheduler leaves a pod', () => {
  const section = readPage('docs/install.md').split('## If it does not start')[1]?.split('\n## ')[0] ?? '';
  for (const state of ['ImagePullBackOff', 'Pending', 'StorageClass', 'CrashLoopBackOff', 'CreateContainerConfigError'])
    expect(section).toContain(state);
});
