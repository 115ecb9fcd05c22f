import { expect, test } from '@jest/globals';
import { CliRunner } from '../../support/cli/cli.ts';

test('ends without a message when the reader of its output has read enough', async () => {
  const cli = await CliRunner.create();
  try {
    const running = cli.start(['completion', 'zsh']);
    running.process.stdout.destroy();
    expect(await running.ended).toMatchObject({ code: 0, signal: null, stderr: '' });
  } finally {
    cli.remove();
  }
});
