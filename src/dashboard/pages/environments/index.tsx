import { type ReactNode, useState } from 'react';
import { useParams } from 'react-router';
import { useFleet } from '../../api/fleet.ts';
import { type ProjectPlaces, usePlaces } from '../../api/places.ts';
import { Empty } from '../../parts/empty.tsx';
import { FilterField } from '../../parts/form/filter-field.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { useIsOld } from '../../parts/use-is-old.ts';
import { CopyCommand } from '../../parts/copy-command.tsx';
import { EnvironmentTable } from '../overview/environment-table.tsx';

/** The environments of an organization. */
export function EnvironmentsPage(): ReactNode {
  const { organization = '' } = useParams();
  const places = usePlaces(organization);
  const fleet = useFleet(organization);
  const isOld = useIsOld(fleet);
  const [filter, setFilter] = useState('');
  return (
    <Page title="Environments" intro="Each keeps every version of its secrets." wide>
      <div className="toolbar">
        <FilterField name="Filter by name" value="" onChange={setFilter} />
      </div>
      <Loaded query={places} waiting={<Skeleton name="Loading the environments" rows={5} />}>
        {(projects) => (
          <Found
            organization={organization}
            projects={projects}
            filter={filter}
            readers={isOld ? undefined : fleet.data?.environments}
          />
        )}
      </Loaded>
    </Page>
  );
}

interface FoundProps extends Pick<Parameters<typeof EnvironmentTable>[0], 'organization' | 'projects' | 'readers'> {
  readonly filter: string;
}

function Found({ organization, projects, filter, readers }: FoundProps): ReactNode {
  const found = matching(projects, filter.trim().toLowerCase());
  if (found.length > 0) return <EnvironmentTable organization={organization} projects={found} readers={readers} />;
  if (filter.trim() !== '') return <Empty title="No environment has this name" />;
  return (
    <Empty title="There is no environment yet">
      <CopyCommand name="create an environment">
        {`keyframe project create web -o ${organization}\nkeyframe env create production -o ${organization} -p web`}
      </CopyCommand>
    </Empty>
  );
}

/** The environments whose place `project/environment` contains the text. */
function matching(projects: readonly ProjectPlaces[], text: string): readonly ProjectPlaces[] {
  return projects
    .map(({ project, environments }) => ({
      project,
      environments: environments.filter(({ slug }) => `${project.slug}/${slug}`.includes(text)),
    }))
    .filter(({ environments }) => environments.length > 0);
}
