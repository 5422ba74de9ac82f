// SPDX-License-Identifier: GPL-2.0

package main

import (
	"container/list"
	"context"
	"math/rand"
	"reflect"
	"slices"
	"time"
	"unsafe"

	fq "k8s.io/apiserver/pkg/util/flowcontrol/fairqueuing"
	"k8s.io/apiserver/pkg/util/flowcontrol/fairqueuing/queueset"
	"k8s.io/apiserver/pkg/util/flowcontrol/fairqueuing/testing/eventclock"
	"k8s.io/apiserver/pkg/util/flowcontrol/metrics"
	fqrequest "k8s.io/apiserver/pkg/util/flowcontrol/request"
	"k8s.io/apiserver/pkg/util/shufflesharding"
)

// level is a queue set of the reference on a clock of the test's, with what has
// to be known of its inside.  Where it differs from kapf on purpose, level makes
// up for the difference, and counts that.
type level struct {
	clock *eventclock.Fake
	start time.Time
	set   fq.QueueSet
	raw   unsafe.Pointer // the queueSet itself

	seats, queues, hand, length int

	// requests are all that ever arrived, by number.
	requests []*request

	// kept are the queues, surplus ones too, each with who waits in it.
	kept []*queue

	// leaked are seats that the reference goes on counting as waiting.
	leaked int

	// event is what the present one led to.
	event outcome

	// last is the queue dispatched last.
	last *queue

	// margin is the least distance in this event from the virtual finish
	// that was chosen to the next one.
	margin uint64
}

type request struct {
	id     int
	work   fqrequest.WorkEstimate
	total  uint64
	queue  *queue // nil: none
	ref    fq.Request
	raw    unsafe.Pointer // ref's
	cancel func()
	state  requestState
}

type requestState int

const (
	gone requestState = iota
	waiting
	executing
	lingering
)

type queue struct {
	raw     unsafe.Pointer
	index   int
	waiting []*request
	told    uint64
}

// The reference's own types, and where in them is what.
var (
	setType   = reflect.TypeOf(newSet(nil)).Elem()
	queueType = typeOf(setType, "queues").Elem().Elem()

	setQueues    = offset(setType, "queues")
	setR         = offset(setType, "currentR")
	setRobin     = offset(setType, "robinIndex")
	setSeats     = offset(setType, "totSeatsInUse")
	setWaiting   = offset(setType, "totSeatsWaiting")
	setExecuting = offset(setType, "totRequestsExecuting")

	queueWaiting   = offset(queueType, "requestsWaiting")
	queueR         = offset(queueType, "nextDispatchR")
	queueIndex     = offset(queueType, "index")
	queueSeats     = offset(queueType, "seatsInUse")
	queueExecuting = offset(queueType, "requestsExecuting")

	// A queue's set of them is a map from pointers.
	requestType     = typeOf(queueType, "requestsExecuting").Key().Elem()
	requestR        = offset(requestType, "arrivalR")
	requestEstimate = offset(requestType, "workEstimate")
	estimateLatency = offset(typeOf(requestType, "workEstimate"),
		"AdditionalLatency")
)

func typeOf(t reflect.Type, name string) reflect.Type {
	f, ok := t.FieldByName(name)
	if !ok {
		fatal("the reference's %v has no %s", t, name)
	}
	return f.Type
}

func offset(t reflect.Type, name string) uintptr {
	typeOf(t, name)
	f, _ := t.FieldByName(name)
	return f.Offset
}

// at is the field at an offset.
func at[T any](p unsafe.Pointer, offset uintptr) *T {
	return (*T)(unsafe.Add(p, offset))
}

// unmetered is a gauge that nobody reads.
type unmetered struct{}

func (unmetered) Set(float64)            {}
func (unmetered) Inc()                   {}
func (unmetered) Dec()                   {}
func (unmetered) Add(float64)            {}
func (unmetered) SetToCurrentTime()      {}
func (unmetered) SetDenominator(float64) {}

func newSet(clock *eventclock.Fake) fq.QueueSet {
	if clock == nil {
		clock, _ = eventclock.NewFake(time.Unix(0, 0), 0, nil)
	}
	completer, err := queueset.NewQueueSetFactory(clock).BeginConstruction(
		fq.QueuingConfig{Name: "level"},
		metrics.RatioedGaugePair{RequestsWaiting: unmetered{},
			RequestsExecuting: unmetered{}},
		unmetered{}, unmetered{})
	if err != nil {
		fatal("%v", err)
	}
	return completer.Complete(fq.DispatchingConfig{ConcurrencyDenominator: 1})
}

