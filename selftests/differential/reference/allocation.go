// SPDX-License-Identifier: GPL-2.0

package main

import (
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"

	v1 "k8s.io/api/flowcontrol/v1"
)

// allocationCase is a server and its levels, field by field: their configuration
// and their demand of the last period.  The first level is exempt.
type allocationCase struct {
	Server    int      `json:"server"`
	Shares    []int32  `json:"shares"`
	Lendable  []int32  `json:"lendable"`
	Borrowing []*int32 `json:"borrowing"`
	Watermark []int    `json:"watermark"`
	Smoothed  []uint64 `json:"smoothed"` // with 32 bits of fraction
}

// allocationAnswer has the levels' limits, field by field, and how seats are
// divided: when the levels are new, and after the period.
type allocationAnswer struct {
	Nominal []int    `json:"nominal"`
	Min     []int    `json:"min"`
	Max     []int    `json:"max"`
	New     division `json:"new"`
	Later   division `json:"later"`
}

// A division of seats; FairProp with 32 bits of fraction.
type division struct {
	Current  []int  `json:"current"`
	FairProp uint64 `json:"fair_prop"`

	// Of the reference: what current was before it was rounded, what both
	// should be if what exempt holds is not divided again, how it came to
	// that, and how far off FairProp may be.
	parts []float64
	fair  *division
	kind  string
	slack float64
}

const (
	kindAny      = "divisions"
	kindMin      = "seats for MinCL or fewer"
	kindLeast    = "seats for MinCurrentCL or fewer"
	kindFree     = "fair, no bound matters"
	kindBound    = "fair, bounds matter"
	kindMost     = "fair, all get MaxCL"
	kindUnsolved = "more seats than MaxCL"

	kindHeld  = "what exempt holds is not divided a second time"
	kindTie   = "a half that float64 takes for less"
	kindTiny  = "targets below 0.001"
	kindMany  = "more than 64 levels"
	kindShare = "shares of 2^31"
)

// allocation compares limits, and how seats are divided.
//
// The seats are the same, except where the reference's float64 is within 1e-3 of
// a half: it adds and subtracts targets of very different sizes.
var allocation = &area[allocationCase, allocationAnswer]{
	name:    "allocation",
	draw:    drawAllocation,
	answer:  allocate,
	judge:   judgeAllocation,
	smaller: func(c allocationCase) iter.Seq[allocationCase] { return slices.Values(smallerAllocation(c)) },
	wanted: []string{kindMin, kindLeast, kindFree, kindBound, kindMost,
		kindUnsolved, kindHeld, kindTie, kindTiny, kindMany, kindShare},
	enough: 2000,
	shares: []share{{kindTie, kindAny, 0, 2}},
}

func drawAllocation(r *rand.Rand) allocationCase {
	c := allocationCase{Server: 1 + r.IntN(1<<(1+r.IntN(10)))}
	levels := 2 + r.IntN(7)
	switch r.IntN(40) {
	case 0:
		levels = 65 + r.IntN(32)
		if r.IntN(8) == 0 {
			levels = 256
		}
		fallthrough
	case 1:
		c.Server = 1 + r.IntN(65535)
	}
	shares := int32(1) << r.IntN(9)
	if levels < 9 && r.IntN(24) == 0 {
		shares = math.MaxInt32
	}
	tight := r.IntN(4) == 0 // little may be borrowed
	for i := range levels {
		share, borrowing := r.Int32N(shares), (*int32)(nil)
		if i == 1 || r.IntN(64) == 0 {
			share = shares
		}
		if tight || r.IntN(3) == 0 {
			percent := r.Int32N(200)
			if tight {
				percent = r.Int32N(4) * r.Int32N(8)
			}
			borrowing = &percent
		}
		c.Shares = append(c.Shares, share)
		c.Lendable = append(c.Lendable, r.Int32N(101))
		c.Borrowing = append(c.Borrowing, borrowing)
	}
	c.Borrowing[0] = nil
	if r.IntN(3) > 0 {
		c.Shares[0] = 0
	}
	if r.IntN(2) == 0 {
		c.Lendable[0] = 100
	}
	drawDemands(r, &c)
	return c
}

