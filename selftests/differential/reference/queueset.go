// SPDX-License-Identifier: GPL-2.0

package main

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"reflect"
	"slices"
	"time"

	fqrequest "k8s.io/apiserver/pkg/util/flowcontrol/request"
)

// event is one of a trace.
type event struct {
	Op      string  `json:"op"`
	T       uint64  `json:"t"` // ns from the start
	ID      *int    `json:"id,omitempty"`
	Hash    *uint64 `json:"hash,omitempty"` // of what arrives
	Initial *uint64 `json:"initial,omitempty"`
	Final   *uint64 `json:"final,omitempty"`
	Latency *uint64 `json:"latency,omitempty"` // ns
	Seats   *int    `json:"seats,omitempty"`   // a limit
	sizes
}

// sizes are of a level's queues.
type sizes struct {
	Queues *int `json:"queues,omitempty"`
	Hand   *int `json:"hand,omitempty"`
	Length *int `json:"length,omitempty"`
}

// trace is a case: a level and what happens there.
type trace struct {
	R     uint64 `json:"r"` // at the start
	Seats int    `json:"seats"`
	sizes
	Events []event `json:"events"`

	want  []outcome
	hints []hint
}

// outcome is what an event led to.
type outcome struct {
	Verdict    string      `json:"verdict,omitempty"` // why refused
	Lingers    uint64      `json:"lingers,omitempty"` // ns
	Dispatched []int       `json:"dispatched,omitempty"`
	R          uint64      `json:"r,omitempty"`
	InUse      int         `json:"in_use,omitempty"`
	Waiting    int         `json:"waiting,omitempty"` // seats
	Queues     [][2]uint64 `json:"queues,omitempty"`  // index, next dispatch

	// Broken is what does not hold of kapf's side by itself; then it stops.
	Broken string `json:"broken,omitempty"`
}

// hint says which deviations from an outcome are the reference's rounding.
type hint struct {
	// half: R advanced by a number of units that ends in exactly a half.
	half bool

	// margin is the least distance of a virtual finish that was chosen from
	// one that was not.
	margin uint64
}

// Two virtual finishes that are closer than this may swap.
const nearTie = 4

// queueSet compares traces of events.
var queueSet = &area[*trace, []outcome]{
	name: "queueset",
	draw: drawTrace,
	answer: func(t *trace) []outcome {
		return t.want
	},
	judge:    judgeTrace,
	describe: describeTrace,
	smaller:  smallerTraces,
	enough:   500,
	wanted: []string{
		"a Reject level without seats admits nobody",
		"a cancel dispatches",
		"a clipped width no longer counts as waiting",
		"of fewer queues the idle ones stay",
	},
	shares: []share{
		{"ties", "dispatches with a choice", 5, 100},
		{"dispatches of a lone wide request", "dispatches", 5, 100},
		{"dispatches with clipped final seats", "dispatches", 5, 100},
		{"anti-windup", "changes of an oldest request or a next dispatch",
			5, 100},
		{"queue-full", "arrivals", 5, 100},
		{"lingering", "finishes", 5, 100},
		{"R rounded otherwise by the reference", "dispatches", 0, 1},
		{"traces cut short at a near-tie", "dispatches", 0, 0.1},
	},
}

// run is a trace in the making.
type run struct {
	*trace
	*level
	now      uint64
	live     []*request          // waiting or executing
	lingerer map[uint64]*request // by the time of its release
}

// The reference starts from zero, where a queue that is ahead may fall below:
// it compares unsigned.  It does not last for the length of a trace.
const startR = 1 << 50

func newRun(seats int, s sizes) *run {
	return &run{
		trace:    &trace{R: startR, Seats: seats, sizes: s},
		level:    newLevel(startR, seats, *s.Queues, *s.Hand, *s.Length),
		lingerer: map[uint64]*request{},
	}
}

// advance is what R is to advance by until t, as a fraction of units.
func (r *run) advance(t uint64) (numerator, denominator uint64) {
	var seats, active uint64
	for _, q := range r.kept {
		seats += uint64(q.seatsInUse())
		for _, w := range q.waiting {
			seats += uint64(w.width())
		}
		if q.active() {
			active++
		}
	}
	return min(seats, uint64(r.level.seats)) * (t - r.now), 10 * active
}

// before is what has to be remembered of the queues to see what an event did.
type before struct {
	next   uint64
	oldest *request
}

