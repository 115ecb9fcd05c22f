// Reads secrets as a JSON object from standard input. Values go to the runner only: as masks, and into the file of GITHUB_ENV.
import { randomUUID } from 'node:crypto';
import { appendFileSync, readFileSync } from 'node:fs';

// A mask replaces each occurrence of its text in the log. So one for `1` or `{` would make the log unreadable.
const minMaskLength = 4;

const values = Object.entries(JSON.parse(readFileSync(0, 'utf8')));

for (const [, value] of values) {
  for (const line of value.split(/[\r\n]+/)) {
    // The runner decodes %25; a line has no other character that it would decode.
    if (line.trim().length >= minMaskLength) process.stdout.write(`::add-mask::${line.replaceAll('%', '%25')}\n`);
  }
}

if (process.env.MASK_ONLY !== 'true') {
  const variables = values.map(([key, value]) => {
    const end = `end-${randomUUID()}`;
    return `${key}<<${end}\n${value}\n${end}\n`;
  });
  appendFileSync(process.env.GITHUB_ENV, variables.join(''));
}
