// SPDX-License-Identifier: GPL-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
	fq "k8s.io/apiserver/pkg/util/flowcontrol/fairqueuing"
	"k8s.io/apiserver/pkg/util/flowcontrol/fairqueuing/eventclock"
	fqrequest "k8s.io/apiserver/pkg/util/flowcontrol/request"
)

// crew are the workers, one goroutine each, with the levels that they share: the
// reference's queue sets, as a server has them, but without deadlines and metrics,
// which nothing here depends on and which would only be slower.
//
// The reference lives in one process.  When that is killed its seats do not return
// to anybody, for nobody is left; so there is no answer to whether they do.
type crew struct {
	*workload
	levels []fq.QueueSet
	exempt fq.QueueSet

	ready   atomic.Int64
	begin   chan struct{}
	start   time.Time // when that is closed
	stopped atomic.Bool
	done    sync.WaitGroup

	finished []counter // by worker
	samples  []int64   // ns; 0: not yet
}

// counter has a cache line of its own.
type counter struct {
	atomic.Int64
	_ [56]byte
}

// holdFor is how long the first seats are kept beyond what every worker needs to ask.
const holdFor = 20 * time.Millisecond

func newCrew(w *workload, workers int) *crew {
	// Each level has a lock; more processors than these only get in their way.
	runtime.GOMAXPROCS(min(w.levels, runtime.NumCPU()))
	c := &crew{workload: w, begin: make(chan struct{}),
		finished: make([]counter, workers)}
	for range w.levels {
		c.levels = append(c.levels, newQueueSet(eventclock.Real{}, w.level))
	}
	// As the reference has it: less than no queues.
	c.exempt = newQueueSet(eventclock.Real{}, levelConfig{Queues: -1})
	return c
}

// do has a request wait for its seats, and work while it has them.
func (c *crew) do(d *demand, work func()) {
	set := c.exempt
	if !d.exempt {
		set = c.levels[d.level]
	}
	request, _ := set.StartRequest(context.Background(),
		&fqrequest.WorkEstimate{InitialSeats: uint64(d.seats)}, d.hash,
		"", "", nil, nil, nil)
	if request == nil {
		fail("a request was refused")
	}
	executed := false
	request.Finish(func() {
		executed = true
		work()
	})
	if !executed {
		fail("a request was not executed")
	}
}

// run starts the workers, and the time when all are ready.
func (c *crew) run(worker func(number int)) {
	for number := range c.finished {
		c.done.Go(func() { worker(number) })
	}
	for c.ready.Load() < int64(len(c.finished)) {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(holdFor)
	c.start = time.Now()
	close(c.begin)
}

// first is a request that keeps its seats to the start.
func (c *crew) first(d *demand) {
	c.ready.Add(1)
	c.do(d, func() { <-c.begin })
}

// count is how many requests some workers have finished.
func (c *crew) count(from, n int) (sum int64) {
	for i := range n {
		sum += c.finished[from+i].Load()
	}
	return sum
}

// alarm is a timer of the kernel's.  Those of Go are of whole milliseconds when nothing
// else is to be done, which would lengthen each hold of a seat; and a goroutine that
// sleeps in a system call costs its processor.
type alarm struct {
	fd   int
	file *os.File // the same; waits without a thread
}

func newAlarm() alarm {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC,
		unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		fail("timerfd_create: %v", err)
	}
	return alarm{fd, os.NewFile(uintptr(fd), "timerfd")}
}

func (a alarm) sleep(d time.Duration) {
	if d <= 0 {
		return
	}
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(d.Nanoseconds())}
	if err := unix.TimerfdSettime(a.fd, 0, &spec, nil); err != nil {
		fail("timerfd_settime: %v", err)
	}
	var expired [8]byte
	if _, err := a.file.Read(expired[:]); err != nil {
		fail("a timer: %v", err)
	}
}

// drawn is how many requests a worker draws.
const drawn = 256

// wait sleeps for a time; and, if nobody has finished anything by then, since a busy
// machine may have had no time for any of them, again, for 10 s at most.
func (c *crew) wait(finished int64) {
	begin, alarm := time.Now(), newAlarm()
	for {
		alarm.sleep(time.Duration(c.seconds * 1e9))
		if c.count(0, len(c.finished)) > finished ||
			time.Since(begin) > 10*time.Second {
			return
		}
	}
}

