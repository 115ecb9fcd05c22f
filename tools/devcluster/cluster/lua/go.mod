// Pins the Lua by which tests run the health checks of docs/gitops.md: the interpreter that Argo CD has built in
// (built by tools/devcluster/cluster/build.ts).
module keyframe.dev/tools/devcluster/cluster/lua

go 1.26.0

tool github.com/yuin/gopher-lua/cmd/glua

require (
	github.com/chzyer/readline v0.0.0-20180603132655-2972be24d48e // indirect
	github.com/yuin/gopher-lua v1.1.2 // indirect
	golang.org/x/sys v0.0.0-20190204203706-41f3e6584952 // indirect
)
