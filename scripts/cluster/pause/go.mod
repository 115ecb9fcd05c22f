// The process that holds the namespaces of a pod on the node of test/node (built by scripts/cluster/build.ts).
module keyframe.dev/scripts/cluster/pause

go 1.26.0
