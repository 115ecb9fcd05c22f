import { mkdtempSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { CliError, usageError } from '../../../core/cli-error.ts';
import { exitCodes } from '../../../core/exit-codes.ts';
import type { Environment } from '../../../settings/environment.ts';
import { fileFault } from '../../../settings/file-fault.ts';
import { writePrivateFile } from '../../../settings/private-file.ts';
import type { Scope } from '../../../settings/scope.ts';
import type { DraftFormat } from './draft-form.ts';

/** What a draft was made from, so that a later run can take it up. */
export interface DraftBase extends Scope {
  readonly url: string;
  /** The one secret that is edited; null for all. */
  readonly key: string | null;
  readonly format: DraftFormat;
  /** The name of the draft's file. */
  readonly file: string;
  readonly revision: number;
  readonly revisionId: string;
  /** Whether the text of the one secret was written with a line end as its last character. */
  readonly hasLineEnd: boolean;
  /** What was read at this revision: keys with their values. */
  readonly secrets: readonly (readonly [key: string, value: string])[];
}

const folderPrefix = 'keyframe-edit-';
// No slug begins with a dot, so no draft has this name.
const baseName = '.base.json';

/**
 * A file with values that an editor opens. It has a folder that only its owner can enter, because editors put copies of a
 * file beside it. The folder is removed as a whole.
 */
export class Draft {
  readonly path: string;
  readonly #folder: string;
  #base: DraftBase;
  /** The text that was written first; undefined for a draft of an earlier run. */
  readonly #first: string | undefined;

  private constructor(folder: string, base: DraftBase, first?: string) {
    this.#folder = folder;
    this.path = join(folder, base.file);
    this.#base = base;
    this.#first = first;
  }

  /** Writes a draft into the first of the folders that permits it. Throws CliError failure if none does. */
  static create({ temporaryFolders }: Environment, base: DraftBase, text: string): Draft {
    const faults: string[] = [];
    for (const parent of temporaryFolders.filter(isAbsolute)) {
      try {
        return Draft.#createIn(parent, base, text);
      } catch (error) {
        faults.push(`${parent}: ${fileFault(error)}`);
      }
    }
    throw new CliError(exitCodes.failure, `the draft cannot be written (${faults.join('; ')})`, {
      next: ['Name a folder of your own in XDG_RUNTIME_DIR'],
    });
  }

  static #createIn(parent: string, base: DraftBase, text: string): Draft {
    const draft = new Draft(mkdtempSync(join(parent, folderPrefix)), base, text);
    try {
      draft.write(base, text);
    } catch (error) {
      draft.remove();
      throw error;
    }
    return draft;
  }

  /** Opens a draft that an earlier run has kept. Throws CliError usage. */
  static open(path: string): Draft {
    try {
      const folder = realpathSync(dirname(path));
      const base = JSON.parse(readFileSync(join(folder, baseName), 'utf8')) as DraftBase;
      // What is removed later must be a folder that this class has made, and values are written into it.
      if (basename(folder).startsWith(folderPrefix) && isPrivate(folder) && base.file === basename(path)) {
        readFileSync(path);
        return new Draft(folder, base);
      }
    } catch (error) {
      if (!(error instanceof SyntaxError) && (error as NodeJS.ErrnoException).code === undefined) throw error;
    }
    throw usageError(
      `${path} is no draft that keyframe edit has kept`,
      'To apply another file of secrets: keyframe push <file>',
    );
  }

  get base(): DraftBase {
    return this.#base;
  }

  /** Whether the file holds anything that a user has entered. */
  get holdsEdits(): boolean {
    const bytes = this.read();
    if (bytes === undefined || bytes.length === 0) return false;
    return this.#first === undefined || !bytes.equals(Buffer.from(this.#first));
  }

  /** The bytes of the file; undefined if it was deleted. */
  read(): Buffer | undefined {
    try {
      return readFileSync(this.path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  writeText(text: string): void {
    writePrivateFile(this.path, text);
  }

  /**
   * Writes the text, and then what it is based on. In the other order, a crash between the two would make the changes of
   * others look like changes that the draft takes back.
   */
  write(base: DraftBase, text: string): void {
    this.writeText(text);
    writePrivateFile(join(this.#folder, baseName), JSON.stringify(base));
    this.#base = base;
  }

  /** Removes the folder with everything in it. */
  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** Whether no other user than root can enter a folder. */
function isPrivate(folder: string): boolean {
  const { uid, mode } = statSync(folder);
  const own = process.getuid?.();
  // Windows has neither.
  return own === undefined || (uid === own && (mode & 0o077) === 0);
}
