import { validateSecretValue } from '../../../../wire/secret-rules.ts';
import { FormatError } from '../../../../wire/formats/format-error.ts';
import type { SecretTable } from '../../../../wire/formats/secret-table.ts';
import { shownText } from '../../../../wire/shown-text.ts';
import { type SecretFile, parseSecrets, writeSecrets } from '../secret-file.ts';

/** The formats in which an environment can be edited: they hold every value. */
export const draftFormats = ['env', 'yaml', 'json'] as const;
export type DraftFormat = (typeof draftFormats)[number];

type DraftContent = Pick<SecretFile, 'secrets' | 'warnings'>;

/** How secrets become the text of a draft, and the text becomes secrets. */
export interface DraftForm {
  /** The name of the file: an editor colors it by its end. */
  readonly fileName: string;
  /** The text for these secrets. A message stands at its top if the form has a place for one. */
  write(secrets: SecretTable, message?: string): Promise<string>;
  /** The secrets of a text; undefined if it is empty. Throws FormatError with the line, and never with a value. */
  read(text: string): Promise<DraftContent | undefined>;
  /** The same text with another message at its top; undefined if the form has no place for one. */
  withMessage?(text: string, message: string): string;
}

export interface EnvironmentForm {
  /** The environment, as users write it. */
  readonly place: string;
  readonly environment: string;
  readonly format: DraftFormat;
  /** What the draft is made from. */
  readonly before: SecretTable;
}

/** All secrets of an environment in a format, below a header of comments that always has the same number of lines. */
export function environmentForm({ place, environment, format, before }: EnvironmentForm): DraftForm {
  const fixed = `# ${place}: save and close to see the plan of your changes.
# A secret that you remove here is deleted. An empty file cancels.
`;
  const withHeader = (body: string, message = ''): string =>
    `${fixed}#${message === '' ? '' : ` ${shownText(message)}`}\n${body}`;
  const bodyOf = (saved: string): string => {
    const text = saved.replace(/^\uFEFF/, '');
    return text.startsWith(`${fixed}#`) ? text.slice(fixed.length).replace(/^.*\n?/, '') : text;
  };
  return {
    fileName: `${environment}.${format}`,
    write: async (secrets, message) => {
      // The names are for manifests.
      return withHeader(await writeSecrets(secrets, format, { name: environment, namespace: undefined }), message);
    },
    read: async (text) => {
      const body = bodyOf(text);
      if (body.trim() === '') return undefined;
      // With the header, so that the lines in errors are those of the file.
      const content = await parseSecrets(withoutComments(withHeader(body), format), format);
      if (content.secrets.size > 0 || before.size === 0) return content;
      throw new FormatError('it holds no secret; to delete secrets, name them: keyframe unset <key...>');
    },
    withMessage: (text, message) => withHeader(bodyOf(text), message),
  };
}

/** JSON has no comments: those at the top become empty lines. */
function withoutComments(text: string, format: DraftFormat): string {
  return format === 'json' ? text.replace(/^(?:#.*\n)+/, (lines) => lines.replaceAll(/.+/g, '')) : text;
}

export interface ValueForm {
  readonly key: string;
  /** What the draft is made from. */
  readonly before: SecretTable;
  /** Whether the text was written with a line end as its last character. */
  readonly hasLineEnd: boolean;
}

/**
 * The value of one secret as it is. Many editors end the last line of a file. So one line end there is ignored, unless the
 * text was written with one.
 */
export function valueForm({ key, before, hasLineEnd }: ValueForm): DraftForm {
  return {
    fileName: `value${/\.[A-Za-z0-9]{1,10}$/.exec(key)?.[0] ?? ''}`,
    write: async (secrets) => await Promise.resolve(secrets.get(key) ?? ''),
    read: async (text) => {
      const value = hasLineEnd ? text : text.replace(/\r?\n$/, '');
      if (value === '' && before.get(key) !== '') return undefined;
      const fault = validateSecretValue(value);
      if (fault !== undefined) throw new FormatError(`the value of ${key} ${fault}`);
      return await Promise.resolve({ secrets: new Map([[key, value]]), warnings: [] });
    },
  };
}