// drawDemands gives levels a demand that fits the server.
func drawDemands(r *rand.Rand, c *allocationCase) {
	levels := len(c.Shares)
	each := 1 + 2*c.Server/levels
	c.Watermark = make([]int, levels)
	c.Smoothed = make([]uint64, levels)
	for i := range levels {
		if r.IntN(4) > 0 {
			c.Watermark[i] = r.IntN(each)
		}
		smoothed := &c.Smoothed[i]
		switch r.IntN(8) {
		case 0:
			*smoothed = r.Uint64N(1 << 24)
		case 1:
			*smoothed = r.Uint64N(uint64(each) << 34)
		case 2, 3:
			*smoothed = uint64(r.IntN(each)) << 32
		default:
			*smoothed = r.Uint64N(uint64(c.Watermark[i])<<32 + 1)
		}
	}
	if r.IntN(2) == 0 {
		c.Watermark[0] = 0
	}
}

var reference *controller

func allocate(c allocationCase) allocationAnswer {
	var a allocationAnswer
	var initial []int

	if reference == nil {
		reference = newController()
	}
	levels := make([]*v1.PriorityLevelConfiguration, len(c.Shares))
	for i := range levels {
		levels[i] = newConfiguration(i, c.Shares[i], c.Lendable[i], c.Borrowing[i])
	}
	reference.configure(c.Server, levels)
	for i := range levels {
		name := levelNames[i]
		nominal := reference.integer(name, reference.nominal)
		least := reference.integer(name, reference.min)
		a.Nominal = append(a.Nominal, nominal)
		a.Min = append(a.Min, least)
		a.Max = append(a.Max, reference.integer(name, reference.max))
		initial = append(initial, nominal-(nominal-least)/2)
	}
	demand := c
	demand.Watermark = make([]int, len(levels))
	demand.Smoothed = make([]uint64, len(levels))
	a.New = a.divide(demand, initial)

	for i := range levels {
		reference.setDemand(levelNames[i], c.Watermark[i], real64(c.Smoothed[i]))
	}
	reference.borrow()
	a.Later = a.divide(c, a.New.Current)
	return a
}

// divide is how the reference has just divided the seats, and how it came to it.
func (a *allocationAnswer) divide(c allocationCase, before []int) division {
	d := division{Current: make([]int, len(before))}
	for i := range before {
		d.Current[i] = reference.integer(levelNames[i], reference.current)
	}

	asIs := a.explain(c, before, *reference.nominals)
	if !within(d.Current, asIs.Current, asIs.parts) {
		fatal("the reference divided %v, not %v", d.Current, asIs.Current)
	}
	d.FairProp, d.parts = asIs.FairProp, asIs.parts
	d.kind, d.slack = asIs.kind, asIs.slack
	if held := d.Current[0]; held > 0 {
		d.fair = a.explain(c, before, *reference.nominals-held)
	}
	return d
}

// explain divides as the reference does, but sum where there are seats for all,
// which it has the reference's own function do.
func (a *allocationAnswer) explain(c allocationCase, before []int, sum int) *division {
	held := max(a.Min[0], c.Watermark[0])
	remaining := *reference.nominals - held
	d := &division{Current: make([]int, len(before)),
		parts: []float64{float64(held)}}
	minSum, leastSum, maxSum := 0, 0, 0
	var items []allocProblemItem
	for i := 1; i < len(before); i++ {
		least := max(a.Min[i], min(a.Nominal[i], c.Watermark[i]))
		minSum += a.Min[i]
		leastSum += least
		maxSum += a.Max[i]
		items = append(items, allocProblemItem{
			max(float64(least), real64(c.Smoothed[i])),
			float64(least), float64(a.Max[i])})
	}

	switch {
	case remaining <= minSum:
		d.kind = kindMin
		for _, least := range a.Min[1:] {
			d.parts = append(d.parts, float64(least))
		}
	case remaining <= leastSum:
		d.kind = kindLeast
		for i, least := range a.Min[1:] {
			part := (items[i].lowerBound - float64(least)) *
				float64(remaining-minSum) / float64(leastSum-minSum)
			d.parts = append(d.parts, float64(least)+part)
		}
	default:
		parts, prop, err := computeConcurrencyAllocation(sum, items)
		if err != nil {
			d.kind = kindUnsolved
			for _, current := range before[1:] {
				d.parts = append(d.parts, float64(current))
			}
			break
		}
		d.kind, d.slack = fairKind(parts, items, sum == maxSum)
		d.parts = append(d.parts, parts...)
		d.FairProp = fixed(prop)
	}
	for i, part := range d.parts {
		d.Current[i] = int(math.Round(part))
	}
	return d
}

