/** Limits of docs/interface.md section 8. Sizes are bytes of UTF-8. */
export const limits = {
  slugLength: 63,
  secretKeyLength: 253,
  valueBytes: 256 * 1024,
  /** Characters of a value that the server generates. */
  minGeneratedLength: 4,
  maxGeneratedLength: 4096,
  secretsPerEnvironment: 10_000,
  environmentBytes: 16 * 1024 * 1024,
  commentLength: 1000,
  nameLength: 200,
  tokenLifetimeDays: 3650,
  /** Personal tokens of one user that are neither revoked nor expired. */
  personalTokensPerUser: 100,
  /** A session ends after this time without a request, and after this time in all. */
  sessionIdleMinutes: 30,
  sessionHours: 12,
  /** How long after a sign-in a session may do what needs a recent one. */
  recentSignInMinutes: 5,
  /** Tokens that are created with a session end at the latest after this time. */
  sessionTokenDays: 90,
  /** How long a code of a sign-in of the command works, and wrong codes in one session. */
  loginCodeMinutes: 5,
  wrongCodesPerSession: 5,
  /** Lifetime of the personal token that the command gets. */
  loginTokenDays: 30,
  /** Sign-ins of devices that wait for an approval. Another one displaces the oldest of the network with most. */
  waitingDeviceLogins: 1_000,
  /** Sessions of one user that have not ended. Another one ends the least recently used. */
  sessionsPerUser: 50,
  /** How long a sign-in may take at an issuer of OpenID Connect. */
  signInFlowMinutes: 10,
  /** How long the challenge of a passkey works. */
  passkeyChallengeMinutes: 5,
  passkeysPerUser: 20,
  /** Groups of one user that an issuer of OpenID Connect may send. */
  groupsPerUser: 500,
  returnPathLength: 2_000,
  /** Roles of users in projects and environments, and of groups. */
  roleBindingsPerOrganization: 10_000,
  /** How long an invitation of a user waits. */
  invitationDays: 30,
  /** How long a sign-in link works. An invitation of an address that no user has waits as long as its link works. */
  signInLinkHours: 72,
  /** Invitations that wait: in an organization, of a user or an address, and of one of these in one organization. */
  invitationsPerOrganization: 1_000,
  invitationsPerUser: 100,
  invitationsPerUserAndOrganization: 25,
  /** Users whom the links of one organization's invitations make in 24 hours. */
  newUsersPerOrganizationAndDay: 500,
  /** Home clusters that are known before the home token proves no new name. */
  homeClusters: 32,
  /** Streams of changes of controllers on one server: in all, of one cluster or all home clusters, and of one process. */
  clusterStreams: 1_000,
  clusterStreamsPerCluster: 16,
  clusterStreamsPerProcess: 2,
  /** Rules of one organization for one cluster, and environments that one of them names. */
  rulesPerCluster: 100,
  environmentsPerClusterRule: 64,
  /** Issuers that instance admins trust, keys of one of them, and bytes of its authorities. */
  trustedIssuers: 100,
  keysPerIssuer: 20,
  issuerCaBytes: 16 * 1024,
  /** Claims of one federated service token, values of each, and characters of a name and of a value. */
  claimsPerFederation: 10,
  valuesPerClaim: 20,
  claimNameLength: 100,
  claimValueLength: 200,
  /** ServiceAccounts whose JWTs prove one ServiceToken, as in its definition. */
  serviceAccountsPerToken: 10,
  /** Characters of a JWT to explain: one that is too long to prove anything is explained too. */
  explainedJwtLength: 32 * 1024,
  /** The longest time from `iat` to `exp` that a JWT may have. */
  jwtLifetimeSeconds: 24 * 60 * 60,
  /** Namespaces of a cluster that are listed for one environment, and sources of SecretSyncs in one organization. */
  reportedNamespacesPerEnvironment: 1_000,
  reportedSourcesPerOrganization: 20_000,
  /** SecretSyncs of one report. */
  reportedAtOnce: 1_000,
  sourcesPerSecretSync: 8,
  workloadsPerSecretSync: 16,
  pageSize: 1000,
  /** Default entries of a page of the audit. */
  auditPageSize: 100,
  /** Default changes of a page, and the number of changed keys after which a page ends. */
  changePageSize: 100,
  changedKeysPerPage: 10_000,
  /** Maximum time that the old credential of a rotated service token stays valid. */
  tokenOverlapSeconds: 7 * 24 * 60 * 60,
  /** Concurrent change streams of one process, and of one credential. */
  changeStreams: 512,
  changeStreamsPerCredential: 16,
  /** Share of the streams that one user or service token may have, and that one organization must leave to others. */
  changeStreamsShare: 1 / 8,
} as const;
