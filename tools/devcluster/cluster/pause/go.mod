// The process that holds the namespaces of a pod on the node of test/node (built by tools/devcluster/cluster/build.ts).
module keyframe.dev/tools/devcluster/cluster/pause

go 1.26.0
