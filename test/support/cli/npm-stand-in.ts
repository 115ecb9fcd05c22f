/**
 * Bash that stands in for `npm run -s keyframe -- …` and `npm run -s kubectl -- …` of our pages: the same programs, for the
 * test's server and cluster. It reads the variables KUBECTL (the program), ADMIN_KUBECONFIG and, where the page leaves the
 * namespace to the reader, NAMESPACE.
 */
export const npmStandIn = `npm() {
  local script="$3"
  shift 4
  if [ "$script" = keyframe ]; then command keyframe "$@"
  else "$KUBECTL" --kubeconfig="$ADMIN_KUBECONFIG" \${NAMESPACE:+--namespace="$NAMESPACE"} "$@"
  fi
}
export -f npm
set -o pipefail
`;
