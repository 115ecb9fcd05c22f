#!/usr/bin/env bash
# What the CI job runs: deploy.sh <commit>. Takes a snapshot of the secrets of production, waits until it is there, and
# only then deploys the commit's image. Prints the SecretSnapshot's name, by which one goes back.
#
# Before: platform.yaml and application.yaml; kubectl speaks as the ServiceAccount `ci` of the namespace `shop`.
# Look:   kubectl get secretsnapshot -n shop     (READY, SECRETS, REVISION, and when each was TAKEN)
set -euo pipefail

commit="${1:?usage: deploy.sh <commit>}"
[[ "$commit" =~ ^[0-9a-f]{7,40}$ ]] || { echo "deploy.sh: $commit is no commit" >&2; exit 2; }

# A SecretSnapshot takes one snapshot in its life. generateName gives each run one of its own, a repeated run too.
snapshot="$(kubectl create -n shop -o name -f - <<YAML
apiVersion: keyframe.dev/v1alpha1
kind: SecretSnapshot
metadata: { generateName: before-${commit:0:12}- }
spec:
  source:
    environmentRef: { organization: acme, project: shop, name: production }
  name: before ${commit}
  # It goes after 30 days, by itself.
  deletionPolicy: Delete
  expiresIn: 720h
YAML
)"

# No snapshot, no deploy: this fails where none is taken, and ends the script.
kubectl wait -n shop "$snapshot" --for=condition=Ready --timeout="${SNAPSHOT_TIMEOUT:-60s}" >&2

kubectl set image -n shop deployment/web "web=registry.example.com/shop/web:${commit}" >&2
echo "${snapshot##*/}"
