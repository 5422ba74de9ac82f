# SPDX-License-Identifier: GPL-2.0
load "common.gp"
set title "Hand-off: from a FINISH, or a wake, until the waiter in another process runs"
set logscale x
set xlabel "ns"
set ylabel "part of the hand-offs that took no longer"
set yrange [0:1]
set key bottom right
plot data index 0 using 1:2 with lines lw 2 title "kapf", \
     data index 1 using 1:2 with lines lw 2 title "futex"
