/** Limits of docs/interface.md section 8. Sizes are bytes of UTF-8. */
export const limits = {
  slugLength: 63,
  secretKeyLength: 253,
  valueBytes: 256 * 1024,
  /** Characters of a value that the server makes up. */
  minGeneratedLength: 4,
  maxGeneratedLength: 4096,
  secretsPerEnvironment: 10_000,
  environmentBytes: 16 * 1024 * 1024,
  commentLength: 1000,
  nameLength: 200,
  requestBytes: 8 * 1024 * 1024,
  /** Fields and list entries of a request's body, together, and of a change of many secrets. */
  bodyEntries: 1_000,
  batchEntries: 60_100,
  tokenLifetimeDays: 3650,
  /** Personal tokens of one user that are neither revoked nor expired. */
  personalTokensPerUser: 100,
  pageSize: 1000,
  /** Entries of a page of the audit where no limit is asked for: that list is never whole. */
  auditPageSize: 100,
  /** Changes of a page where no limit is asked for, and after how many changed keys a page ends: nor is that list. */
  changePageSize: 100,
  changedKeysPerPage: 10_000,
  /** How long an old credential of a service token may stay beside the new one. */
  tokenOverlapSeconds: 7 * 24 * 60 * 60,
  /** Change streams that one process serves at a time, and how many of them with one credential. */
  changeStreams: 512,
  changeStreamsPerCredential: 16,
  /** The part of them that one user or service token may have, and that one organization leaves to the others. */
  changeStreamsShare: 1 / 8,
} as const;
