// SPDX-License-Identifier: GPL-2.0

package main

// stream is of userspace/bench/random.h, so that all peers are given the same.
type stream uint64

func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func newStream(seed, number uint64) *stream {
	s := stream(mix(seed + mix(number+1)))
	return &s
}

func (s *stream) next() uint64 {
	*s += 0x9e3779b97f4a7c15
	return mix(uint64(*s))
}

// fraction is in (0, 1].
func (s *stream) fraction() float64 {
	return float64(s.next()>>11+1) / (1 << 53)
}
