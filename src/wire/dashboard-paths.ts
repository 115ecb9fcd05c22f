/**
 * The paths of the dashboard's pages. The server returns the dashboard at each of them, and the dashboard's router shows the
 * page. `:name` stands for one segment.
 */
export const dashboardPaths = {
  firstSteps: '/',
  signIn: '/sign-in',
  sessions: '/sessions',
} as const;
