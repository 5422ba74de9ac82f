# SPDX-License-Identifier: GPL-2.0
load "common.gp"
set datafile missing "?"
set style data histograms
set style histogram clustered gap 2
set style fill solid 0.8 border -1
set multiplot layout 1,2 title "A heavy flow beside light ones, by what grants the seats"
unset key
set xtics rotate by -25
set title "Jain's index of the flows (1: all have the same)"
set yrange [0:1.05]
plot data using 2:xtic(1) lc rgb "#4477aa"
unset label 1
set title "p99 of a light flow's latency (ms)"
set yrange [*:*]
set logscale y
plot data using 3:xtic(1) lc rgb "#cc6677"
unset multiplot
