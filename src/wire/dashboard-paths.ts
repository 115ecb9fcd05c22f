/**
 * The paths of the dashboard's pages. The server returns the dashboard at each of them, and the dashboard's router shows the
 * page. `:name` stands for one segment.
 */
export const dashboardPaths = {
  home: '/',
  firstSteps: '/get-started',
  overview: '/orgs/:organization',
  environments: '/orgs/:organization/environments',
  environment: '/orgs/:organization/environments/:project/:environment',
  members: '/orgs/:organization/members',
  restores: '/orgs/:organization/restores',
  tokens: '/orgs/:organization/tokens',
  grants: '/orgs/:organization/grants',
  clusters: '/orgs/:organization/clusters',
  audit: '/orgs/:organization/audit',
  instanceAudit: '/audit',
  history: '/orgs/:organization/environments/:project/:environment/history',
  compare: '/orgs/:organization/environments/:project/:environment/compare',
  consumers: '/orgs/:organization/environments/:project/:environment/consumers',
  signIn: '/sign-in',
  sessions: '/sessions',
  signInMethods: '/sign-in-methods',
  invitations: '/invitations',
  /** Where a sign-in link leads; its secret follows `#`, which no server sees. */
  link: '/link',
  /** Where the command on the machine of the browser is approved; the command opens it. */
  login: '/login',
  /** Where the code of a command on another machine is typed; the command prints it. */
  device: '/device',
} as const;