// fairKind says what a fair division is like, and how far off its FairProp may be.
//
// The reference subtracts from a sum of targets those of levels that have reached
// a bound; what is left of it is as wrong as the sum was.  Where all levels are at
// a bound a larger FairProp is as right.
func fairKind(parts []float64, items []allocProblemItem, most bool) (kind string, slack float64) {
	sum, left := 0.0, 0.0
	bound := false
	for i, part := range parts {
		target := max(items[i].target, 0.001)
		sum += target
		if math.Abs(part-items[i].lowerBound) < 1e-6 ||
			math.Abs(part-items[i].upperBound) < 1e-6 {
			bound = true
		} else {
			left += target
		}
	}
	switch {
	case most:
		kind = kindMost
	case bound:
		kind = kindBound
	default:
		kind = kindFree
	}
	return kind, 1e-9 + 1e-14*sum/left
}

// within says whether seats are parts, rounded.
func within(want, got []int, parts []float64) bool {
	for i, part := range parts {
		off := math.Abs(part - math.Floor(part) - 0.5)
		if want[i] != got[i] && (off > 1e-3 ||
			math.Abs(float64(got[i])-part) > 0.501) {
			return false
		}
	}
	return true
}

func judgeAllocation(c allocationCase, want, got allocationAnswer) string {
	if !reflect.DeepEqual(want.Nominal, got.Nominal) ||
		!reflect.DeepEqual(want.Min, got.Min) ||
		!reflect.DeepEqual(want.Max, got.Max) {
		return "the limits differ"
	}
	if why := want.New.judge(&got.New); why != "" {
		return "new levels: " + why
	}
	if why := want.Later.judge(&got.Later); why != "" {
		return "later: " + why
	}
	if len(c.Shares) > 64 {
		met[kindMany]++
	}
	if c.Shares[1] == math.MaxInt32 {
		met[kindShare]++
	}
	for i := range c.Shares {
		if i > 0 && c.Smoothed[i] < 1<<22 && c.Watermark[i] == 0 &&
			want.Min[i] == 0 {
			met[kindTiny]++
			break
		}
	}
	return ""
}

// judge says how got is wrong, or counts what explains it.
func (d *division) judge(got *division) string {
	if len(got.Current) != len(d.Current) {
		return "the number of levels differs"
	}
	held := false
	if d.fair != nil && !d.equals(got) {
		d = d.fair
		held = true
	}
	if !d.equals(got) {
		return fmt.Sprintf("CurrentCL or FairProp differ, kind %q, parts %v", d.kind, d.parts)
	}
	if held {
		met[kindHeld]++
	}
	if !reflect.DeepEqual(d.Current, got.Current) {
		met[kindTie]++
	}
	met[d.kind]++
	met[kindAny]++
	return ""
}

func (d *division) equals(got *division) bool {
	prop := float64(got.FairProp) - float64(d.FairProp)
	return within(d.Current, got.Current, d.parts) &&
		math.Abs(prop) <= 1+d.slack*float64(d.FairProp)
}

// smallerAllocation leaves out a level, or makes something of one smaller.
func smallerAllocation(c allocationCase) (list []allocationCase) {
	for i := range c.Shares {
		if i > 1 {
			list = append(list, c.change(func(s *allocationCase) {
				s.Shares = slices.Delete(s.Shares, i, i+1)
				s.Lendable = slices.Delete(s.Lendable, i, i+1)
				s.Borrowing = slices.Delete(s.Borrowing, i, i+1)
				s.Watermark = slices.Delete(s.Watermark, i, i+1)
				s.Smoothed = slices.Delete(s.Smoothed, i, i+1)
			}))
		}
		list = append(list,
			c.change(func(s *allocationCase) { s.Shares[i] /= 2 }),
			c.change(func(s *allocationCase) { s.Lendable[i] = 0 }),
			c.change(func(s *allocationCase) { s.Borrowing[i] = nil }),
			c.change(func(s *allocationCase) { s.Watermark[i] /= 2 }),
			c.change(func(s *allocationCase) { s.Smoothed[i] = 0 }),
			c.change(func(s *allocationCase) { s.Smoothed[i] &= 1<<63 - 1<<32 }))
	}
	list = append(list,
		c.change(func(s *allocationCase) { s.Server /= 2 }),
		c.change(func(s *allocationCase) { s.Server-- }))
	return slices.DeleteFunc(list, func(s allocationCase) bool {
		return reflect.DeepEqual(s, c) || s.Shares[1] == 0 || s.Server == 0
	})
}

// change makes a copy that is different.
func (c allocationCase) change(how func(*allocationCase)) allocationCase {
	c.Shares = slices.Clone(c.Shares)
	c.Lendable = slices.Clone(c.Lendable)
	c.Borrowing = slices.Clone(c.Borrowing)
	c.Watermark = slices.Clone(c.Watermark)
	c.Smoothed = slices.Clone(c.Smoothed)
	how(&c)
	return c
}
