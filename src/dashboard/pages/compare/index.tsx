import { type ReactNode, useId } from 'react';
import { generatePath, Link, useSearchParams } from 'react-router';
import { dashboardPaths } from '../../../wire/dashboard-paths.ts';
import { type ProjectPlaces, usePlaces } from '../../api/places.ts';
import { Empty } from '../../parts/empty.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { Comparison } from './comparison.tsx';
import { type EnvironmentFacts, EnvironmentShell } from '../environment/shell.tsx';

/** How an environment differs from another one of the organization, and what to take over from that. */
export function ComparePage(): ReactNode {
  return (
    <EnvironmentShell documentTitle={(environment) => `Compare ${environment}`}>
      {(facts) => <Compare {...facts} />}
    </EnvironmentShell>
  );
}

interface Choice {
  readonly project: string;
  readonly environment: string;
  readonly isProtected: boolean;
}

function Compare(facts: EnvironmentFacts): ReactNode {
  const { place } = facts;
  const [parameters, setParameters] = useSearchParams();
  const id = useId();
  const places = usePlaces(place.organization);
  const wanted = parameters.get('with') ?? '';
  return (
    <Loaded query={places} waiting={<Skeleton name="Loading the environments" rows={6} />}>
      {(projects) => {
        const choices = choicesOf(projects).filter((choice) => nameOf(choice) !== nameOf(place));
        const other = choices.find((choice) => nameOf(choice) === wanted);
        if (choices.length === 0) return <Empty title="The organization has no other environment to compare with" />;
        return (
          <>
            <div className="toolbar compare-choice">
              <label htmlFor={id}>Compare with</label>
              <select
                id={id}
                className="input"
                value={other === undefined ? '' : wanted}
                onChange={(event) => setParameters({ with: event.target.value }, { replace: true })}
              >
                <option value="" disabled>
                  Choose an environment
                </option>
                {choices.map((choice) => (
                  <option key={nameOf(choice)} value={nameOf(choice)}>
                    {choice.project} / {choice.environment}
                  </option>
                ))}
              </select>
              {other === undefined ? undefined : (
                <>
                  <p className="muted">
                    Keys that you choose go from <strong>{shortOf(other, place)}</strong> to{' '}
                    <strong>{shortOf(place, other)}</strong>.
                  </p>
                  <Link
                    className="button button-quiet"
                    to={{
                      pathname: generatePath(dashboardPaths.compare, {
                        organization: place.organization,
                        project: other.project,
                        environment: other.environment,
                      }),
                      search: `?with=${encodeURIComponent(nameOf(place))}`,
                    }}
                  >
                    To {shortOf(other, place)} instead
                  </Link>
                </>
              )}
            </div>
            {other === undefined ? (
              <Empty title={wanted === '' ? 'Choose the environment to compare with' : 'There is no such environment'}>
                <p>
                  You see which keys differ, and can promote them from there to {place.environment}, or the other way.
                </p>
              </Empty>
            ) : (
              <Comparison key={wanted} facts={facts} other={other} />
            )}
          </>
        );
      }}
    </Loaded>
  );
}

type Named = Pick<Choice, 'project' | 'environment'>;

/** The environment alone, if that distinguishes it from another one. */
function shortOf(one: Named, other: Named): string {
  return one.environment === other.environment ? `${one.project} / ${one.environment}` : one.environment;
}

function nameOf({ project, environment }: Named): string {
  return `${project}/${environment}`;
}

function choicesOf(projects: readonly ProjectPlaces[]): readonly Choice[] {
  return projects.flatMap(({ project, environments }) =>
    environments.map(({ slug, protected: isProtected }) => ({
      project: project.slug,
      environment: slug,
      isProtected,
    })),
  );
}
