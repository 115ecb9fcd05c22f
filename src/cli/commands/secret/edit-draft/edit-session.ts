import type { ApiClient } from '../../../../client/api-client.ts';
import { call } from '../../../../client/call.ts';
import { ClientError } from '../../../../client/client-error.ts';
import { usageError } from '../../../core/cli-error.ts';
import type { CommandContext } from '../../../core/command.ts';
import { FormatError } from '../../../../wire/formats/format-error.ts';
import type { SecretTable } from '../../../../wire/formats/secret-table.ts';
import { type Scope, scopeParams } from '../../../settings/scope.ts';
import { requireRevision } from '../expected-state.ts';
import type { EnvironmentState } from '../file-plan.ts';
import { decoded } from '../secret-file.ts';
import { readSecrets, shownScope, tableOf } from '../secrets-api.ts';
import { Draft, type DraftBase } from './draft.ts';
import { type DraftForm, type DraftFormat, environmentForm, valueForm } from './draft-form.ts';
import { rebaseDraft } from './rebase.ts';

/** A draft that is being edited. */
export interface EditSession {
  readonly scope: Scope;
  readonly draft: Draft;
  readonly form: DraftForm;
  /** What the draft is compared with. */
  readonly before: EnvironmentState;
  /** Keys that others have changed since the draft began, and that the draft changes too. */
  readonly conflicts: readonly string[];
}

export interface NewEdit {
  readonly key: string | undefined;
  readonly format: DraftFormat;
  readonly expectedRevision: string | undefined;
}

/** Reads an environment, or one secret of it, and writes a draft of it. */
export async function startEdit(
  context: CommandContext,
  scope: Scope,
  { key, format, expectedRevision }: NewEdit,
): Promise<EditSession> {
  const before = await readState(context.api(), scope, key ?? null);
  requireRevision(scope, before, expectedRevision);
  const url = context.configuration.url;
  const base = baseOf({ ...scope, url, key: key ?? null, format, file: '' }, before, before.secrets);
  const form = formOf(base);
  const text = await form.write(before.secrets);
  const draft = Draft.create(context.environment, { ...base, file: form.fileName }, text);
  return { scope, draft, form, before, conflicts: [] };
}

/**
 * Opens a draft that an earlier run has kept. If the environment has changed since, its edits are applied to the present
 * state. If its text has an error, it stays as it is. Throws CliError usage or conflict.
 */
export async function resumeEdit(
  context: CommandContext,
  path: string,
  expectedRevision: string | undefined,
): Promise<EditSession> {
  const draft = Draft.open(path);
  const { base } = draft;
  const { url, organization, project, environment } = base;
  const scope = { organization, project, environment };
  if (url !== context.configuration.url) {
    throw usageError(
      `${path} is a draft for the server ${url}, and not for ${context.configuration.url}`,
      `Add --url ${url}`,
    );
  }
  const now = await readState(context.api(), scope, base.key);
  requireRevision(scope, now, expectedRevision);
  const form = formOf(base);
  const before = stateOf(base);
  const written = now.revisionId === base.revisionId ? undefined : await secretsIn(draft, form);
  if (written === undefined) return { scope, draft, form, before, conflicts: [] };
  const { secrets, conflicts } = rebaseDraft({ before: before.secrets, draft: written, now: now.secrets });
  const newBase = baseOf(base, now, secrets);
  const newForm = formOf(newBase);
  const names = conflicts.join(', ');
  const message = conflicts.length === 0 ? '' : `Others have changed ${names} since; this draft has your values.`;
  draft.write(newBase, await newForm.write(secrets, message));
  context.io.warn(
    `${shownScope(scope)} has changed since the draft was made (revision ${base.revision}, now ${now.revision}); your edits are applied to revision ${now.revision}`,
  );
  if (conflicts.length > 0) context.io.warn(`others have changed ${names} too; the draft has your values`);
  return { scope, draft, form: newForm, before: now, conflicts };
}

/** The secrets of a draft; undefined if it is empty or has an error, which is reported when the editor has been closed. */
async function secretsIn(draft: Draft, form: DraftForm): Promise<SecretTable | undefined> {
  try {
    return (await form.read(decoded(draft.read() ?? Buffer.alloc(0))))?.secrets;
  } catch (error) {
    if (error instanceof FormatError) return undefined;
    throw error;
  }
}

function formOf(base: DraftBase): DraftForm {
  const { key, environment, format, hasLineEnd } = base;
  const before = stateOf(base).secrets;
  return key === null
    ? environmentForm({ place: shownScope(base), environment, format, before })
    : valueForm({ key, before, hasLineEnd });
}

function stateOf({ secrets, revision, revisionId }: DraftBase): EnvironmentState {
  return { secrets: new Map(secrets), revision, revisionId };
}

/** The base for a text that holds `written`. */
function baseOf(
  place: Omit<DraftBase, 'revision' | 'revisionId' | 'hasLineEnd' | 'secrets'>,
  { secrets, revision, revisionId }: EnvironmentState,
  written: SecretTable,
): DraftBase {
  const hasLineEnd = place.key !== null && written.get(place.key)?.endsWith('\n') === true;
  return { ...place, revision, revisionId, hasLineEnd, secrets: [...secrets] };
}

/** All secrets, or the one with this key if it exists, and the revision at which they are so. */
async function readState(api: ApiClient, scope: Scope, key: string | null): Promise<EnvironmentState> {
  if (key === null) {
    const list = await readSecrets(api, scope);
    return { ...list, secrets: tableOf(list) };
  }
  // No other value is read than the one that is edited.
  const params = scopeParams(scope);
  const { revision, revisionId } = (await call(api, 'GET /environments/{org}/{project}/{env}', { params })).body;
  try {
    const request = { params: { ...params, key }, query: { revision: revisionId } };
    const { body } = await call(api, 'GET /secrets/{org}/{project}/{env}/{key}', request);
    return { secrets: new Map([[key, body.value]]), revision, revisionId };
  } catch (error) {
    if (error instanceof ClientError && error.isNotFound) return { secrets: new Map(), revision, revisionId };
    throw error;
  }
}
