import type * as Yaml from 'yaml';
import type { Document } from 'yaml';

type Options = Yaml.ParseOptions & Yaml.DocumentOptions & Yaml.SchemaOptions;

/**
 * The first document of a text that holds something or has a fault, else the first one, and the next such document. Users
 * end a document with `---`, and tools put comments between two of these marks.
 */
export function filledDocuments(
  yaml: typeof Yaml,
  text: string,
  options: Options,
): [first: Document.Parsed, second: Document.Parsed | undefined] {
  const documents = [yaml.parseAllDocuments(text, options)].flat();
  const [first, second] = documents.filter(({ contents, errors }) => {
    return errors.length > 0 || !(contents === null || (yaml.isScalar(contents) && contents.source === ''));
  });
  return [first ?? documents[0] ?? yaml.parseDocument(text, options), second];
}
