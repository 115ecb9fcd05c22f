// CoreDNS with the plugins that a cluster's own names need, and no more: the whole of it takes three minutes to build.
// See https://coredns.io/2017/07/25/compile-time-enabling-or-disabling-plugins/, "Build with external Go source".
package main

import (
	"github.com/coredns/coredns/coremain"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/health"
	_ "github.com/coredns/coredns/plugin/kubernetes"
	_ "github.com/coredns/coredns/plugin/ready"
)

func main() {
	coremain.Run()
}
