/** The commands of the first steps. */

export interface FirstCommands {
  readonly download: string;
  readonly signIn: string;
  readonly store: string;
  readonly connect: string;
}

/**
 * @param origin the address of this server
 * @param organization a slug; without one, an instance admin creates it
 */
export function firstCommands(
  origin: string,
  { organization, instanceAdmin }: { organization: string | undefined; instanceAdmin: boolean },
): FirstCommands {
  const slug = organization ?? 'acme';
  const place = `-o ${slug} -p web`;
  const store = [
    ...(organization === undefined && instanceAdmin ? [`./keyframe org create ${slug}`] : []),
    `./keyframe project create web -o ${slug}`,
    `./keyframe env create production ${place}`,
    `./keyframe set GREETING=hello ${place} -e production`,
  ];
  return {
    download: `curl -fsSLo keyframe ${origin}/cli\nchmod +x keyframe`,
    signIn: `./keyframe login --url ${origin}`,
    store: store.join('\n'),
    connect: `kubectl apply -f - <<'EOF'
apiVersion: keyframe.dev/v1alpha1
kind: AccessGrant
metadata: { name: web }
spec:
  namespaces: [default]
  rules:
    - { organization: ${slug}, project: web, environments: [production], kinds: [SecretSync] }
---
apiVersion: keyframe.dev/v1alpha1
kind: SecretSync
metadata: { name: web, namespace: default }
spec:
  environmentRef: { organization: ${slug}, project: web, name: production }
EOF`,
  };
}
