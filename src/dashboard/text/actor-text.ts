/** An actor of the history, with the cluster that vouched for it if there is one and the user may see it. */
export function actorText(name: string, cluster: string | null | undefined): string {
  return cluster === null || cluster === undefined ? name : `${name} in ${cluster}`;
}
