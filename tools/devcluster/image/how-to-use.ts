/** The registry of pages and of messages, for which readers put their own. */
const exampleRegistry = 'registry.example.com';

/**
 * What to do with an image that was built: the command that pushes it, and what the chart takes. A local name has no registry,
 * so an example stands for the user's.
 */
export function howToUse({ tag, file }: { readonly tag: string; readonly file: string }): string {
  const { repository, version } = partsOf(tag);
  const isLocal = !repository.includes('/') || repository.startsWith('localhost/');
  const pushed = isLocal ? `${exampleRegistry}/${repository.split('/').at(-1) ?? ''}` : repository;
  const registry = isLocal ? `your registry (here ${exampleRegistry})` : 'the registry';
  return `Push it to ${registry}, and name it to the chart:
  skopeo copy docker-archive:${file} docker://${pushed}:${version}
  helm install keyframe charts/keyframe -n keyframe --create-namespace \\
    --set image.repository=${pushed} --set image.tag=${version} --set bootstrap.adminEmail=ADDRESS`;
}

/** A registry's port is no tag. */
function partsOf(tag: string): { repository: string; version: string } {
  const at = tag.lastIndexOf(':');
  const isTagged = at > tag.lastIndexOf('/');
  return isTagged
    ? { repository: tag.slice(0, at), version: tag.slice(at + 1) }
    : { repository: tag, version: 'latest' };
}
