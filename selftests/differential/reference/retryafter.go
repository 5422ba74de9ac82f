// SPDX-License-Identifier: GPL-2.0

package main

import (
	"iter"
	"math/rand/v2"
	"reflect"
	"slices"
	"time"

	"k8s.io/apiserver/pkg/util/flowcontrol"
)

// drops are those of a second.
type drops struct {
	Second int64 `json:"second"`
	Drops  int   `json:"drops"`
}

// retryAfter compares what clients are told over sequences of drops.
var retryAfter = &area[[]drops, []int64]{
	name: "retryafter",
	draw: func(r *rand.Rand) []drops {
		second := int64(1_700_000_000 + r.IntN(100_000_000))
		busy := 1 + r.IntN(8)
		longest := 1 + r.IntN(5)
		var c []drops
		for range 1 + r.IntN(60) {
			if r.IntN(12) == 0 {
				busy = 1 + r.IntN(8)
				second += r.Int64N(80)
			}
			second += 1 + r.Int64N(int64(longest))
			c = append(c, drops{second, 1 + r.IntN(busy*busy)})
		}
		return c
	},
	answer: func(c []drops) []int64 {
		var now time.Time
		tracker := flowcontrol.NewDroppedRequestsTracker()
		raw := reflect.ValueOf(tracker)
		clock := offset(raw.Type().Elem(), "now")
		*at[func() time.Time](raw.UnsafePointer(), clock) =
			func() time.Time { return now }

		var answer []int64
		last := int64(1)
		for _, d := range c {
			now = time.Unix(d.Second, 0)
			for range d.Drops {
				tracker.RecordDroppedRequest("")
			}
			told := tracker.GetRetryAfter("")
			switch {
			case told > last && told < 32:
				met["doubled"]++
			case told == 32 && last < 32:
				met["reached the most"]++
			case told < last:
				met["one less"]++
			case told > 1:
				met["stayed"]++
			}
			last = told
			answer = append(answer, told)
		}
		return answer
	},
	smaller: func(c []drops) iter.Seq[[]drops] {
		return func(yield func([]drops) bool) {
			for i := range c {
				fewer := slices.Delete(slices.Clone(c), i, i+1)
				if len(fewer) > 0 && !yield(fewer) {
					return
				}
			}
		}
	},
	wanted: []string{"doubled", "reached the most", "one less", "stayed"},
}