// do makes an event happen in the reference and writes down what it led to.
func (r *run) do(e event, what func() (verdict string)) {
	h := hint{margin: ^uint64(0)}
	if n, d := r.advance(e.T); d > 0 {
		h.half = n%d*2 == d
	}
	was := make([]before, len(r.kept))
	for i, q := range r.kept {
		was[i] = before{q.nextDispatchR(), q.oldest()}
	}
	robin := *at[int](r.raw, setRobin)
	r.now = e.T
	r.last = nil
	r.margin = ^uint64(0)
	r.event = outcome{}

	r.event.Verdict = what()
	r.putBack(robin)
	if r.seatsInUse() < r.level.seats {
		r.blocked()
	}

	r.event.R = r.r()
	r.event.InUse = r.seatsInUse()
	r.event.Waiting = *at[int](r.raw, setWaiting) - r.leaked
	for i, q := range r.kept {
		next := q.nextDispatchR()
		if i < len(was) && (q.oldest() != was[i].oldest ||
			next != was[i].next) && q.oldest() != nil {
			met["changes of an oldest request or a next dispatch"]++
			if next == q.oldest().arrivalR() && next != was[i].next {
				met["anti-windup"]++
			}
		}
		if q.active() && next != q.told {
			q.told = next
			r.event.Queues = append(r.event.Queues,
				[2]uint64{uint64(i), next})
		}
	}
	h.margin = r.margin
	r.Events = append(r.Events, e)
	r.want = append(r.want, r.event)
	r.hints = append(r.hints, h)
}

// blocked counts the choice of a request that does not fit.
func (r *run) blocked() {
	var chosen *queue
	for _, q := range r.kept {
		if len(q.waiting) > 0 && (chosen == nil ||
			q.finishR() < chosen.finishR()) {
			chosen = q
		}
	}
	if chosen != nil {
		r.marginOver(chosen, chosen.finishR())
	}
}

// until lets time pass up to t, in which requests cease to linger.
func (r *run) until(t uint64) {
	for {
		next, ok := r.nextRelease()
		if !ok || next > t {
			break
		}
		lingerer := r.lingerer[next]
		delete(r.lingerer, next)
		lingerer.state = gone
		r.do(event{Op: "release", T: next, ID: &lingerer.id}, func() string {
			r.setTime(next)
			return ""
		})
	}
}

// free is the next moment from t on at which nothing else happens.
func (r *run) free(t uint64) uint64 {
	t = max(t, r.now+1)
	for {
		r.until(t)
		if t > r.now {
			return t
		}
		t++
	}
}

// play makes an event happen at its time or soon after; what is impossible does
// not happen.
func (r *run) play(e event) {
	e.T = r.free(e.T)
	switch e.Op {
	case "arrive":
		r.playArrival(e)
	case "finish":
		if q := r.requests[*e.ID]; q.state == executing {
			r.playFinish(e, q)
		}
	case "cancel":
		if q := r.requests[*e.ID]; q.state == waiting {
			r.do(e, func() string {
				r.setTime(e.T)
				r.abandon(q)
				return ""
			})
		}
	case "limit":
		r.do(e, func() string {
			r.setTime(e.T)
			r.configure(*e.Seats, r.queues, r.hand, r.length)
			return ""
		})
	case "resize":
		r.do(e, func() string {
			r.setTime(e.T)
			r.configure(r.level.seats, *e.Queues, *e.Hand, *e.Length)
			return ""
		})
	}
}

func (r *run) playArrival(e event) {
	for len(r.requests) <= *e.ID {
		r.requests = append(r.requests, &request{id: len(r.requests)})
	}
	q := r.requests[*e.ID]
	q.work = fqrequest.WorkEstimate{InitialSeats: *e.Initial,
		FinalSeats: *e.Final, AdditionalLatency: time.Duration(*e.Latency)}
	q.total = uint64(fqrequest.SeatsTimesDuration(float64(*e.Initial), 3e6) +
		fqrequest.SeatsTimesDuration(float64(*e.Final),
			time.Duration(*e.Latency)))
	r.live = append(r.live, q)
	met["arrivals"]++
	r.do(e, func() string {
		r.setTime(e.T)
		verdict := r.arrive(q, *e.Hash)
		if verdict == "queue-full" {
			met[verdict]++
		}
		return verdict
	})
}

func (r *run) playFinish(e event, q *request) {
	// Nobody else may be released at the moment when it is.
	for latency := q.latency(); latency > 0; {
		if _, taken := r.lingerer[e.T+latency]; !taken {
			break
		}
		e.T = r.free(e.T + 1)
	}
	met["finishes"]++
	r.do(e, func() string {
		r.setTime(e.T)
		latency := q.latency()
		r.level.finish(q)
		if latency > 0 {
			met["lingering"]++
			q.state = lingering
			r.lingerer[e.T+latency] = q
			r.event.Lingers = latency
		}
		return ""
	})
}

