// SPDX-License-Identifier: GPL-2.0

package main

import (
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"time"
	_ "unsafe" // for go:linkname

	_ "k8s.io/apiserver/pkg/util/flowcontrol"
	fq "k8s.io/apiserver/pkg/util/flowcontrol/fairqueuing"
)

// A period is what happens in it: some ns, the demand then, ns, demand, ..., ns.
type period []uint64

type demandCase struct {
	Periods []period `json:"periods"`
}

// A result of a period; all but HighWatermark with 32 bits of fraction.
type demandResult struct {
	HighWatermark uint64 `json:"high_watermark"`
	Average       uint64 `json:"average"`
	Deviation     uint64 `json:"deviation"`
	Smoothed      uint64 `json:"smoothed"`
}

// seatDemandStats has the layout of the reference's type of that name.
type seatDemandStats struct {
	avg           float64
	stdDev        float64
	highWatermark int
	smoothed      float64
}

//go:linkname updateStats k8s.io/apiserver/pkg/util/flowcontrol.(*seatDemandStats).update
func updateStats(stats *seatDemandStats, obs fq.IntegratorResults)

// handClock is moved by hand.
type handClock struct {
	now time.Time
}

func (c *handClock) Now() time.Time                  { return c.now }
func (c *handClock) Since(t time.Time) time.Duration { return c.now.Sub(t) }

func fixed(seats float64) uint64  { return uint64(math.Round(math.Ldexp(seats, 32))) }
func real64(seats uint64) float64 { return math.Ldexp(float64(seats), -32) }

// demand compares what periods are found to have been like, and what smoothing
// makes of it.
//
// The reference integrates and subtracts in float64, so that its variance is off
// by some 1e-15 of the mean square; 1e-13 is allowed.  The deviation is then
// within 1e-9 of itself where it is at least a hundredth of the average, but a
// constant demand may seem to deviate.
var demand = &area[demandCase, []demandResult]{
	name:    "demand",
	draw:    drawDemand,
	answer:  measureDemand,
	judge:   judgeDemand,
	smaller: func(c demandCase) iter.Seq[demandCase] { return slices.Values(smallerDemand(c)) },
	wanted: []string{"periods", "periods of no length",
		"constant demand", "constant demand that float64 has deviate",
		"peaks of no length", "periods after which smoothed rose",
		"periods after which smoothed came down",
		"demand beyond a million seats", "periods of days"},
}

func drawDemand(r *rand.Rand) demandCase {
	c := demandCase{make([]period, 1+r.IntN(6))}
	most := 1 << r.IntN(11)
	longest := time.Duration(2+r.IntN(9)) * time.Second
	if r.IntN(16) == 0 {
		most = 1 << r.IntN(31)
	}
	switch r.IntN(16) {
	case 0:
		longest = time.Duration(1 + r.IntN(1000))
	case 1:
		longest *= 24 * 3600
	}
	for i := range c.Periods {
		kind := r.IntN(8)
		at := func() uint64 {
			if kind == 0 || r.IntN(8) == 0 {
				return 0
			}
			return r.Uint64N(uint64(longest))
		}
		p := period{at()}
		if kind != 1 {
			for range r.IntN(12) {
				p = append(p, r.Uint64N(uint64(most)+1), at())
			}
		}
		if kind == 2 { // constant
			for j := 2; j < len(p); j += 2 {
				p[j-1] = p[1]
			}
			p[0] = 0
		}
		c.Periods[i] = p
	}
	return c
}

func measureDemand(c demandCase) []demandResult {
	var stats seatDemandStats

	clock := &handClock{time.Unix(1, 0)}
	integrator := fq.NewNamedIntegrator(clock, "")
	results := make([]demandResult, len(c.Periods))
	for i, p := range c.Periods {
		for j, x := range p {
			if j%2 == 0 {
				clock.now = clock.now.Add(time.Duration(x))
			} else {
				integrator.Set(float64(x))
			}
		}
		updateStats(&stats, integrator.Reset())
		results[i] = demandResult{uint64(stats.highWatermark),
			fixed(stats.avg), fixed(stats.stdDev), fixed(stats.smoothed)}
	}
	return results
}

// length of a period, in ns.
func length(p period) (ns uint64) {
	for j := 0; j < len(p); j += 2 {
		ns += p[j]
	}
	return ns
}

func judgeDemand(c demandCase, want, got []demandResult) string {
	const unit = 1.0 / (1 << 32)
	var before demandResult
	var slack float64 // of smoothed

	for i, w := range want {
		g := got[i]
		average, deviation := real64(w.Average), real64(w.Deviation)
		square := average*average + deviation*deviation
		offAverage := math.Abs(average - real64(g.Average))
		offDeviation := math.Abs(deviation - real64(g.Deviation))
		sum := deviation + real64(g.Deviation)
		off := offAverage + offDeviation
		if length(c.Periods[i]) > 0 {
			slack = max(off, 0.977*slack+0.023*off) + 2*unit +
				1e-15*real64(w.Smoothed)
		}
		switch {
		case w.HighWatermark != g.HighWatermark:
			return "the high watermarks differ"
		case offAverage > 1e-13*average+2*unit:
			return "the averages differ"
		case sum > 0 && offDeviation > 1e-13*square/sum+2*unit:
			return "the deviations differ"
		case math.Abs(real64(w.Smoothed)-real64(g.Smoothed)) > slack:
			return "the smoothed demands differ"
		}
		if g.Deviation == 0 && w.Deviation > 0 {
			met["constant demand that float64 has deviate"]++
		}
		countPeriod(c.Periods[i], before, g)
		before = g
	}
	return ""
}

// countPeriod counts what a period was like, with the results before and after.
func countPeriod(p period, before, after demandResult) {
	var wanted uint64

	met["periods"]++
	for j := 1; j < len(p); j += 2 {
		if p[j+1] > 0 {
			wanted = max(wanted, p[j])
		}
	}
	if length(p) == 0 {
		met["periods of no length"]++
		return
	}
	if after.Deviation == 0 && after.Average > 0 {
		met["constant demand"]++
	}
	if wanted > 0 && wanted < after.HighWatermark && p[0] == 0 {
		met["peaks of no length"]++
	}
	if after.Smoothed > before.Smoothed {
		met["periods after which smoothed rose"]++
	}
	if after.Smoothed < before.Smoothed {
		met["periods after which smoothed came down"]++
	}
	if after.HighWatermark > 1000000 {
		met["demand beyond a million seats"]++
	}
	if length(p) > uint64(48*time.Hour) {
		met["periods of days"]++
	}
}

// smallerDemand leaves out a period, or a change.
func smallerDemand(c demandCase) (list []demandCase) {
	for i, p := range c.Periods {
		without := append([]period{}, c.Periods[:i]...)
		rest := c.Periods[i+1:]
		if len(c.Periods) > 1 {
			list = append(list, demandCase{append(without, rest...)})
		}
		for j := 0; j+2 <= len(p); j += 2 {
			shorter := append(append(period{}, p[:j]...), p[j+2:]...)
			changed := append(append([]period{}, c.Periods[:i]...), shorter)
			list = append(list, demandCase{append(changed, rest...)})
		}
	}
	return list
}
