// SPDX-License-Identifier: GPL-2.0

// kapf-bench-reference is the reference's Go library as a peer of the benchmarks.
package main

import (
	"flag"
	"fmt"
	"os"
)

func fail(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "kapf-bench-reference: "+format+"\n", args...)
	os.Exit(1)
}

func main() {
	native := flag.Bool("native", false,
		"be measured by kapf-bench-native, which is at the other end")
	flag.Parse()
	if flag.NArg() > 0 || !*native {
		flag.Usage()
		os.Exit(2)
	}
	runNative()
}