// judgeTrace follows both sides.  They have to be equal, but that where the
// reference rounded R otherwise all that comes of this R is off by as much.
func judgeTrace(t *trace, want, got []outcome) string {
	if n := len(got); n > 0 && got[n-1].Broken != "" {
		return fmt.Sprintf("event %d: %s", n-1, got[n-1].Broken)
	}
	if len(got) != len(want) {
		return fmt.Sprintf("%d events became %d", len(want), len(got))
	}
	off := int64(0)
	seen := map[int64]bool{0: true}
	refs, ours := map[uint64]uint64{}, map[uint64]uint64{}
	for i, w := range want {
		g, h := got[i], t.hints[i]
		if g.Verdict != w.Verdict || !slices.Equal(g.Dispatched, w.Dispatched) {
			if h.margin < nearTie && len(seen) > 1 {
				met["traces cut short at a near-tie"]++
				return ""
			}
			return fmt.Sprintf("event %d: refused %q, dispatched %v; not %q, %v",
				i, g.Verdict, g.Dispatched, w.Verdict, w.Dispatched)
		}
		if d := int64(g.R - w.R); d != off {
			if !h.half || max(d-off, off-d) > 1 {
				return fmt.Sprintf("event %d: R is %d, not %d", i, g.R, w.R)
			}
			met["R rounded otherwise by the reference"]++
			off = d
			seen[d] = true
		}
		if g.InUse != w.InUse || g.Waiting != w.Waiting || g.Lingers != w.Lingers {
			return fmt.Sprintf("event %d: %d seats in use, %d waiting, lingers %d; not %d, %d, %d",
				i, g.InUse, g.Waiting, g.Lingers, w.InUse, w.Waiting, w.Lingers)
		}
		for _, q := range w.Queues {
			refs[q[0]] = q[1]
		}
		for _, q := range g.Queues {
			ours[q[0]] = q[1]
		}
		for _, q := range slices.Concat(w.Queues, g.Queues) {
			if !seen[int64(ours[q[0]]-refs[q[0]])] {
				return fmt.Sprintf("event %d: next dispatch of queue %d is %d, not %d",
					i, q[0], ours[q[0]], refs[q[0]])
			}
		}
	}
	return ""
}

// describeTrace prints events up to the first of which the outcomes differ.
func describeTrace(t *trace, want, got []outcome) {
	fmt.Printf("level:     %d seats, %s, R %d\n", t.Seats, text(t.sizes), t.R)
	for i, e := range t.Events[:min(len(t.Events), len(got))] {
		fmt.Printf("event %d:   %s\n", i, text(e))
		if !reflect.DeepEqual(want[i], got[i]) {
			fmt.Printf("reference: %s\nkapf:      %s\n", text(want[i]),
				text(got[i]))
			break
		}
		fmt.Printf("both:      %s\n", text(want[i]))
	}
}

// smallerTraces makes the level smaller and leaves out ever shorter runs of
// events.
func smallerTraces(t *trace) iter.Seq[*trace] {
	return func(yield func(*trace) bool) {
		for _, s := range smallerLevels(t) {
			if !yield(replay(&s, t.Events)) {
				return
			}
		}
		for size := len(t.Events) / 2; size > 0; size /= 2 {
			for from := 0; from < len(t.Events); from += size {
				to := min(from+size, len(t.Events))
				s := replay(t, slices.Concat(t.Events[:from], t.Events[to:]))
				if len(s.Events) < len(t.Events) && !yield(s) {
					return
				}
			}
		}
	}
}

func smallerLevels(t *trace) (list []trace) {
	seats, queues, hand := t.Seats, *t.Queues, *t.Hand
	if seats > 1 {
		list = append(list, trace{Seats: seats / 2, sizes: t.sizes},
			trace{Seats: seats - 1, sizes: t.sizes})
	}
	if hand > 1 {
		hand--
		list = append(list, trace{Seats: seats, sizes: sizes{t.Queues, &hand,
			t.Length}})
	} else if queues > 1 {
		queues--
		list = append(list, trace{Seats: seats, sizes: sizes{&queues, t.Hand,
			t.Length}})
	}
	return list
}

// replay plays such of the events as remain possible.
func replay(t *trace, events []event) *trace {
	r := newRun(t.Seats, t.sizes)
	arrived := map[int]bool{}
	for _, e := range events {
		if e.ID != nil && e.Op != "arrive" && !arrived[*e.ID] {
			continue
		}
		if e.Op == "arrive" {
			arrived[*e.ID] = true
		}
		r.play(e)
	}
	return r.trace
}

