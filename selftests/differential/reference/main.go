// SPDX-License-Identifier: GPL-2.0

// Differential compares kapf with the reference: for each random case the
// reference's own code is asked, and so is a program of kapf's.
package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"sort"
)

// comparison is an area, of which main need not know the types.
type comparison interface {
	compare(o options) bool
}

var areas = map[string]comparison{
	"allocation":   allocation,
	"classify":     classify,
	"dealer":       dealer,
	"demand":       demand,
	"estimate":     estimate,
	"flow":         flow,
	"queueset":     queueSet,
	"request_info": requestInfo,
	"retryafter":   retryAfter,
}

// options are the command line's.
type options struct {
	seed   uint64
	cases  int
	area   string
	ours   string
	record string
}

func names() []string {
	var list []string
	for name := range areas {
		list = append(list, name)
	}
	sort.Strings(list)
	return list
}

func misused(format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
	os.Exit(2)
}

func main() {
	var o options

	flag.Uint64Var(&o.seed, "seed", 0, "of the cases; 0: a random one")
	flag.IntVar(&o.cases, "cases", 1000, "how many")
	flag.StringVar(&o.area, "area", "", fmt.Sprintf("one of %v", names()))
	flag.StringVar(&o.ours, "ours", "", "the program that answers for kapf")
	flag.StringVar(&o.record, "record", "",
		"write the cases with kapf's answers, once judged, to this file")
	metrics := flag.Bool("metrics", false,
		"print the reference's metrics instead")
	flag.Parse()
	if *metrics {
		if err := printMetrics(); err != nil {
			misused("%v", err)
		}
		return
	}

	area, known := areas[o.area]
	switch {
	case !known:
		misused("no area %q: must be one of %v", o.area, names())
	case o.cases < 1:
		misused("%d cases: must be 1 or more", o.cases)
	case flag.NArg() > 0:
		misused("%q is too much", flag.Arg(0))
	}
	if o.seed == 0 {
		o.seed = rand.Uint64()
	}
	if !area.compare(o) {
		os.Exit(1)
	}
}
