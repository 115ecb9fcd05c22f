/** Limits of docs/interface.md section 8. Sizes are bytes of UTF-8. */
export const limits = {
  slugLength: 63,
  secretKeyLength: 253,
  valueBytes: 256 * 1024,
  secretsPerEnvironment: 10_000,
  environmentBytes: 16 * 1024 * 1024,
  commentLength: 1000,
  nameLength: 200,
  requestBytes: 8 * 1024 * 1024,
  tokenLifetimeDays: 3650,
  pageSize: 1000,
} as const;
