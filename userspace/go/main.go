// SPDX-License-Identifier: GPL-2.0

// kapf-bench-reference is the reference's Go library as a peer of the benchmarks.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime/debug"
)

func fail(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "kapf-bench-reference: "+format+"\n", args...)
	os.Exit(1)
}

func main() {
	var w workload

	native := flag.Bool("native", false,
		"be measured by kapf-bench-native, which is at the other end")
	draw := flag.Bool("draw", false,
		"print the requests rather than make them")
	w.options()
	flag.Parse()
	// A server's heap is large, so that its garbage is collected rarely.
	debug.SetGCPercent(400)
	kinds := map[string]func(*workload){
		"closed": runClosed, "open": runOpen, "fair": runFair,
	}
	run := kinds[w.kind]
	switch {
	case flag.NArg() == 0 && *native:
		runNative()
	case flag.NArg() == 0 && run != nil && *draw:
		w.print()
	case flag.NArg() == 0 && run != nil:
		run(&w)
	default:
		flag.Usage()
		os.Exit(2)
	}
}
