// SPDX-License-Identifier: GPL-2.0

package main

import (
	"iter"
	"math"
	"math/rand/v2"
	"slices"

	"k8s.io/apiserver/pkg/util/shufflesharding"
)

type dealerCase struct {
	Hash uint64 `json:"hash"`
	Deck int    `json:"deck"`
	Hand int    `json:"hand"`
}

// dealer compares hands, in the order dealt.
var dealer = &area[dealerCase, []int]{
	name: "dealer",
	draw: func(r *rand.Rand) dealerCase {
		c := dealerCase{Hash: r.Uint64() >> r.IntN(64)}
		switch r.IntN(4) {
		case 0:
			c.Deck = 1 + r.IntN(16)
		case 1:
			c.Deck = 1 << r.IntN(11)
		case 2:
			c.Deck = 1 + r.IntN(1024)
		case 3:
			c.Deck = 1 + r.IntN(1<<r.IntN(27))
		}
		largest := largestHand(c.Deck)
		c.Hand = 1 + r.IntN(largest)
		if r.IntN(4) == 0 {
			c.Hand = largest
		}
		switch {
		case c.Hand == c.Deck:
			met["the whole deck"]++
		case c.Hand == largest:
			met["the largest hand"]++
		}
		if c.Deck >= 1<<20 {
			met["a deck of a million"]++
		}
		return c
	},
	answer: func(c dealerCase) []int {
		d, err := shufflesharding.NewDealer(c.Deck, c.Hand)
		if err != nil {
			fatal("%v", err)
		}
		return d.DealIntoHand(c.Hash, make([]int, c.Hand))
	},
	smaller: func(c dealerCase) iter.Seq[dealerCase] {
		var list []dealerCase
		if c.Hash > 0 {
			list = append(list, dealerCase{c.Hash / 2, c.Deck, c.Hand})
		}
		if c.Hand > 1 {
			list = append(list, dealerCase{c.Hash, c.Deck, c.Hand - 1})
		}
		if c.Deck > c.Hand {
			list = append(list, dealerCase{c.Hash, c.Deck - 1, c.Hand},
				dealerCase{c.Hash, max(c.Deck/2, c.Hand), c.Hand})
		}
		return slices.Values(list)
	},
	wanted: []string{"the whole deck", "the largest hand",
		"a deck of a million"},
}

// largestHand is of the 15 at most that kapf deals.
func largestHand(deck int) int {
	hand := 15
	for hand > deck || math.Ceil(math.Log2(float64(deck))*float64(hand)) > 60 {
		hand--
	}
	return hand
}
