/** A way in by which a sentence can be shown to hold: requests to the server, or the built `keyframe` command. */
export type Door = 'http' | 'command';

/** What a sentence says, in our words, and each door by which it can be shown. */
export type Sentence = readonly [text: string, ...doors: readonly [Door, ...Door[]]];

/**
 * The interface's sentences, table rows and list items, by the section of docs/interface.md that they belong to; what
 * follows the section's number is the field's name, or the place of the row or sentence in it. Section 0 is what stands
 * before section 1.
 */
export const sentences = {
  '0.1': ['request and response bodies are JSON', 'http', 'command'],
  '0.2': ['times are ISO 8601 in UTC', 'http', 'command'],

  '1.0': ['secrets live in environments, environments in projects, projects in organizations', 'http', 'command'],
  '1.1': ['every change of a secret is a numbered version; a rollback deletes no history', 'http', 'command'],
  '1.2': ['a snapshot captures all secrets of one environment, which can be restored from it', 'http', 'command'],
  '1.3': ['service tokens let machines in, for an organization and within scope and permission', 'http', 'command'],
  '1.4': ['values of versions are encrypted with AES-256-GCM, like current values', 'http'],
  '1.5': ['restores, version operations and service-token actions are audited', 'http', 'command'],

  '2.1.id': ['a snapshot has an id, a UUID', 'http', 'command'],
  '2.1.name': ['a snapshot has an optional name, null when omitted', 'http', 'command'],
  '2.1.description': ['a snapshot has an optional description, null when none was given', 'http', 'command'],
  '2.1.createdBy': ['a snapshot names the user that made it by UUID', 'http', 'command'],
  '2.1.createdAt': ['a snapshot has the time of its creation', 'http', 'command'],
  '2.1.content': ['a snapshot maps each key to the id of its version record, and holds no value', 'http'],

  '2.2.version': ['the number of a version is an integer and starts at 1, shown as v1', 'http', 'command'],
  '2.2.changeType': ['changeType is created, updated or rolled_back', 'http', 'command'],
  '2.2.changedBy': ['changedBy is the UUID of the user who made the change', 'http', 'command'],
  '2.2.comment': ['comment is free text or null', 'http', 'command'],
  '2.2.createdAt': ['createdAt is the time of the change', 'http', 'command'],
  '2.2.value': ['each version holds its own encrypted value, and the history answers none', 'http', 'command'],

  '2.3': ['a secret has its own key, a current encrypted value and a current version number', 'http', 'command'],

  '2.4.name': ['the name of a service token is required', 'http', 'command'],
  '2.4.scope': ['the scope of a service token is organization, project or environment', 'http', 'command'],
  '2.4.projectId': ['projectId names the project of project scope', 'http', 'command'],
  '2.4.permission': ['the permission of a service token is read or read_write', 'http', 'command'],
  '2.4.expiration': ['an expiration is optional and set at creation, in days by the command', 'http', 'command'],
  '2.4.token': ['the token is a prefix, svc_ and a secret part, shown at creation alone', 'http', 'command'],
  '2.4.id': ['a service token has an id, a UUID, by which it is revoked', 'http', 'command'],
  '2.4.read': ['permission read reads secrets and writes none', 'http', 'command'],
  '2.4.read_write': ['permission read_write reads and writes secrets', 'http', 'command'],
  '2.4.organization': [
    'scope organization reaches all projects and environments of the organization',
    'http',
    'command',
  ],
  '2.4.project': ['scope project reaches all environments of one project', 'http', 'command'],
  '2.4.environment': ['scope environment reaches one environment only', 'http', 'command'],

  '3.1': ['no secret, created: version 1, changeType created', 'http', 'command'],
  '3.2': ['version N, secret updated: version N+1, changeType updated', 'http', 'command'],
  '3.3': ['version N, rolled back: version N+1, rolled_back, the value of the target; audited', 'http', 'command'],
  '3.4': ['version N, restored: version N+1, rolled_back, the value of the snapshot; audited', 'http', 'command'],
  '3.5': ['any, deleted: the secret is gone and its history is kept', 'http', 'command'],
  '3.6': ['deleted after the snapshot, restore: it is skipped and the others are restored', 'http', 'command'],
  '3.7': ['a service token is active until revoked, and revoking ends all access at once', 'http', 'command'],
  '3.8': ['a snapshot is created once and never changes', 'http', 'command'],

  '4.0.1': ['every endpoint requires the Authorization header', 'http', 'command'],
  '4.0.2': ['the parts of a path are the slugs of organization, project and environment', 'http', 'command'],
  '4.1.1': ['POST /snapshots/{org}/{project}/{env} creates a snapshot', 'http', 'command'],
  '4.1.2': ['the body of a snapshot to be created is application/json', 'http', 'command'],
  '4.1.3': ['the name of a snapshot to be created is an optional string', 'http', 'command'],
  '4.2': [
    'GET /snapshots/{org}/{project}/{env} answers snapshots: id, name, description, createdBy, createdAt',
    'http',
    'command',
  ],
  '4.3.1': ['POST /snapshots/{org}/{project}/{env}/restore takes snapshotId, a UUID, required', 'http', 'command'],
  '4.3.2': ['a restore overwrites every secret with its value at the time of the snapshot', 'http', 'command'],
  '4.3.3': ['a restore looks the version record up by its id and takes its encrypted value', 'http'],
  '4.3.4': ['a restore adds a version with changeType rolled_back to each secret', 'http', 'command'],
  '4.3.5': ['a restore is recorded in the audit log', 'http', 'command'],
  '4.3.6': ['a restore skips secrets that were deleted after the snapshot', 'http', 'command'],
  '4.3.7': ['a restore does not rewrite history', 'http', 'command'],
  '4.4.1': ['POST /service-tokens/{org} takes name, scope, projectId, permission and an expiration', 'http', 'command'],
  '4.4.2': ['the value of a service token is shown once and cannot be retrieved later', 'http', 'command'],
  '4.5': ['GET /secrets/{org}/{project}/{env} reads the secrets with a token', 'http', 'command'],
  '4.6.1': [
    'GET /versions/{org}/{project}/{env}/{key} answers versions: version, changeType, changedBy, comment, createdAt',
    'http',
    'command',
  ],
  '4.6.2': ['versions come newest first', 'http', 'command'],
  '4.7.1': [
    'POST /versions/{org}/{project}/{env}/{key}/rollback takes targetVersion, an integer, required',
    'http',
    'command',
  ],
  '4.7.2': ['a rollback makes a version rolled_back with the value of the target version', 'http', 'command'],
  '4.7.3': ['a rollback deletes nothing', 'http', 'command'],
  '4.7.4': ['a rollback is recorded in the audit log', 'http', 'command'],
  '4.8': ['service tokens are listed and revoked', 'http', 'command'],
  '4.9.1.name': ['snapshot create takes -n or --name <name>, optional', 'command'],
  '4.9.1.desc': ['snapshot create takes -d or --desc <description>, optional', 'command'],
  '4.9.1.scope': ['snapshot create takes the slugs as -o or --org, -p or --project, -e or --env', 'command'],
  '4.9.2': ['snapshot list takes the same scoping flags', 'command'],
  '4.9.3': ['snapshot restore takes the id of a snapshot, and needs no scoping flags', 'command'],
  '4.9.4.scope': ['versions takes a key and -o, -p, -e', 'command'],
  '4.9.4.limit': ['versions takes --limit <n>, the most versions it shows, 20 unless given', 'command'],
  '4.9.5.version': ['rollback takes --version <n>, required', 'command'],
  '4.9.5.scope': ['rollback takes a key and -o, -p, -e', 'command'],
  '4.9.6.org': ['token create-service takes the organization as -o', 'command'],
  '4.9.6.name': ['token create-service takes -n name', 'command'],
  '4.9.6.scope': ['token create-service takes -s scope', 'command'],
  '4.9.6.project-id': ['token create-service takes --project-id <uuid>', 'command'],
  '4.9.6.permission': ['token create-service takes -p as the permission, not as a project', 'command'],
  '4.9.6.expires-in': ['token create-service takes --expires-in <days>', 'command'],
  '4.9.7': ['token list-service takes -o', 'command'],
  '4.9.8.org': ['token revoke-service takes -o', 'command'],
  '4.9.8.id': ['token revoke-service takes --id <uuid>', 'command'],
  '4.9.9': ['token set stores the token for later commands', 'command'],
  '4.9.10': ['pull takes -o, -p, -e and reads the secrets of the environment', 'command'],

  '5.1': ['requests carry Authorization: Bearer with the token', 'http', 'command'],
  '5.2': ['personal tokens and service tokens go into the same header', 'http', 'command'],
  '5.3': ['a service token keeps working when the member who created it leaves', 'http', 'command'],
  '5.4': ['scope and permission limit a service token; a read token cannot write secrets', 'http', 'command'],
  '5.5': ['a service token is shown once at creation and revoked at once on request', 'http', 'command'],
  '5.6': ['what a service token does is logged apart, labelled [Service Token]', 'http', 'command'],
  '5.7': ['a personal token begins with kf_pat_ and is made by a person for themselves', 'http', 'command'],
  '5.8': ['rollback, restore and snapshots need read_write of a service token; reading needs read', 'http', 'command'],

  '6.1': ['nothing is sent out: the interface has no webhooks or notifications', 'http', 'command'],
  '6.2.1': ['the audit has an entry for each restore of a snapshot', 'http', 'command'],
  '6.2.2': ['the audit has an entry for each version operation, rollbacks included', 'http', 'command'],
  '6.2.3': ['the audit has an entry for each service-token action, labelled [Service Token]', 'http', 'command'],

  '7.1': ['a revoked service token: access is blocked at once', 'http', 'command'],
  '7.2': ['a secret deleted after the snapshot: it is skipped in the restore', 'http', 'command'],
  '7.3': ['a rollback without a target version: the target is required', 'http', 'command'],

  '8.1': ['the command lists 20 versions unless --limit says otherwise', 'command'],

  '9.1': ['the interface is versioned by the path prefix /api/v1', 'http', 'command'],
  '9.2': ['versions of a secret are integers that go up by 1 with each change', 'http', 'command'],
  '9.3': ['the history of a secret is retained after the secret is deleted', 'http', 'command'],
} as const satisfies Record<string, Sentence>;

export type SentenceNumber = keyof typeof sentences;
