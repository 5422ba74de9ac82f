# SPDX-License-Identifier: GPL-2.0
load "common.gp"
set title "What a request costs: admission and finish, by what grants the seats; one process"
set style data histograms
set style histogram clustered gap 2
set style fill solid 0.8 border -1
set logscale y
set ylabel "ns per request"
set datafile missing "?"
set key outside right
plot for [i=2:6] data using i:xtic(1) title columnheader(i)
