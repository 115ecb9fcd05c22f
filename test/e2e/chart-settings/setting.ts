import type { KubeObject } from '../../../tools/devcluster/cluster/kube-http.ts';

/** Values of the chart by their paths, such as `ingress.host`. */
export type Values = Readonly<Record<string, unknown>>;

/** One value of the chart, and what setting it changes in what the chart renders. */
export interface Setting {
  /** The path of the value. */
  readonly value: string;
  /** Other values, without which it has no effect. */
  readonly given?: Values;
  readonly set: unknown;
  /**
   * Place → what stands there with the value set. A place is an object as `Kind/name`, a space, and a path in it, in which
   * `[x]` is the element of a list with that name or index, or the alert of that name. `undefined` stands for nothing, also
   * for no such object.
   * `pods` is the spec of every pod that the chart runs, `servers` that of its Deployments alone; each of them has to fit.
   */
  readonly shows: Readonly<Record<string, unknown>>;
}

interface Workload extends KubeObject {
  readonly spec: { readonly template: { readonly spec: object } };
}

const groups: Readonly<Record<string, readonly string[]>> = {
  pods: ['Deployment', 'StatefulSet', 'Job', 'Pod'],
  servers: ['Deployment'],
};

/** What stands at a place: one value, or one of each pod of a group. */
export function lookUp(objects: readonly KubeObject[], place: string): unknown[] {
  const [subject = '', path = ''] = place.split(' ');
  const kinds = groups[subject];
  if (kinds === undefined) {
    const found = objects.find(({ kind, metadata }) => `${kind}/${metadata.name}` === subject);
    return [follow(found, path)];
  }
  const specs = objects.filter(({ kind = '' }) => kinds.includes(kind)).map(podSpec);
  if (specs.length === 0) throw new Error(`There are no ${subject}.`);
  return specs.map((spec) => follow(spec, path));
}

function podSpec(object: KubeObject): object {
  return object.kind === 'Pod' ? (object as unknown as { spec: object }).spec : (object as Workload).spec.template.spec;
}

function follow(start: unknown, path: string): unknown {
  const steps = path.match(/[^.[\]]+/g) ?? [];
  return steps.reduce<unknown>((at, step) => {
    if (!Array.isArray(at)) return (at as Record<string, unknown> | undefined)?.[step];
    const named = (at as { name?: string; alert?: string }[]).find(({ name, alert }) => step === (name ?? alert));
    return named ?? (at as unknown[])[Number(step)];
  }, start);
}
