// SPDX-License-Identifier: GPL-2.0

package main

import (
	"context"
	"time"

	fq "k8s.io/apiserver/pkg/util/flowcontrol/fairqueuing"
	"k8s.io/apiserver/pkg/util/flowcontrol/fairqueuing/eventclock"
	"k8s.io/apiserver/pkg/util/flowcontrol/fairqueuing/queueset"
	"k8s.io/apiserver/pkg/util/flowcontrol/metrics"
	fqrequest "k8s.io/apiserver/pkg/util/flowcontrol/request"
)

// levelConfig is a priority level.
type levelConfig struct {
	Seats  int `json:"seats"`
	Queues int `json:"queues"`
	Hand   int `json:"hand"`
	Length int `json:"length"`
}

// engineConfig is a level with more demand than seats.
type engineConfig struct {
	levelConfig
	Depth  int      `json:"depth"`  // requests of a flow at a time
	Step   int      `json:"step"`   // ns from one end of a request to the next
	Hashes []uint64 `json:"hashes"` // of the flows
}

// unmetered is a gauge that nobody reads.
type unmetered struct{}

func (unmetered) Set(float64)            {}
func (unmetered) Inc()                   {}
func (unmetered) Dec()                   {}
func (unmetered) Add(float64)            {}
func (unmetered) SetToCurrentTime()      {}
func (unmetered) SetDenominator(float64) {}

// newQueueSet is the reference's priority level.
func newQueueSet(clock eventclock.Interface, c levelConfig) fq.QueueSet {
	completer, err := queueset.NewQueueSetFactory(clock).BeginConstruction(
		fq.QueuingConfig{Name: "level", DesiredNumQueues: c.Queues,
			HandSize: c.Hand, QueueLengthLimit: c.Length},
		metrics.RatioedGaugePair{RequestsWaiting: unmetered{},
			RequestsExecuting: unmetered{}},
		unmetered{}, unmetered{})
	if err != nil {
		fail("%v", err)
	}
	return completer.Complete(fq.DispatchingConfig{ConcurrencyLimit: c.Seats,
		ConcurrencyDenominator: c.Seats})
}

// manualClock is a clock that costs nothing.
type manualClock struct {
	eventclock.Real
	now time.Time
}

func (c *manualClock) Now() time.Time { return c.now }

// engine is the queue set, saturated.  Of all ways to drive it this is the
// fastest: one goroutine, which finishes requests that it knows to have been
// dispatched, so that none has to be woken; a clock that is a variable; no
// deadline; the gauges and metrics unregistered, as they are until a server
// registers them.  Its users pay for all of these, too.
type engine struct {
	set       fq.QueueSet
	clock     manualClock
	step      time.Duration
	seats     int
	executing []*flowRequest // a ring, in the order of dispatch
	first, n  int
}

// flowRequest is a request that comes again whenever it has finished.
type flowRequest struct {
	ref    fq.Request
	hash   uint64
	noteFn fq.QueueNoteFn
}

var oneSeat = fqrequest.WorkEstimate{InitialSeats: 1}

// admit lets a request arrive.
func (e *engine) admit(r *flowRequest) {
	r.ref, _ = e.set.StartRequest(context.Background(), &oneSeat, r.hash, "", "",
		nil, nil, r.noteFn)
	if r.ref == nil {
		fail("the reference refuses a request")
	}
}

func (e *engine) run() int {
	const cycles = 500
	for range cycles {
		r := e.executing[e.first]
		e.clock.now = e.clock.now.Add(e.step)
		e.first = (e.first + 1) % len(e.executing)
		e.n--
		r.ref.Finish(func() {})
		if e.n != e.seats {
			fail("a finish does not dispatch one request")
		}
		e.admit(r)
		if e.n != e.seats {
			fail("a request does not wait")
		}
	}
	return cycles
}

func newEngine(c engineConfig) work {
	e := &engine{seats: c.Seats, step: time.Duration(c.Step),
		executing: make([]*flowRequest, len(c.Hashes)*c.Depth)}
	e.clock.now = time.Now()
	e.set = newQueueSet(&e.clock, c.levelConfig)
	for i := range e.executing {
		r := &flowRequest{hash: c.Hashes[i%len(c.Hashes)]}
		r.noteFn = func(inQueue bool) {
			if !inQueue {
				e.executing[(e.first+e.n)%len(e.executing)] = r
				e.n++
			}
		}
		e.admit(r)
		e.clock.now = e.clock.now.Add(e.step / time.Duration(c.Seats))
	}
	return work{run: e.run}
}
