import type { ReactNode } from 'react';
import { Route, Routes } from 'react-router';
import { dashboardPaths } from '../wire/dashboard-paths.ts';
import { AuditPage, InstanceAuditPage } from './pages/audit/index.tsx';
import { ClustersPage } from './pages/clusters/index.tsx';
import { ComparePage } from './pages/compare/index.tsx';
import { ConsumersPage } from './pages/consumers/index.tsx';
import { DevicePage } from './pages/device/index.tsx';
import { EnvironmentPage } from './pages/environment/index.tsx';
import { EnvironmentsPage } from './pages/environments/index.tsx';
import { FirstStepsPage } from './pages/first-steps/index.tsx';
import { GrantsPage } from './pages/grants/index.tsx';
import { HistoryPage } from './pages/history/index.tsx';
import { HomePage } from './pages/home/index.tsx';
import { InvitationsPage } from './pages/invitations/index.tsx';
import { LinkPage } from './pages/link/index.tsx';
import { LoginPage } from './pages/login/index.tsx';
import { MembersPage } from './pages/members/index.tsx';
import { NotFoundPage } from './pages/not-found/index.tsx';
import { OverviewPage } from './pages/overview/index.tsx';
import { RestoresPage } from './pages/restores/index.tsx';
import { SessionsPage } from './pages/sessions/index.tsx';
import { SignInMethodsPage } from './pages/sign-in-methods/index.tsx';
import { SignInPage } from './pages/sign-in/index.tsx';
import { TokensPage } from './pages/tokens/index.tsx';
import { Frame } from './parts/frame.tsx';
import { Oops } from './parts/oops.tsx';

/** The pages by their paths. All but the sign-in and its links are for signed-in users, in the frame. */
export function App(): ReactNode {
  return (
    <Oops>
      <Routes>
        <Route path={dashboardPaths.signIn} element={<SignInPage />} />
        <Route path={dashboardPaths.link} element={<LinkPage />} />
        <Route element={<Frame />}>
          <Route path={dashboardPaths.home} element={<HomePage />} />
          <Route path={dashboardPaths.overview} element={<OverviewPage />} />
          <Route path={dashboardPaths.environments} element={<EnvironmentsPage />} />
          <Route path={dashboardPaths.environment} element={<EnvironmentPage />} />
          <Route path={dashboardPaths.members} element={<MembersPage />} />
          <Route path={dashboardPaths.restores} element={<RestoresPage />} />
          <Route path={dashboardPaths.tokens} element={<TokensPage />} />
          <Route path={dashboardPaths.grants} element={<GrantsPage />} />
          <Route path={dashboardPaths.clusters} element={<ClustersPage />} />
          <Route path={dashboardPaths.audit} element={<AuditPage />} />
          <Route path={dashboardPaths.instanceAudit} element={<InstanceAuditPage />} />
          <Route path={dashboardPaths.history} element={<HistoryPage />} />
          <Route path={dashboardPaths.compare} element={<ComparePage />} />
          <Route path={dashboardPaths.consumers} element={<ConsumersPage />} />
          <Route path={dashboardPaths.firstSteps} element={<FirstStepsPage />} />
          <Route path={dashboardPaths.sessions} element={<SessionsPage />} />
          <Route path={dashboardPaths.signInMethods} element={<SignInMethodsPage />} />
          <Route path={dashboardPaths.invitations} element={<InvitationsPage />} />
          <Route path={dashboardPaths.login} element={<LoginPage />} />
          <Route path={dashboardPaths.device} element={<DevicePage />} />
          <Route path="*" element={<NotFoundPage />} />
        </Route>
      </Routes>
    </Oops>
  );
}
