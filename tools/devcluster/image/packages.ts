import { cpSync, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

// The programs are bundles that hold the packages' code. What stays is what scanners read a package's name and version
// from, and the licences, which some packages have in their README.
const kept = /^(?:package\.json|(?:licen[cs]e|copying|notice|authors|readme)\b.*)$/i;
// Of the page's package also what is served at /docs.
const page = /^(?:swagger-ui\.css|swagger-ui-bundle\.js(?:\.LICENSE\.txt)?|favicon-32x32\.png)$/;

/** Copies the manifest and the licences of each package in a folder node_modules, and the files of the page at /docs. */
export function copyPackages(from: string, to: string): void {
  for (const name of packageNames(from)) {
    const folder = join(from, name);
    const files = readdirSync(folder).filter(
      (file) => kept.test(file) || (name === 'swagger-ui-dist' && page.test(file)),
    );
    for (const file of files) cpSync(join(folder, file), join(to, name, file), { recursive: true });
    const nested = join(folder, 'node_modules');
    if (existsSync(nested)) copyPackages(nested, join(to, name, 'node_modules'));
  }
}

function packageNames(folder: string): string[] {
  const names = readdirSync(folder).filter((name) => !name.startsWith('.'));
  return names.flatMap((name) =>
    name.startsWith('@') ? readdirSync(join(folder, name)).map((inner) => `${name}/${inner}`) : [name],
  );
}