// profile is what a trace is like.
type profile struct {
	rand    *rand.Rand
	flows   []uint64
	step    uint64 // ns from one event to the next, about
	grain   uint64 // of which all times are multiples
	widest  uint64
	alike   bool    // all requests
	wide    float64 // how often a request has final seats
	latency uint64  // ns, the longest
	load    int     // requests to have at a time
	changes bool
}

func drawSizes(r *rand.Rand) sizes {
	queues := []int{0, 1, 2, 1 + r.IntN(8), 1 + r.IntN(8), 1 + r.IntN(64)}[r.IntN(6)]
	hand, length := 0, 0
	if queues > 0 {
		hand = 1 + r.IntN(min(8, largestHand(queues)))
		length = []int{0, 1, 1 + r.IntN(10), 50, 50}[r.IntN(5)]
	}
	return sizes{&queues, &hand, &length}
}

func drawSeats(r *rand.Rand) int {
	return []int{0, 1 + r.IntN(4), 1 + r.IntN(4), 1 + r.IntN(10),
		1 + r.IntN(10), 1 + r.IntN(80)}[r.IntN(6)]
}

func drawTrace(rnd *rand.Rand) *trace {
	s := drawSizes(rnd)
	if *s.Queues == 0 && rnd.IntN(2) == 0 {
		s = drawSizes(rnd)
	}
	p := profile{
		rand:    rnd,
		step:    uint64([]float64{1e4, 1e5, 1e6, 3e6, 1e7, 1e8}[rnd.IntN(6)]),
		widest:  []uint64{1, 3, 10, 40}[rnd.IntN(4)],
		alike:   rnd.IntN(3) > 0,
		wide:    []float64{0, 0.3, 0.9}[rnd.IntN(3)],
		latency: uint64([]float64{1e6, 1e7, 1e8, 1e9}[rnd.IntN(4)]),
		changes: rnd.IntN(3) == 0,
	}
	for range 1 + rnd.IntN(12) {
		p.flows = append(p.flows, rnd.Uint64())
	}
	// Where all times are multiples of few, virtual finishes are often equal.
	p.grain = []uint64{1, 25200, p.step, p.step}[rnd.IntN(4)]
	r := newRun(drawSeats(rnd), s)
	capacity := r.level.seats + r.queues*(1+r.length)
	p.load = 1 + rnd.IntN(min(capacity*5/4+1, 40))
	if r.level.seats == 0 {
		p.changes = true
	}
	length := 500
	if recording {
		length = 60 // so that a file holds many traces
	}
	for len(r.Events) < length {
		r.play(p.next(r))
	}
	return r.trace
}

func (p *profile) times(most uint64) uint64 {
	t := p.rand.Uint64N(most + 1)
	return t - t%p.grain
}

func (p *profile) next(r *run) event {
	t := r.now + 1 + p.times(2*p.step)
	t += (p.grain - t%p.grain) % p.grain
	r.live = slices.DeleteFunc(r.live, func(q *request) bool {
		return q.state == gone || q.state == lingering
	})
	var w, e []*request
	for _, q := range r.live {
		if q.state == waiting {
			w = append(w, q)
		} else {
			e = append(e, q)
		}
	}
	if p.changes && p.rand.IntN(20) == 0 {
		if p.rand.IntN(2) == 0 {
			seats := drawSeats(p.rand)
			return event{Op: "limit", T: t, Seats: &seats}
		}
		return event{Op: "resize", T: t, sizes: drawSizes(p.rand)}
	}
	if len(w) > 0 && p.rand.IntN(12) == 0 {
		return event{Op: "cancel", T: t, ID: &w[p.rand.IntN(len(w))].id}
	}
	if len(e) > 0 && (p.rand.IntN(p.load+1) < len(w)+len(e) ||
		p.rand.IntN(4) == 0) {
		return event{Op: "finish", T: t, ID: &e[p.rand.IntN(len(e))].id}
	}
	return p.arrival(r, t)
}

func (p *profile) arrival(r *run, t uint64) event {
	id := len(r.requests)
	hash := p.flows[p.rand.IntN(len(p.flows))]
	initial, final, latency := uint64(1), uint64(0), uint64(0)
	if p.alike {
		initial = p.widest
		if p.wide > 0.5 {
			final, latency = p.widest, p.latency-p.latency%p.grain
		}
	} else {
		initial = 1 + p.rand.Uint64N(p.widest)
		if p.rand.Float64() < p.wide {
			final = p.rand.Uint64N(p.widest + 1)
			if p.rand.IntN(3) == 0 {
				final += uint64(r.level.seats)
			}
			latency = p.times(p.latency)
		}
	}
	return event{Op: "arrive", T: t, ID: &id, Hash: &hash,
		Initial: &initial, Final: &final, Latency: &latency}
}