func newLevel(r uint64, seats, queues, hand, length int) *level {
	l := &level{start: time.Unix(0, 0)}
	l.clock, _ = eventclock.NewFake(l.start, 0, rand.New(rand.NewSource(1)))
	l.set = newSet(l.clock)
	l.raw = reflect.ValueOf(l.set).UnsafePointer()
	*at[uint64](l.raw, setR) = r
	l.configure(seats, queues, hand, length)
	return l
}

// configure makes the level's configuration another one, or the same one again;
// either way the reference dispatches then what it can.
func (l *level) configure(seats, queues, hand, length int) {
	l.seats, l.queues, l.hand, l.length = seats, queues, hand, length
	completer, err := l.set.BeginConfigChange(fq.QueuingConfig{
		Name: "level", DesiredNumQueues: queues,
		HandSize: hand, QueueLengthLimit: length})
	if err != nil {
		fatal("%v", err)
	}
	completer.Complete(fq.DispatchingConfig{ConcurrencyLimit: seats,
		ConcurrencyDenominator: max(seats, 1)})
	for _, raw := range l.rawQueues()[len(l.kept):] {
		l.kept = append(l.kept, &queue{raw: raw, index: len(l.kept)})
	}
}

func (l *level) rawQueues() []unsafe.Pointer {
	return *at[[]unsafe.Pointer](l.raw, setQueues)
}

func (l *level) queueOf(raw unsafe.Pointer) *queue {
	i := slices.IndexFunc(l.kept, func(q *queue) bool { return q.raw == raw })
	return l.kept[i]
}

func (l *level) r() uint64 { return *at[uint64](l.raw, setR) }

func (l *level) seatsInUse() int { return *at[int](l.raw, setSeats) }

func (l *level) nrExecuting() int { return *at[int](l.raw, setExecuting) }

func (q *queue) nextDispatchR() uint64 { return *at[uint64](q.raw, queueR) }

func (q *queue) seatsInUse() int { return *at[int](q.raw, queueSeats) }

// nrExecuting is the length of a set of requests: a map, of any type.
func (q *queue) nrExecuting() int {
	return len(*at[map[unsafe.Pointer]struct{}](q.raw, queueExecuting))
}

// nrWaiting is the length of a list behind an interface.
func (q *queue) nrWaiting() int {
	fifo := *at[unsafe.Pointer](q.raw, queueWaiting+unsafe.Sizeof(q.raw))
	return (*at[*list.List](fifo, 0)).Len()
}

func (q *queue) active() bool {
	return len(q.waiting) > 0 || q.nrExecuting() > 0
}

// nextRelease is when the next request stops lingering, in ns.
func (l *level) nextRelease() (uint64, bool) {
	t, ok := l.clock.GetNextTime()
	return uint64(t.Sub(l.start)), ok
}

func (l *level) setTime(t uint64) {
	l.clock.SetTime(l.start.Add(time.Duration(t)))
}

// arrive is a request; it may be dispatched at once.
func (l *level) arrive(r *request, hash uint64) string {
	ctx, cancel := context.WithCancel(context.Background())
	r.cancel = cancel
	if l.queues == 0 && l.seats == 0 {
		if l.nrExecuting() == 0 {
			met["a Reject level without seats admits nobody"]++
		}
		return "concurrency-limit"
	}
	var hand []int
	if l.queues > 0 {
		dealer, err := shufflesharding.NewDealer(l.queues, l.hand)
		if err != nil {
			fatal("%v", err)
		}
		hand = dealer.DealIntoHand(hash, make([]int, l.hand))
	}
	r.ref, _ = l.set.StartRequest(ctx, &r.work, hash, "", "", nil, nil,
		func(inQueue bool) {
			if inQueue {
				l.enqueued(r, hand)
			} else if r.state == waiting {
				l.dispatched(r)
			}
		})
	if r.ref != nil {
		r.raw = reflect.ValueOf(r.ref).UnsafePointer()
	}
	switch {
	case r.ref == nil && l.queues == 0:
		return "concurrency-limit"
	case r.ref == nil:
		return "queue-full"
	case l.queues == 0:
		r.state = executing
		l.event.Dispatched = append(l.event.Dispatched, r.id)
		l.count(r)
	}
	return ""
}

