// SPDX-License-Identifier: GPL-2.0

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"os"
	"os/exec"
	"reflect"
	"sync"
)

// area is one of the things in which kapf has to equal the reference, with
// cases of type C and answers of type A.
type area[C, A any] struct {
	name string

	// draw makes a random case.
	draw func(r *rand.Rand) C

	// answer is the reference's.
	answer func(c C) A

	// judge says how kapf's answer is wrong, or nothing; nil: it has to be
	// the same.
	judge func(c C, want, got A) string

	// describe prints a mismatch in another form than JSON; may be nil.
	describe func(c C, want, got A)

	// smaller yields cases that are like c, but smaller; may be nil.
	smaller func(c C) iter.Seq[C]

	// wanted are the kinds of cases and of explained differences that a run
	// has to meet, see met; one that never met some proves nothing of them.
	wanted []string

	// enough cases for wanted and shares to be demanded; 0: 1000.
	enough int

	// shares bound how often a kind occurs.
	shares []share
}

// share says that of all that is of kind of, the part that is of kind name is at
// least and at most so many percent.
type share struct {
	name, of    string
	least, most float64
}

// met counts, over a run, what the cases were like and which deliberate
// differences or near-ties explained an answer.  Whoever may count holds the lock.
var (
	met  = map[string]int{}
	lock sync.Mutex
)

// recording: the cases are to be written to a file, so small ones are better.
var recording bool

// peer is the running program that answers for kapf: a line for each line.
type peer struct {
	cmd *exec.Cmd
	in  *bufio.Writer
	out *bufio.Reader
	end io.Closer
}

func start(o options) *peer {
	cmd := exec.Command(o.ours, o.area)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err == nil {
		var out io.ReadCloser
		out, err = cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err == nil {
			return &peer{cmd, bufio.NewWriterSize(in, 1<<16),
				bufio.NewReaderSize(out, 1<<16), in}
		}
	}
	fatal("cannot run %s: %v", o.ours, err)
	return nil
}

func (p *peer) ask(c any) {
	line, err := json.Marshal(c)
	if err == nil {
		_, err = p.in.Write(append(line, '\n'))
	}
	if err != nil {
		fatal("cannot ask kapf's side about %s: %v", line, err)
	}
}

// hear is the answer to a case, the next one asked.
func (p *peer) hear(c, answer any) {
	line, err := p.out.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, answer)
	}
	if err != nil {
		fatal("kapf's side answered %q (%v) to %s", line, err, text(c))
	}
}

func (p *peer) stop() {
	p.in.Flush()
	p.end.Close()
	if err := p.cmd.Wait(); err != nil {
		fatal("kapf's side ended badly: %v", err)
	}
}

func fatal(format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
	os.Exit(1)
}

func (a *area[C, A]) wrong(c C, want, got A) string {
	if a.judge != nil {
		return a.judge(c, want, got)
	}
	if reflect.DeepEqual(want, got) {
		return ""
	}
	return "the answers differ"
}

// recorded is a line of a file of vectors.  The answer is kapf's, once it has been
// judged: where it need not be the reference's to the last bit, it is what kapf
// has to answer again.
type recorded[C, A any] struct {
	Case   C `json:"case"`
	Answer A `json:"answer"`
}

// asked is a case on its way to kapf's side and back.
type asked[C, A any] struct {
	number int
	c      C
	want   A
}

// compare runs all cases; it says what came out and whether all is well.
func (a *area[C, A]) compare(o options) bool {
	var record *json.Encoder

	if o.record != "" {
		file, err := os.Create(o.record)
		if err != nil {
			fatal("%v", err)
		}
		defer file.Close()
		recording = true
		record = json.NewEncoder(file)
		record.SetEscapeHTML(false)
	}
	fmt.Printf("area %s, seed %d\n", a.name, o.seed)

	kapf := start(o)
	// So many that neither side waits for the other, few enough that a
	// pipe's buffer does not matter.
	pending := make(chan asked[C, A], 256)
	go func() {
		for i := range o.cases {
			lock.Lock()
			c := a.draw(rand.New(rand.NewPCG(o.seed, uint64(i))))
			want := a.answer(c)
			lock.Unlock()
			kapf.ask(c)
			if i%64 == 63 {
				kapf.in.Flush()
			}
			pending <- asked[C, A]{i, c, want}
		}
		kapf.in.Flush()
		close(pending)
	}()

	mismatches := 0
	for p := range pending {
		var got A
		kapf.hear(p.c, &got)
		lock.Lock()
		if why := a.wrong(p.c, p.want, got); why == "" {
			if record == nil {
				// Nothing.
			} else if err := record.Encode(recorded[C, A]{p.c, got}); err != nil {
				fatal("%v", err)
			}
		} else if mismatches++; mismatches == 1 {
			fmt.Printf("case %d: %s\n", p.number, why)
			a.show(o, p.c)
		}
		lock.Unlock()
	}
	kapf.stop()

	fmt.Printf("%d cases, %d mismatches\n", o.cases, mismatches)
	enough := a.enough
	if enough == 0 {
		enough = 1000
	}
	return a.account(o.cases >= enough) && mismatches == 0
}

// account prints what was met; false if there were cases enough and something
// wanted was not.
func (a *area[C, A]) account(enough bool) bool {
	all := true
	for _, kind := range a.wanted {
		fmt.Printf("%10d  %s\n", met[kind], kind)
		if enough && met[kind] == 0 {
			fmt.Printf("%10s  %s\n", "too few:", kind)
			all = false
		}
	}
	for _, s := range a.shares {
		percent := 100 * float64(met[s.name]) / float64(met[s.of])
		fmt.Printf("%9.3f%%  %s, of %d %s\n", percent, s.name, met[s.of],
			s.of)
		if enough && !(percent >= s.least && percent <= s.most) {
			fmt.Printf("%10s  %s: %v to %v %% wanted\n", "not so:",
				s.name, s.least, s.most)
			all = false
		}
	}
	return all
}

// show prints the smallest case like c that also fails.
func (a *area[C, A]) show(o options, c C) {
	var got A

	kapf := start(o)
	for a.smaller != nil {
		shrunk := false
		for s := range a.smaller(c) {
			if a.mismatch(kapf, s) {
				c = s
				shrunk = true
				break
			}
		}
		if !shrunk {
			break
		}
	}
	kapf.ask(c)
	kapf.in.Flush()
	kapf.hear(c, &got)
	kapf.stop()
	want := a.answer(c)
	fmt.Printf("why:       %s\n", a.wrong(c, want, got))
	if a.describe != nil {
		a.describe(c, want, got)
		return
	}
	fmt.Printf("case:      %s\n", text(c))
	fmt.Printf("reference: %s\n", text(want))
	fmt.Printf("kapf:      %s\n", text(got))
}

func (a *area[C, A]) mismatch(kapf *peer, c C) bool {
	var got A

	want := a.answer(c)
	kapf.ask(c)
	kapf.in.Flush()
	kapf.hear(c, &got)
	return a.wrong(c, want, got) != ""
}

func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		fatal("%v", err)
	}
	return string(b)
}
