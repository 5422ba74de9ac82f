// SPDX-License-Identifier: GPL-2.0

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// request is one that is to be classified.
type request struct {
	User        string   `json:"user"`
	Groups      []string `json:"groups"`
	Verb        string   `json:"verb"`
	Path        string   `json:"path"`
	APIGroup    string   `json:"apiGroup"`
	Resource    string   `json:"resource"`
	Subresource string   `json:"subresource"`
	Namespace   string   `json:"namespace"`
}

// workloads are what kapf-bench-native measures of kapf.
type workloads struct {
	Engine   engineConfig      `json:"engine"`
	Schemas  []json.RawMessage `json:"schemas"`
	Requests []request         `json:"requests"`
}

// A work does some of what is measured, and says how much that was.
type work struct {
	run func() int
	sum uint64 // of all answers
}

// How long to measure at a time.
const measureFor = 50 * time.Millisecond

// cpuTime is this process's, as in kapf-bench-native: others run beside it.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		fail("getrusage: %v", err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func measure(run func() int) float64 {
	run()
	runtime.GC() // what others have left behind
	n := 0
	start := cpuTime()
	for {
		n += run()
		if elapsed := cpuTime() - start; elapsed >= measureFor {
			return float64(elapsed.Nanoseconds()) / float64(n)
		}
	}
}

// runNative reads the workloads, and then again and again what to measure.
func runNative() {
	// Since the time of all threads counts.
	runtime.GOMAXPROCS(1)
	in := bufio.NewReader(os.Stdin)
	var all workloads
	line, err := in.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &all)
	}
	if err != nil {
		fail("the workloads: %v", err)
	}
	works := map[string]work{
		"engine":           newEngine(all.Engine),
		"classify_default": newMatching(nil, all.Requests),
		"classify_1000":    newMatching(all.Schemas, all.Requests),
		"flow_hash":        newHashing(all.Requests),
	}
	for {
		word, err := in.ReadString('\n')
		if err == io.EOF {
			return
		}
		w, known := works[strings.TrimSpace(word)]
		if err != nil || !known {
			fail("what is %q? %v", word, err)
		}
		fmt.Println(measure(w.run), w.sum)
	}
}