// enqueued is called when a request has been put in one of the queues of its
// hand: that where more wait than are known to.
func (l *level) enqueued(r *request, hand []int) {
	for _, card := range hand {
		q := l.kept[card]
		if q.nrWaiting() > len(q.waiting) {
			q.waiting = append(q.waiting, r)
			r.queue = q
			r.state = waiting
			return
		}
	}
	fatal("request %d is in none of its queues", r.id)
}

// dispatched is called when a request leaves its queue to be executed, before
// its queue is charged for it.
func (l *level) dispatched(r *request) {
	q := r.queue
	l.last = q
	choice := l.marginOver(q, q.nextDispatchR()+r.total)
	q.waiting = slices.Delete(q.waiting, 0, 1)
	r.state = executing
	l.event.Dispatched = append(l.event.Dispatched, r.id)
	met["dispatches"]++
	if choice {
		met["dispatches with a choice"]++
	}
	l.count(r)

	clipped := min(int(r.work.FinalSeats), l.seats)
	if clipped < int(r.work.FinalSeats) {
		met["dispatches with clipped final seats"]++
		leak := r.width() - max(int(r.work.InitialSeats), clipped)
		if leak > 0 {
			met["a clipped width no longer counts as waiting"]++
		}
		l.leaked += leak
	}
}

func (l *level) count(r *request) {
	if r.width() > l.seats {
		met["dispatches of a lone wide request"]++
	}
}

// marginOver compares the virtual finish that was chosen with the heads of the
// other queues; false if there are none.
func (l *level) marginOver(chosen *queue, finish uint64) bool {
	choice, tie := false, false
	for _, q := range l.kept {
		if q == chosen || len(q.waiting) == 0 {
			continue
		}
		choice = true
		other := q.nextDispatchR() + q.waiting[0].total
		tie = tie || other == finish
		l.margin = min(l.margin, max(other, finish)-min(other, finish))
	}
	if tie {
		met["ties"]++
	}
	return choice
}

// finishR is when the oldest request would finish in the virtual world.
func (q *queue) finishR() uint64 {
	return q.nextDispatchR() + q.waiting[0].total
}

func (q *queue) oldest() *request {
	if len(q.waiting) == 0 {
		return nil
	}
	return q.waiting[0]
}

// arrivalR is when it arrived in the virtual world.
func (r *request) arrivalR() uint64 { return *at[uint64](r.raw, requestR) }

// latency is its additional one, which a dispatch may change.
func (r *request) latency() uint64 {
	return *at[uint64](r.raw, requestEstimate+estimateLatency)
}

func (r *request) width() int {
	return int(max(r.work.InitialSeats, r.work.FinalSeats))
}

// finish is the end of a request that executes.
func (l *level) finish(r *request) {
	r.ref.Finish(func() {})
	r.cancel()
	r.state = gone
}

// abandon takes a waiting request out of its queue.  The reference leaves it at
// that, kapf dispatches.
func (l *level) abandon(r *request) {
	r.state = gone
	i := slices.Index(r.queue.waiting, r)
	r.queue.waiting = slices.Delete(r.queue.waiting, i, i+1)
	r.cancel()
	r.ref.Finish(func() { fatal("request %d was not waiting", r.id) })
	l.configure(l.seats, l.queues, l.hand, l.length)
	if len(l.event.Dispatched) > 0 {
		met["a cancel dispatches"]++
	}
}

// putBack restores a queue that the reference has removed since there are fewer
// queues now: it does so with any queue that goes idle, and those behind it take
// its index; kapf keeps all until the last ones are idle.
func (l *level) putBack(robin int) {
	if len(l.rawQueues()) == len(l.kept) {
		return
	}
	all := make([]unsafe.Pointer, len(l.kept))
	for i, q := range l.kept {
		all[i] = q.raw
		*at[int](q.raw, queueIndex) = i
	}
	*at[[]unsafe.Pointer](l.raw, setQueues) = all
	if l.last != nil {
		robin = l.last.index
	}
	*at[int](l.raw, setRobin) = robin
	met["of fewer queues the idle ones stay"]++
}
