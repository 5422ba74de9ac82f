// SPDX-License-Identifier: GPL-2.0

package main

import (
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	_ "unsafe" // for go:linkname

	_ "k8s.io/apiserver/pkg/util/flowcontrol"
)

//go:linkname hashFlowID k8s.io/apiserver/pkg/util/flowcontrol.hashFlowID
func hashFlowID(schema, distinguisher string) uint64

type flowCase struct {
	Schema        string `json:"schema"`
	Distinguisher string `json:"distinguisher"`
}

// flow compares the identities of flows.
var flow = &area[flowCase, uint64]{
	name: "flow",
	draw: func(r *rand.Rand) flowCase {
		c := flowCase{drawText(r, "abc-.09", 253), ""}
		switch r.IntN(4) {
		case 0:
			met["no distinguisher"]++
		case 1:
			c.Distinguisher = pick(r, namespaces...)
		case 2:
			c.Distinguisher = "system:serviceaccount:" +
				drawText(r, "abc", 63) + ":" + drawText(r, "abc", 63)
		case 3:
			c.Distinguisher = drawText(r, "aZ0:@/ \t\"\\ü€😀", 300)
		}
		if len(c.Schema)+len(c.Distinguisher) > 64 {
			met["more than a block of the hash"]++
		}
		if strings.ContainsAny(c.Distinguisher, "ü€😀") {
			met["a name beyond ASCII"]++
		}
		return c
	},
	answer: func(c flowCase) uint64 {
		return hashFlowID(c.Schema, c.Distinguisher)
	},
	smaller: func(c flowCase) iter.Seq[flowCase] {
		half := func(s string) string {
			runes := []rune(s)
			return string(runes[:len(runes)/2])
		}
		var list []flowCase
		if c.Schema != "" {
			list = append(list, flowCase{half(c.Schema), c.Distinguisher})
		}
		if c.Distinguisher != "" {
			list = append(list, flowCase{c.Schema, half(c.Distinguisher)})
		}
		return slices.Values(list)
	},
	wanted: []string{"no distinguisher", "a name beyond ASCII",
		"more than a block of the hash"},
}

// drawText makes a text of up to most of these letters, mostly a short one.
func drawText(r *rand.Rand, letters string, most int) string {
	from := []rune(letters)
	text := make([]rune, r.IntN(1+r.IntN(most)))
	for i := range text {
		text[i] = from[r.IntN(len(from))]
	}
	return string(text)
}
