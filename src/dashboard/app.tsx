import type { ReactNode } from 'react';
import { Route, Routes } from 'react-router';
import { dashboardPaths } from '../wire/dashboard-paths.ts';
import { AuditPage, InstanceAuditPage } from './pages/audit.tsx';
import { ComparePage } from './pages/compare.tsx';
import { ConsumersPage } from './pages/consumers.tsx';
import { DevicePage } from './pages/device.tsx';
import { EnvironmentPage } from './pages/environment.tsx';
import { EnvironmentsPage } from './pages/environments.tsx';
import { FirstStepsPage } from './pages/first-steps.tsx';
import { GrantsPage } from './pages/grants.tsx';
import { HistoryPage } from './pages/history.tsx';
import { HomePage } from './pages/home.tsx';
import { InvitationsPage } from './pages/invitations.tsx';
import { LinkPage } from './pages/link.tsx';
import { LoginPage } from './pages/login.tsx';
import { MembersPage } from './pages/members.tsx';
import { NotFoundPage } from './pages/not-found.tsx';
import { OverviewPage } from './pages/overview.tsx';
import { RestoresPage } from './pages/restores.tsx';
import { SessionsPage } from './pages/sessions.tsx';
import { SignInMethodsPage } from './pages/sign-in-methods.tsx';
import { SignInPage } from './pages/sign-in.tsx';
import { TokensPage } from './pages/tokens.tsx';
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