func runClosed(w *workload) {
	c := newCrew(w, w.workers)
	c.run(func(number int) {
		random := newStream(w.seed, uint64(number))
		var demands [drawn]demand
		for i := range demands {
			demands[i] = w.draw(random)
		}
		c.first(&demands[0])
		nothing := func() {}
		for i := 1; ; i++ {
			c.do(&demands[i%drawn], nothing)
			c.finished[number].Add(1)
		}
	})
	begin, count := time.Now(), c.count(0, w.workers)
	c.wait(count)
	elapsed := time.Since(begin)
	count = c.count(0, w.workers) - count
	if count == 0 {
		fail("no request was finished")
	}
	fmt.Println("ns", float64(elapsed.Nanoseconds())/float64(count))
}

// percentile of sorted samples, in ms
func percentile(samples []int64, percent int) float64 {
	return float64(samples[max(1, (len(samples)*percent+99)/100)-1]) / 1e6
}

func runOpen(w *workload) {
	c := newCrew(w, w.workers)
	arrivals := w.arrivals()
	if len(arrivals) == 0 {
		fail("no request arrives")
	}
	c.samples = make([]int64, len(arrivals))
	hold := time.Duration(w.holdUs) * time.Microsecond
	var next atomic.Int64
	c.run(func(int) {
		alarm := newAlarm()
		c.ready.Add(1)
		<-c.begin
		for {
			i := next.Add(1) - 1
			if i >= int64(len(arrivals)) {
				return
			}
			due := c.start.Add(time.Duration(arrivals[i].ns))
			d := w.demand(uint64(arrivals[i].flow))
			alarm.sleep(time.Until(due))
			c.do(&d, func() { alarm.sleep(hold) })
			c.samples[i] = time.Since(due).Nanoseconds()
		}
	})
	c.done.Wait()
	slices.Sort(c.samples)
	fmt.Println("p50_ms", percentile(c.samples, 50))
	fmt.Println("p99_ms", percentile(c.samples, 99))
}

// light is the worker of the light flow.
func (c *crew) light(number int) {
	d := c.demand(uint64(c.flows - 1))
	hold := time.Duration(c.holdUs) * time.Microsecond
	alarm := newAlarm()
	c.ready.Add(1)
	<-c.begin
	for i := range c.samples {
		due := c.start.Add(time.Duration(i * 1e9 / c.rate))
		alarm.sleep(time.Until(due))
		if c.stopped.Load() {
			return
		}
		c.do(&d, func() {
			atomic.StoreInt64(&c.samples[i], time.Since(due).Nanoseconds())
			alarm.sleep(hold)
		})
		c.finished[number].Add(1)
	}
}

// jain is the index of what the flows have had, by what they are entitled to.
func (c *crew) jain() float64 {
	all := float64(c.count(0, len(c.finished)))
	light := min(float64(c.rate)*c.seconds, all/float64(c.flows))
	sum, squares, worker := 0.0, 0.0, 0
	for flow := range c.flows {
		n, entitled := c.fairWorkers, (all-light)/float64(c.flows-1)
		switch flow {
		case 0:
			n = c.workers
		case c.flows - 1:
			n, entitled = 1, light
		}
		part := float64(c.count(worker, n)) / entitled
		worker += n
		sum += part
		squares += part * part
	}
	return sum * sum / (float64(c.flows) * squares)
}

func runFair(w *workload) {
	workers := w.workers + (w.flows-2)*w.fairWorkers + 1
	c := newCrew(w, workers)
	c.samples = make([]int64, int(float64(w.rate)*w.seconds))
	if len(c.samples) == 0 {
		fail("too short for the light flow")
	}
	hold := time.Duration(w.holdUs) * time.Microsecond
	c.run(func(number int) {
		if number == workers-1 {
			c.light(number)
			return
		}
		flow := 0
		if number >= w.workers {
			flow = 1 + (number-w.workers)/w.fairWorkers
		}
		d := w.demand(uint64(flow))
		alarm := newAlarm()
		c.first(&d)
		for !c.stopped.Load() {
			c.do(&d, func() { alarm.sleep(hold) })
			c.finished[number].Add(1)
		}
	})
	c.wait(0)
	end := time.Now()
	w.seconds = end.Sub(c.start).Seconds()
	jain := c.jain()
	c.stopped.Store(true)
	c.done.Wait()
	for i, sample := range c.samples {
		if sample == 0 { // it has waited to the end, at least
			c.samples[i] = end.Sub(c.start).Nanoseconds() -
				int64(i*1e9/w.rate)
		}
	}
	slices.Sort(c.samples)
	fmt.Println("jain", jain)
	fmt.Println("light_p99_ms", percentile(c.samples, 99))
}
