// SPDX-License-Identifier: GPL-2.0

package main

import (
	"flag"
	"fmt"
	"math"
)

// workload is what the peers are given to do; userspace/bench/workload.h says what
// all of this means.
type workload struct {
	kind    string
	level   levelConfig
	levels  int
	flows   int
	workers int

	// Of 256 requests
	wide, exempt int
	wideSeats    int

	rate        int
	onMs, offMs int
	holdUs      int
	fairWorkers int
	seconds     float64
	seed        uint64
}

// options has the command line fill the workload.
func (w *workload) options() {
	flag.StringVar(&w.kind, "kind", "", "closed, open or fair; for all of this see userspace/bench/workload.h")
	flag.Float64Var(&w.seconds, "seconds", 1, "for how long")
	flag.Uint64Var(&w.seed, "seed", 1, "of the requests")
	for name, value := range map[string]*int{
		"levels": &w.levels, "seats": &w.level.Seats,
		"queues": &w.level.Queues, "hand": &w.level.Hand,
		"length": &w.level.Length, "flows": &w.flows,
		"workers": &w.workers, "wide": &w.wide,
		"wide-seats": &w.wideSeats, "exempt": &w.exempt,
		"rate": &w.rate, "on-ms": &w.onMs, "off-ms": &w.offMs,
		"hold-us": &w.holdUs, "fair-workers": &w.fairWorkers,
	} {
		flag.IntVar(value, name, 0, "")
	}
}

// demand is a request of a flow.
type demand struct {
	hash   uint64
	level  int
	seats  int
	exempt bool
}

func (w *workload) demand(flow uint64) demand {
	return demand{hash: mix(flow%uint64(w.flows) + 1), seats: 1}
}

// draw is the next request of a closed loop.
func (w *workload) draw(s *stream) demand {
	r := s.next()
	d := w.demand(r >> 32)
	d.level = int(r&0xff) % w.levels
	if int(r>>8&0xff) < w.wide {
		d.seats = w.wideSeats
	}
	d.exempt = int(r>>16&0xff) < w.exempt
	return d
}

// arrival is a request of an open loop.
type arrival struct {
	ns   int64
	flow int
}

// drawFlow has Zipf's distribution.
func (w *workload) drawFlow(s *stream) int {
	sum, total, fraction := 0.0, 0.0, s.fraction()
	for flow := range w.flows {
		total += 1 / float64(flow+1)
	}
	for flow := range w.flows - 1 {
		sum += 1 / float64(flow+1)
		if sum >= fraction*total {
			return flow
		}
	}
	return w.flows - 1
}

func (w *workload) arrivals() []arrival {
	s := newStream(w.seed, math.MaxUint64)
	period, on := float64(w.onMs+w.offMs)/1e3, float64(w.onMs)/1e3
	rate, clock := float64(w.rate), 0.0
	if w.onMs > 0 {
		rate *= period / on
	}
	var list []arrival
	for {
		clock += -math.Log(s.fraction()) / rate
		when := clock
		if w.onMs > 0 {
			when += math.Floor(clock/on) * (period - on)
		}
		if when >= w.seconds {
			return list
		}
		list = append(list, arrival{int64(when * 1e9), w.drawFlow(s)})
	}
}

// print prints what worker 0 draws, or the arrivals, for a test to compare.
func (w *workload) print() {
	if w.kind == "open" {
		for _, a := range w.arrivals() {
			fmt.Println(a.ns, w.demand(uint64(a.flow)).hash)
		}
		return
	}
	s := newStream(w.seed, 0)
	for range drawn {
		d := w.draw(s)
		fmt.Println(d.level, d.seats, d.exempt, d.hash)
	}
}
