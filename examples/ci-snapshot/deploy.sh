#!/usr/bin/env bash
# The CI job runs this: deploy.sh <commit>. It takes a snapshot of the secrets of production, waits until the snapshot exists,
# and then deploys the image of the commit. It prints the name of the SecretSnapshot, which a rollback needs.
#
# Before: platform.yaml and application.yaml; kubectl acts as the ServiceAccount `ci` of the namespace `shop`.
# Look:   kubectl get secretsnapshots.keyframe.dev -n shop     (READY, SECRETS, REVISION, and when each was TAKEN)
set -euo pipefail

commit="${1:?usage: deploy.sh <commit>}"
[[ "$commit" =~ ^[0-9a-f]{7,40}$ ]] || { echo "deploy.sh: $commit is no commit" >&2; exit 2; }

# A SecretSnapshot takes one snapshot in its life. generateName gives each run a separate one, even a repeated run.
snapshot="$(kubectl create -n shop -o name -f - <<YAML
apiVersion: keyframe.dev/v1alpha1
kind: SecretSnapshot
metadata: { generateName: before-${commit:0:12}- }
spec:
  source:
    environmentRef: { organization: acme, project: shop, name: production }
  name: before ${commit}
  # It expires after 30 days.
  deletionPolicy: Delete
  expiresIn: 720h
YAML
)"

# No snapshot, no deploy: if none is taken, this fails and ends the script.
kubectl wait -n shop "$snapshot" --for=condition=Ready --timeout="${SNAPSHOT_TIMEOUT:-60s}" >&2

kubectl set image -n shop deployment/web "web=registry.example.com/shop/web:${commit}" >&2
echo "${snapshot##*/}"
